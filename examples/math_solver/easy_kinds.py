"""Arithmetic, fractions, percent, ratios, rates, sequences, areas: levels 1 to 3."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from random import Random

from problem_kinds import NAMES, THINGS, Drawn, Kind, fraction


def _total(draw: Random) -> Drawn:
    name, a, b, c = draw.choice(NAMES), *draw.sample(range(12, 90), 3)
    thing = draw.choice(THINGS)
    return draw.choice(
        (
            f"{name} keeps {thing} in three boxes holding {a}, {b} and {c}. How many {thing} are there altogether?",
            f"On Monday {name} collects {a} {thing}, on Tuesday {b} and on Wednesday {c}. How many is that in all?",
        )
    ), str(a + b + c)


def _leftover(draw: Random) -> Drawn:
    (name, friend), a, b, c = draw.sample(NAMES, 2), draw.randint(60, 120), draw.randint(10, 50), draw.randint(5, 40)
    thing = draw.choice(THINGS)
    return draw.choice(
        (
            f"{name} has {a} {thing}, gives {b} of them to {friend} and then finds {c} more. How many now?",
            f"A jar holds {a} {thing}. {name} takes out {b}, and {friend} puts in {c}. How many are in it now?",
        )
    ), str(a - b + c)


def _groups(draw: Random) -> Drawn:
    name, a, b, c = draw.choice(NAMES), draw.randint(4, 12), draw.randint(6, 15), draw.randint(3, 20)
    thing = draw.choice(THINGS)
    return draw.choice(
        (
            f"{name} packs {a} bags with {b} {thing} each and has {c} left. How many {thing} were there at first?",
            f"There are {a} rows of {b} {thing} on a table and {c} on the floor. How many {thing} does {name} count?",
        )
    ), str(a * b + c)


def _sharing(draw: Random) -> Drawn:
    name, friends, each, kept = draw.choice(NAMES), draw.randint(3, 9), draw.randint(6, 18), draw.randint(4, 15)
    total, thing = friends * each + kept, draw.choice(THINGS)
    return draw.choice(
        (
            (
                f"{name} has {total} {thing}, keeps {kept} and shares the rest equally among {friends} friends. "
                "How many does each friend get?"
            ),
            (
                f"Of {total} {thing}, {kept} are broken. The others are divided evenly between {friends} children. "
                f"How many {thing} does each child receive?"
            ),
        )
    ), str(each)


def _change(draw: Random) -> Drawn:
    name, count, price = draw.choice(NAMES), draw.randint(3, 7), draw.randint(4, 13)
    note = 50 if count * price < 50 else 100
    return draw.choice(
        (
            f"{name} buys {count} tickets at ${price} each and pays with ${note}. How many dollars of change are due?",
            (
                f"A shop sells mugs. {name} takes {count} mugs for ${price} apiece and hands over ${note}. "
                "What is the change in dollars?"
            ),
        )
    ), str(note - count * price)


def _part_of(draw: Random) -> Drawn:
    below = draw.choice((3, 4, 5, 6, 8))
    above = draw.choice([number for number in range(1, below) if gcd(number, below) == 1])
    whole = below * draw.randint(4, 12)
    name, thing = draw.choice(NAMES), draw.choice(THINGS)
    return draw.choice(
        (
            rf"{name} owns {whole} {thing}, and $\frac{{{above}}}{{{below}}}$ of them are blue. How many are not blue?",
            rf"A box holds {whole} {thing}. {name} sells $\frac{{{above}}}{{{below}}}$ of them. How many are left?",
        )
    ), str(whole - whole * above // below)


def _discount(draw: Random) -> Drawn:
    name, price, cut = draw.choice(NAMES), 20 * draw.randint(2, 15), 5 * draw.randint(1, 9)
    return draw.choice(
        (
            rf"A coat costs ${price} and is sold at {cut}% off. How many dollars does {name} pay for it?",
            rf"{name}'s bill of ${price} is cut by {cut}%. What is the new bill in dollars?",
        )
    ), str(Fraction(price * (100 - cut), 100))


def _ratio(draw: Random) -> Drawn:
    (one, two), a = draw.sample(NAMES, 2), draw.randint(2, 5)
    b, unit = a + draw.randint(1, 4), draw.randint(6, 20)
    return draw.choice(
        (
            f"{one} and {two} share ${unit * (a + b)} in the ratio {a}:{b}. How many dollars is the larger share?",
            (
                f"A cord of {unit * (a + b)} cm is cut by {one} into two pieces in the ratio {a}:{b}. "
                "How many centimetres long is the longer piece?"
            ),
        )
    ), str(unit * b)


def _journey(draw: Random) -> Drawn:
    name, hours, speed, more, faster = draw.choice(NAMES), draw.randint(2, 4), draw.randint(8, 15), 2, 6
    return draw.choice(
        (
            (
                f"{name} cycles {hours} hours at {speed} km/h, then {more} hours at {speed + faster} km/h. "
                "How many kilometres is the trip?"
            ),
            (
                f"A boat sails for {hours} hours at {speed} km/h and for {more} hours at {speed + faster} km/h. "
                f"How far, in kilometres, does {name} travel on it?"
            ),
        )
    ), str(hours * speed + more * (speed + faster))


def _sequence(draw: Random) -> Drawn:
    first, step, place = draw.randint(-9, 20), draw.randint(3, 11), draw.randint(15, 60)
    shown = ", ".join(str(first + step * index) for index in range(4))
    return draw.choice(
        (
            f"The sequence ${shown}, \\ldots$ grows by the same amount each time. What is its term number {place}?",
            f"In the arithmetic sequence ${shown}, \\ldots$, find the term in position {place}.",
        )
    ), str(first + step * (place - 1))


def _fraction_sum(draw: Random) -> Drawn:
    b, d = draw.sample((3, 4, 5, 6, 7, 8, 9, 10, 12), 2)
    a, c = (draw.choice([number for number in range(1, below) if gcd(number, below) == 1]) for below in (b, d))
    sign = draw.choice((1, -1))
    value = Fraction(a, b) + sign * Fraction(c, d)
    return draw.choice(
        (
            rf"Compute $\frac{{{a}}}{{{b}}} {'+' if sign > 0 else '-'} \frac{{{c}}}{{{d}}}$ in lowest terms.",
            rf"What is $\frac{{{a}}}{{{b}}} {'+' if sign > 0 else '-'} \frac{{{c}}}{{{d}}}$? Simplify.",
        )
    ), fraction(value)


def _rectangle(draw: Random) -> Drawn:
    name, width, longer = draw.choice(NAMES), draw.randint(5, 20), draw.randint(2, 12)
    around = 2 * (2 * width + longer)
    return draw.choice(
        (
            f"A rectangle of perimeter {around} cm is {longer} cm longer than wide. What is its area in square cm?",
            (
                f"{name} fences a rectangular bed with {around} m of wire. Its length exceeds its width by {longer} m. "
                "Find its area in square metres."
            ),
        )
    ), str(width * (width + longer))


KINDS = (
    Kind("total", 1, "arithmetic", _total),
    Kind("leftover", 1, "arithmetic", _leftover),
    Kind("groups", 1, "arithmetic", _groups),
    Kind("sharing", 1, "arithmetic", _sharing),
    Kind("change", 1, "arithmetic", _change),
    Kind("part-of", 1, "fractions", _part_of),
    Kind("discount", 2, "percent", _discount),
    Kind("ratio", 2, "ratios", _ratio),
    Kind("journey", 2, "rates", _journey),
    Kind("sequence", 2, "sequences", _sequence),
    Kind("fraction-sum", 2, "fractions", _fraction_sum),
    Kind("rectangle", 3, "geometry", _rectangle),
)

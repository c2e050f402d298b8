"""Equations, congruences, counting, chance and geometry: levels 3 to 5."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

from problem_kinds import NAMES, Drawn, Kind, fraction, signed


def _linear(draw: Random) -> Drawn:
    left, right = draw.sample(range(2, 13), 2)
    b, d = draw.randint(1, 30), draw.randint(31, 60)
    return draw.choice(
        (
            f"Solve ${left}x + {b} = {right}x + {d}$ for $x$.",
            f"For which $x$ is ${left}x + {b} = {right}x + {d}$?",
        )
    ), fraction(Fraction(d - b, left - right))


def _tickets(draw: Random) -> Drawn:
    adults, children, dear, cheap = draw.randint(12, 60), draw.randint(12, 60), draw.randint(9, 15), draw.randint(3, 8)
    people, money = adults + children, adults * dear + children * cheap
    name = draw.choice(NAMES)
    return draw.choice(
        (
            f"{name} sells {people} tickets for ${money}: ${dear} an adult, ${cheap} a child. How many adults came?",
            (
                f"A hall takes in {people} visitors and ${money}. Adult seats cost ${dear}, child seats ${cheap}. "
                "How many adult seats were sold?"
            ),
        )
    ), str(adults)


def _remainder(draw: Random) -> Drawn:
    modulus, exponent = draw.choice((5, 7, 9, 11, 13)), draw.randint(20, 90)
    base = draw.choice([number for number in range(2, 13) if math.gcd(number, modulus) == 1])
    return draw.choice(
        (
            f"What is the remainder when ${base}^{{{exponent}}}$ is divided by {modulus}?",
            f"Find the remainder of ${base}^{{{exponent}}}$ on division by {modulus}.",
        )
    ), str(pow(base, exponent, modulus))


def _together(draw: Random) -> Drawn:
    (one, two), (a, b) = draw.sample(NAMES, 2), draw.sample(range(3, 13), 2)
    return draw.choice(
        (
            f"{one} paints a fence in {a} hours, {two} in {b} hours. How many hours do both need together?",
            (
                f"One pipe fills a tank in {a} hours, another in {b} hours. Both are open. "
                "After how many hours is the tank full? Give a fraction in lowest terms."
            ),
        )
    ), fraction(Fraction(a * b, a + b))


def _average(draw: Random) -> Drawn:
    name, scores, last = draw.choice(NAMES), [draw.randint(60, 95) for _ in range(4)], draw.randint(70, 99)
    total = sum(scores) + last
    mean = fraction(Fraction(total, 5))
    shown = ", ".join(map(str, scores[:-1])) + f" and {scores[-1]}"
    return draw.choice(
        (
            f"{name} scores {shown} in four tests. Which fifth score makes the average ${mean}$?",
            (
                f"Four parcels weigh {shown} grams. With a fifth one the mean weight is ${mean}$ grams. "
                "How many grams does the fifth weigh?"
            ),
        )
    ), str(last)


def _quadratic(draw: Random) -> Drawn:
    one, two = draw.sample([number for number in range(-12, 13) if number], 2)
    equation = f"x^2{signed(-one - two, 'x')}{signed(one * two)} = 0"
    return draw.choice(
        (
            f"Find both solutions of ${equation}$, separated by a comma.",
            f"Solve ${equation}$ and give the two values of $x$.",
        )
    ), f"{min(one, two)}, {max(one, two)}"


def _factor(draw: Random) -> Drawn:
    lead, two = draw.randint(2, 4), draw.choice([number for number in range(-9, 10) if number])
    one = draw.choice([number for number in range(-9, 10) if math.gcd(number, lead) == 1])
    polynomial = f"{lead}x^2{signed(lead * two + one, 'x')}{signed(one * two)}"
    return draw.choice(
        (
            f"Factor ${polynomial}$ as $(ax + b)(x + c)$ with integers $a$, $b$ and $c$. What is $a + b + c$?",
            f"The polynomial ${polynomial}$ equals $(ax + b)(x + c)$ for integers $a$, $b$, $c$. Find $a + b + c$.",
        )
    ), str(lead + one + two)


def _committee(draw: Random) -> Drawn:
    men, women, a, b = draw.randint(5, 8), draw.randint(5, 8), draw.randint(2, 3), draw.randint(2, 3)
    return draw.choice(
        (
            f"From {men} cooks and {women} waiters, {a} cooks and {b} waiters are chosen. In how many ways?",
            f"A choir has {men} basses and {women} altos. How many groups of {a} basses and {b} altos can be formed?",
        )
    ), str(math.comb(men, a) * math.comb(women, b))


def _balls(draw: Random) -> Drawn:
    red, green = draw.randint(3, 8), draw.randint(3, 8)
    same = Fraction(math.comb(red, 2) + math.comb(green, 2), math.comb(red + green, 2))
    return draw.choice(
        (
            (
                f"A bag holds {red} red and {green} green balls. Two are drawn without putting one back. "
                "What is the probability that both have the same colour?"
            ),
            (
                f"{draw.choice(NAMES)} draws two socks at random from a drawer with {red} grey and {green} black ones. "
                "How likely is a matching pair? Answer with a fraction."
            ),
        )
    ), fraction(same)


def _triangle(draw: Random) -> Drawn:
    a, b, c = draw.choice(((3, 4, 5), (5, 12, 13), (8, 15, 17), (7, 24, 25)))
    scale = draw.randint(2, 6)
    return draw.choice(
        (
            f"A right triangle has a leg of {scale * a} and a hypotenuse of {scale * c}. What is its area?",
            f"One leg of a right triangle measures {scale * a}, the longest side {scale * c}. Find its area.",
        )
    ), str(scale * scale * a * b // 2)


def _ring(draw: Random) -> Drawn:
    inner = draw.randint(2, 9)
    outer = inner + draw.randint(1, 6)
    return draw.choice(
        (
            rf"Two circles with one centre have radii {inner} and {outer}. Find the area between, in terms of $\pi$.",
            (
                rf"A round pond of radius {inner} m lies in the middle of a round lawn of radius {outer} m. "
                r"How many square metres of grass are there, in terms of $\pi$?"
            ),
        )
    ), rf"{outer**2 - inner**2}\pi"


def _root_squares(draw: Random) -> Drawn:
    total, product = draw.randint(5, 15), draw.randint(2, 6)
    return draw.choice(
        (
            f"Let $r$ and $s$ be the solutions of $x^2 - {total}x + {product} = 0$. Find $r^2 + s^2$.",
            f"What is the sum of the squares of the solutions of $x^2 - {total}x + {product} = 0$?",
        )
    ), str(total**2 - 2 * product)


def _congruences(draw: Random) -> Drawn:
    name, (m, n) = draw.choice(NAMES), draw.sample((5, 7, 8, 9, 11, 13), 2)
    number = draw.choice([value for value in range(max(m, n) + 1, m * n) if value % m > 1 and value % n > 1])
    return draw.choice(
        (
            (
                f"A positive integer leaves remainder {number % m} modulo {m} and {number % n} modulo {n}. "
                "What is the smallest such integer?"
            ),
            (
                f"{name} packs eggs: {number % m} are left over in boxes of {m}, and {number % n} in boxes of {n}. "
                "What is the least possible number of eggs?"
            ),
        )
    ), str(number)


def _growth(draw: Random) -> Drawn:
    start, up, down = 1000 * draw.randint(2, 9), 10 * draw.randint(1, 5), 10 * draw.randint(1, 5)
    value = Fraction(start * (100 + up) * (100 - down), 10_000)
    return draw.choice(
        (
            rf"A town of {start} people grows by {up}% and then shrinks by {down}%. How many live there now?",
            (
                rf"{draw.choice(NAMES)}'s shares are worth ${start}. They rise by {up}% and then fall by {down}%. "
                "What are they worth now, in dollars?"
            ),
        )
    ), str(value)


KINDS = (
    Kind("linear", 3, "algebra", _linear),
    Kind("tickets", 3, "algebra", _tickets),
    Kind("remainder", 3, "number theory", _remainder),
    Kind("together", 3, "rates", _together),
    Kind("average", 3, "algebra", _average),
    Kind("quadratic", 4, "algebra", _quadratic),
    Kind("factor", 4, "algebra", _factor),
    Kind("committee", 4, "counting", _committee),
    Kind("balls", 4, "probability", _balls),
    Kind("triangle", 4, "geometry", _triangle),
    Kind("ring", 4, "geometry", _ring),
    Kind("root-squares", 5, "algebra", _root_squares),
    Kind("congruences", 5, "number theory", _congruences),
    Kind("growth", 5, "percent", _growth),
)

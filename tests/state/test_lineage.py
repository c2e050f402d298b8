"""What two lines of attempts of one thread are to each other, told by when their runs began and ended."""

from datetime import UTC, datetime

import pytest

from reasoningbank_langgraph.state.channels import OfLastRun
from reasoningbank_langgraph.state.lineage import LENGTH, Line, Lines, micros, next_line

AT = datetime(2026, 1, 1, 12, 0, 0, 7, tzinfo=UTC)
LATER = 10_000_000
"""Microseconds, beyond what a checkpoint may be late."""


def row(*stages, origin="t", after="", **more):
    return {"provenance": Line(stages, origin, after).record(), **more}


def relation(mine, other, **rows):
    return Lines(mine, [("other", other), *rows.items()]).relation(other)


def test_a_line_is_told_as_data_and_read_again():
    line = Line((("a", 1, 2), ("b", 3, None)), "a", "row")
    assert line.record() == {"line": [["a", 1, 2], ["b", 3, None]], "origin": "a", "after": "row"}
    assert Line.of(line.record()) == line
    assert Line.of({}) == Line.of({"line": None, "origin": None}) == Line((), "", None)


def test_a_line_ends_with_its_last_attempt():
    line = Line((("a", 1, "left"), ("b", 3, 4), ("c", 5, None)), "a", "")
    assert line.ended(AT) == Line((("a", 1, "left"), ("b", 3, 4), ("c", 5, micros(AT))), "a", "")
    assert Line().ended(AT) == Line()


def test_a_line_counts_microseconds():
    assert micros(datetime(1970, 1, 1, 0, 0, 1, 7, tzinfo=UTC)) == 1_000_007


def test_the_first_attempt_of_a_thread_is_its_origin_unless_something_was_written_before():
    first = next_line({}, AT)
    ((name, began, end),) = first.stages
    assert (began, end, first.origin, first.after) == (micros(AT), None, name, "")
    assert next_line({}, AT).origin != name
    later = next_line({"written": ["row 1", "row 2"]}, AT)
    assert (len(later.stages), later.origin, later.after) == (1, "", "row 2")


def test_the_next_attempt_says_how_its_line_left_the_one_before():
    before = Line((("a", 1, 2), ("b", 3, None)), "a", "row")
    line = next_line({"attempt": {**before.record(), "over": 9}, "written": ["x"]}, AT)
    assert line.stages[:2] == (("a", 1, 2), ("b", 3, 9))
    assert line.stages[2][1:] == (micros(AT), None)
    assert (line.origin, line.after) == ("a", "row")


@pytest.mark.parametrize(("loaded", "began"), [(None, 0), (-5, -5), (5, 0)])
def test_an_attempt_began_at_the_latest_when_its_state_was_loaded(loaded, began):
    before = {**Line((("a", 1, None),), "a", "").record(), "over": 2}
    line = next_line({"attempt": before | ({"loaded": micros(AT) + loaded} if loaded else {})}, AT)
    assert line.stages[-1][1] == micros(AT) + began


@pytest.mark.parametrize(("rewritten", "read"), [(None, -1_000_000), (-2_000_000, -1_000_000), (-7, -7)])
def test_the_newest_checkpoint_was_read_up_to_a_second_before_but_not_before_it_was_made(rewritten, read):
    before = {**Line((("a", 1, None),), "a", "").record(), "over": 2}
    made = {"rewritten": rewritten and micros(AT) + rewritten}
    line = next_line({"attempt": {**before, "loaded": micros(AT), **made}}, AT, newest=True)
    assert line.stages[-1][1] == micros(AT) + read


def test_an_attempt_that_a_run_found_and_left_there_says_when_to_the_runs_after_it():
    before = {**Line((("a", 1, None),), "a", "").record()}
    channel = OfLastRun(dict)
    channel.update([before])
    channel.finish()
    found = channel.from_checkpoint(channel.checkpoint())
    assert (found.get()["over"], found.get()["rewritten"]) == (channel.ended, None)
    assert found.finish()
    assert found.get()["rewritten"] is None  # it is for later runs, not for what is still to come in this one
    later = found.from_checkpoint(found.copy().checkpoint())
    assert later.get()["over"] == channel.ended < later.get()["rewritten"] <= later.get()["loaded"]
    later.update([before])
    assert later.checkpoint() == before


def test_what_an_attempt_that_was_broken_off_had_done_tells_it_from_what_it_did_later():
    attempt = {**Line((("a", 1, None),), "a", "").record(), "over": None}
    states = [
        ({}, None, []),
        ({}, "4", []),
        ({}, None, ["said"]),
        ({"verdict": {"status": "success"}}, None, []),
        ({"extraction": {"reason": "empty"}}, None, []),
        ({"lessons": [{"id": "x"}]}, None, []),
        ({"lessons": [{"id": "y"}]}, None, []),
    ]
    left = [next_line({"attempt": attempt, **more}, AT, answer, said).stages[0][2] for more, answer, said in states]
    assert len(set(left)) == len(states)
    assert [end.startswith("made ") for end in left] == [False] * 5 + [True] * 2
    again = [next_line({"attempt": attempt, **more}, AT, answer, said).stages[0][2] for more, answer, said in states]
    assert again == left
    assert isinstance(next_line({"attempt": attempt}, AT, "\ud800").stages[0][2], str)


@pytest.mark.parametrize(("length", "after"), [(LENGTH - 1, "row"), (LENGTH, None)])
def test_of_a_long_line_the_last_attempts_are_kept(length, after):
    before = Line(tuple((str(place), place, place) for place in range(length)), "0", "row")
    line = next_line({"attempt": {**before.record(), "over": length - 1}}, AT)
    assert len(line.stages) == LENGTH
    assert line.stages[-2][0] == str(length - 1)
    assert (line.origin, line.after) == ("0", after)


MINE = Line((("t", 0, 100), ("m", 200, None)), "t", "")
LONG = Line((("t", 0, 100), ("m0", 200, 300), ("m1", 400, None)), "t", "")
HALF = Line((("t", 0, "half"), ("m", 200, None)), "t", "")
MADE = Line((("t", 0, "made it"), ("m", 200, None)), "t", "")
OPEN = Line((("t", 0, None), ("m", LATER, None)), "t", "")


@pytest.mark.parametrize(
    ("mine", "stages", "said"),
    [
        (MINE, [("t", 0, 100), ("a", 150, 200)], "other"),
        (MINE, [("t", 0, 100), ("a", 150, 201)], "beside"),
        (MINE, [("t", 0, 100), ("a", 150, 180), ("b", 500, 600)], "other"),
        (MINE, [("t", 0, 100), ("a", 150, "half"), ("b", 190, 600)], "beside"),
        (MINE, [("t", 0, 100), ("a", 150, "half"), ("b", 160, 180)], "other"),
        (LONG, [("t", 0, 100), ("a", 300, 900)], "other"),
        (LONG, [("t", 0, 100), ("a", 299, 900)], "beside"),
        (LONG, [("t", 0, 100), ("a", 299, 900), ("b", 950, 990)], "beside"),
        (MINE, [("t", 0, 101), ("a", 150, 900)], "other"),
        (HALF, [("t", 0, "half"), ("a", 150, 200)], "other"),
        (HALF, [("t", 0, "half"), ("a", 150, 201)], "beside"),
        (HALF, [("t", 0, "other"), ("a", 150, 160)], "unknown"),
        (HALF, [("t", 0, None), ("a", 150, 160)], "unknown"),
        (OPEN, [("t", 0, LATER - 1_000_000), ("a", 9, 10)], "other"),
        (OPEN, [("t", 0, LATER - 999_999), ("a", 9, 10)], "beside"),
        (MADE, [("t", 0, 100 - LATER), ("a", 150, 160)], "beside"),
        (MINE, [("t", 0, "half"), ("a", 1_000_100, 2_000_000)], "other"),
        (MINE, [("t", 0, "half"), ("a", 1_000_099, 2_000_000)], "beside"),
        (MINE, [("t", 0, "made it"), ("a", LATER, LATER)], "beside"),
        (MINE, [("t", 0, 100), ("m", 200, 250), ("a", 300, 400)], "beside"),
        (MINE, [("t", 0, 100), ("m", 200, 250)], "beside"),
    ],
)
def test_a_line_that_parted_from_mine_is_another_branch_where_one_side_was_over_before_the_other_began(
    mine, stages, said
):
    assert relation(mine, row(*stages)) == said


@pytest.mark.parametrize(
    ("mine", "since", "said"),
    [
        (MINE, 100, "other"),
        (MINE, None, "other"),
        (HALF, 200, "other"),
        (HALF, 201, "beside"),
        (HALF, None, "beside"),
        (MADE, 150, "beside"),
    ],
)
def test_a_lesson_of_an_attempt_that_my_line_left_is_of_another_branch_if_it_was_there_by_then(mine, since, said):
    assert relation(mine, row(("t", 0, 90), since=since)) == said
    assert relation(mine, row(("before", -9, -8), ("t", 0, 90), since=since)) == said


@pytest.mark.parametrize(
    ("mine", "other"),
    [
        (MINE, row(origin="t")),
        (Line((), "t", ""), row(("a", 1, 2))),
        (MINE, row(("t", 0, 100), ("a", 150, 180), origin="u")),
        (MINE, row(("a", 150, 180))),
    ],
)
def test_lines_that_never_met_are_unknown_to_each_other(mine, other):
    assert relation(mine, other) == "unknown"


@pytest.mark.parametrize("origins", [("", "t"), ("t", ""), ("", "")])
def test_where_an_origin_is_not_known_the_attempts_tell(origins):
    mine = MINE._replace(origin=origins[0])
    assert relation(mine, row(("t", 0, 100), ("a", 150, 180), origin=origins[1])) == "other"


@pytest.mark.parametrize("after", [None, "gone"])
def test_a_line_whose_beginning_is_not_there_may_be_told_by_more_rows(after):
    other = row(("a", 150, 180), after=after)
    assert relation(MINE, other) == "unresolved"
    assert relation(MINE._replace(stages=MINE.stages[1:], after=after), row(("a", 150, 180))) == "unresolved"


def test_a_line_goes_on_where_that_of_the_lesson_before_it_ends():
    other = row(("a", 150, 180), after="trunk")
    assert relation(MINE, other, trunk=row(("t", 0, 100))) == "other"
    assert relation(MINE, other, trunk=row(("t", 0, 100), ("m", 200, 300))) == "beside"
    assert relation(MINE, other, trunk=row()) == "unresolved"
    mine = Line((("m", 200, None),), "t", "trunk")
    assert relation(mine, row(("t", 0, 100), ("a", 150, 180)), trunk=row(("t", 0, 100))) == "other"


def test_lines_that_run_in_a_circle_come_to_an_end():
    one, two = row(("a", 150, 180), after="two"), row(("b", 160, 190), after="other")
    assert relation(MINE, one, two=two) == "unknown"

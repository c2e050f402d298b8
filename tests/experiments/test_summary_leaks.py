"""The summary names every leak: answers in lessons, lessons of the very problem, near copies."""

import pytest

from reasoningbank_langgraph.experiments.summarise import summarise
from reasoningbank_langgraph.experiments.summary import NearDuplicate
from reasoningbank_langgraph.text import render_memories

from .fake_rows import LESSON, config, needs_extra, only, row, stream_rows, two_arms

pytestmark = needs_extra


def memory(content):
    return render_memories([LESSON.model_copy(update={"content": content})])


@pytest.mark.parametrize(
    ("content", "gold", "counted"),
    [
        ("The answer is 3.", "3", 1),
        ("Add 13 and 30 first, then 0.3 of it.", "3", 0),
        (r"So it is \frac{1}{2} in the end.", r"\frac{1}{2}", 1),
        ("Nothing here.", "", 0),
    ],
)
def test_an_item_that_states_the_answer_is_counted(content, gold, counted):
    given = [row("memory", "p0", memory=memory(content), reference=gold), row("baseline", "p0")]
    leaks = summarise(given, config()).leaks
    assert (leaks.gold_items, len(leaks.with_gold), leaks.items) == (counted, counted, 1)
    assert leaks.flagged == (("p0",) if counted else ())


def test_what_short_answers_meet_by_chance_is_said():
    lists = memory("Take 1 of 2, then 3 of 4, then 5 of 6, then 7 of 8.")
    given = [row("memory", f"p{n}", reference=str(n % 8 + 1), memory=lists) for n in range(40)]
    leaks = summarise(given, config()).leaks
    assert leaks.gold_items == 40
    assert leaks.gold_by_chance == pytest.approx(40)
    far = [row("memory", f"p{n}", reference=str(1000 + n), memory=lists) for n in range(40)]
    assert summarise(far, config()).leaks.gold_by_chance == 0


def test_a_lesson_from_the_very_problem_is_found_by_id_and_by_text():
    learned = row("learning", "t1", problem="How  MANY rolls?", memory="", shown=())
    given = [
        learned,
        row("memory", "p0", sources=("p0",)),
        row("memory", "p1", sources=("t1",), problem="how many rolls?"),
        row("memory", "p2", sources=("t1",)),
    ]
    leaks = summarise(given, config(arms=("memory",))).leaks
    assert [leak.id for leak in leaks.self_retrieved] == ["p0", "p1"]


def test_near_duplicates_and_drops_are_reported_and_only_what_was_shown_is_flagged():
    pairs = [
        NearDuplicate(train_id="t1", test_id=test, text_similarity=0.95, embedding_similarity=0.9)
        for test in ("p1", "not in this run")
    ]
    given = [*two_arms(2, 2, 10), row("memory", "p20", dropped=("m1", "m2")), row("baseline", "p20")]
    found = summarise(given, config(), pairs)
    assert [pair.test_id for pair in found.leaks.near_duplicates] == ["p1"]
    assert (found.leaks.near_rows, found.leaks.learning_rows) == (1, 15)
    assert (found.leaks.dropped, found.leaks.dropped_rows, found.leaks.flagged) == (2, 1, ("p1",))
    assert only(found).unflagged_problems == only(found).problems - 1
    assert only(found).unflagged.value < only(found).difference.value


def test_a_frozen_bank_was_learned_before_every_row_whatever_its_tasks_are_called():
    given = [row("memory", f"p{n}", position=n, bank_digest="d") for n in range(3)]
    pairs = [
        NearDuplicate(train_id=train, test_id=test, text_similarity=0.95, embedding_similarity=0.9)
        for train, test in (("p2", "p0"), ("p1", "p1"))
    ]
    leaks = summarise(given, config(arms=("memory",)), pairs).leaks
    assert (leaks.near_rows, leaks.flagged) == (2, ("p0", "p1"))


def test_in_a_stream_a_near_copy_counts_for_the_one_that_was_solved_later_with_a_bank():
    given = stream_rows({"baseline": 0.5, "memory": 0.6}, problems=10, seeds=(0, 1))
    place = {(found.seed, found.id): found.position for found in given}
    pair = NearDuplicate(train_id="p1", test_id="p2", text_similarity=0.95, embedding_similarity=0.9)
    found = summarise(given, config(protocol="stream", train=None, seeds=(0, 1)), [pair])
    later = {max(("p1", "p2"), key=lambda name: place[seed, name]) for seed in (0, 1)}
    assert (found.leaks.near_rows, found.leaks.learning_rows) == (2, 20)
    assert found.leaks.near_duplicates == (pair,)
    assert found.leaks.flagged == tuple(sorted(later))
    (note,) = [note for note in found.notes if "near copy" in note]
    assert note.startswith("2 of 20 rows (10 %) had a near copy")
    assert "0.9" in note
    assert "0.95" in note

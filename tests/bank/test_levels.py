"""Where nothing is similar, lessons that three tasks have led to come first, if the caller asks for levels."""

import pytest

from reasoningbank_langgraph import MemoryBank, Policy
from reasoningbank_langgraph.namespaces import LEFT_OUT, beside
from reasoningbank_langgraph.records import Provenance, utc_now
from tests.bank.test_bank import STORES, ids, lesson
from tests.loop_fakes import indexed_memory, open_store

NAMESPACE = ("m",)
LINK = Policy(similarity=0.8)
ASKED = "red green blue grey"
TASKS = ("cold winter night", "warm summer day", "long autumn rain", "first spring flower")
SAME = {"title": "check the units", "description": "when units differ", "content": "convert first"}


def attempt(number, thread=None, **changes):
    """One attempt that led to the same lesson, on a task of its own."""
    source = Provenance(thread_id=thread, attempt_digest=f"digest {number}")
    return lesson(f"g{number}", **{"task": TASKS[number % 4], **SAME, "provenance": source, **changes})


def filled(store, policy, count=3, **changes):
    """A bank with a lesson that is nearer, and one that as many attempts led to."""
    bank = MemoryBank(store, NAMESPACE)
    bank.add([lesson("near", "red green apples pears plums")], policy=policy)
    for number in range(count):
        bank.add([attempt(number, **changes)], policy=policy)
    return bank


def near_copies(store, count=3):
    bank = filled(store, LINK, 1)
    for number in range(1, count):
        bank.add([attempt(number, content=f"convert at first {number}")], policy=LINK)
    return bank


def merged(store):
    bank = filled(store, "append")
    bank.merge(["g0", "g1", "g2"])
    return bank


BANKS = {
    "equal": lambda store: filled(store, "append"),
    "left out": lambda store: filled(store, "skip"),
    "linked": near_copies,
    "merged": merged,
}


@STORES
@pytest.mark.parametrize("how", BANKS)
def test_a_lesson_that_three_tasks_led_to_comes_first_where_nothing_is_similar(how, kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = BANKS[how](store)
        assert ids(bank.search(ASKED)) == ["near"]
        (first,) = bank.search(ASKED, levels=True)
        assert first.item.title == "check the units"
        assert "nothing is similar, and 3 tasks led to it" in first.why
        found = bank.search(ASKED, k=2, levels=True)
        assert [found[0].item.title, found[-1].item.id] == ["check the units", "near" if how != "equal" else "g1"]
        assert (found[-1].score > found[0].score) is (how != "equal")


def test_a_general_lesson_is_found_behind_many_that_are_nearer():
    bank = near_copies(indexed_memory())
    for number in range(30):
        bank.add([lesson(f"n{number}", "red green apples pears plums", title="apples", description="pears")])
    assert ids(bank.search(ASKED, levels=True, k=9, max_items=1)) == ["g0"]
    assert "g0" not in ids(bank.search(ASKED, k=9, max_items=9))


@STORES
def test_where_something_is_similar_levels_change_nothing(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = near_copies(store)
        similar = "red green apples pears"
        assert bank.search(similar, k=9, max_items=9, levels=True) == bank.search(similar, k=9, max_items=9)
        assert bank.search(similar)[0].score > 0.6


@pytest.mark.parametrize("how", BANKS)
def test_two_tasks_are_too_few_however_many_attempts_there_were(how):
    bank = BANKS[how](indexed_memory())
    again = {"task": TASKS[0], "provenance": Provenance(attempt_digest="again"), "content": "convert first"}
    bank.add([attempt(7, **again)], policy=LINK)
    assert ids(bank.search(ASKED, levels=True)) != ["near"]
    at_hand = bank.search(TASKS[2], k=9, max_items=9, levels=True)
    assert at_hand
    assert not any("3 tasks" in memory.why or "4 tasks" in memory.why for memory in at_hand)


def test_a_lesson_of_the_same_experience_that_is_not_general_stands_behind_it():
    bank = near_copies(indexed_memory())
    also = [
        lesson("other", "new morning light", "e", title="red plums", description="apples pears"),
        attempt(3, experience="e"),
    ]
    bank.add([also[0], also[1].model_copy(update={"near": "g0", "task": "new morning light", "task_id": "t"})])
    found = bank.search(ASKED, levels=True)
    assert (ids(found), found[0].score < 0.6) == (["g3", "other"], True)


def test_what_the_own_thread_left_out_does_not_count():
    store = indexed_memory()
    bank = filled(store, "skip", thread="t")
    assert ids(bank.search(ASKED, levels=True)) == ["g0"]
    assert ids(bank.search(ASKED, levels=True, thread_id="t", written=["g0"])) == ["near"]
    assert ids(bank.search(ASKED, levels=True, thread_id="other", written=[])) == ["g0"]


def test_what_was_forgotten_or_had_not_happened_yet_does_not_count():
    store = indexed_memory()
    bank = filled(store, "skip", 2)
    before = utc_now()
    bank.add([attempt(2)], policy="skip")
    assert ids(bank.search(ASKED, levels=True)) == ["g0"]
    assert ids(bank.as_of(before).search(ASKED, levels=True)) == ["near"]
    assert ids(bank.as_of(utc_now()).search(ASKED, levels=True)) == ["g0"]
    bank.forget(experience_id="g1")
    assert ids(bank.search(ASKED, levels=True)) == ["near"]


def test_rows_of_attempts_that_do_not_name_their_task_do_not_count():
    store = indexed_memory()
    bank = filled(store, "skip")
    place = beside(NAMESPACE, LEFT_OUT)
    for row in store.search(place):
        kept = {name: value for name, value in row.value.items() if name not in ("task_key", "since")}
        store.put(place, row.key, kept, index=False)
    assert ids(bank.search(ASKED, levels=True)) == ["near"]


def test_a_floor_holds_for_general_lessons_too_and_says_what_it_left_out():
    bank = near_copies(indexed_memory())
    (near,) = bank.search(ASKED)
    assert bank.search(ASKED, levels=True, min_score=near.score) == [near]
    found = bank.recall("lessons", None, task=ASKED, k=2, min_score=0.6, levels=True)
    assert (list(found.memories), found.shows_anything) == ([], False)
    assert found.dropped[0] == ("near", near.score)
    assert len(found.dropped) == 2
    assert found.dropped[1].score < near.score


async def test_levels_cost_no_second_embedding_and_work_without_blocking():
    store = indexed_memory()
    bank = near_copies(store)
    store.embeddings.calls.clear()
    found = await bank.asearch(ASKED, levels=True)
    assert store.embeddings.calls == [[ASKED]]
    assert found == bank.search(ASKED, levels=True)


def test_a_store_without_an_index_has_no_levels():
    from langgraph.store.memory import InMemoryStore

    bank = filled(InMemoryStore(), "append")
    assert ids(bank.search(ASKED, k=9, max_items=9, levels=True)) == ids(bank.search(ASKED, k=9, max_items=9))

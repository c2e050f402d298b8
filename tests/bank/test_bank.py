"""What a bank returns for a task: close, active, in date, of others' tasks, and as many as asked for."""

from datetime import timedelta

import pytest
from langchain_core.embeddings import Embeddings
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph import MemoryBank, MemoryItem, create_retrieve
from reasoningbank_langgraph.errors import InvalidNamespaceLabelError
from reasoningbank_langgraph.namespaces import Filled
from reasoningbank_langgraph.records import utc_now
from tests.loop_fakes import indexed_memory, open_store

STORES = pytest.mark.parametrize("kind", ["memory", "chroma"])


def lesson(name, task, experience=None, **changes):
    values = {"id": name, "title": f"title {name}", "description": f"when {name}", "content": f"do {name}"}
    return MemoryItem(**{**values, "outcome": "success", "task": task, "experience_id": experience or name, **changes})


def ids(memories):
    return [memory.item.id for memory in memories]


@STORES
def test_the_closest_experience_comes_with_all_its_items(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = MemoryBank(store, ("m",))
        bank.add([lesson("a1", "red green blue", "a"), lesson("a2", "red green blue", "a")])
        bank.add([lesson("b1", "cold winter night", "b")])
        found = bank.search("red green grey")
        assert ids(found) == ["a1", "a2"]
        assert found[0].score == found[1].score > 0.5
        assert "similarity" in found[0].why
        assert ids(bank.search("a winter night")) == ["b1"]


def test_the_nearest_is_found_however_far_away_it_is():
    class Opposite(Embeddings):
        def embed_documents(self, texts):
            return [[-1.0, 0.2] if text == "cold winter night" else [1.0, 0.0] for text in texts]

        def embed_query(self, text):
            return [1.0, 0.0]

    bank = MemoryBank(InMemoryStore(index={"dims": 2, "embed": Opposite()}), ("m",), match="task")
    bank.add([lesson("a", "cold winter night")])
    found = bank.recall("lessons", None, task="red green")
    assert (ids(found.memories), found.memories[0].score < 0, found.dropped) == (["a"], True, ())
    assert bank.search("red green", min_score=0.0) == []


@STORES
def test_k_counts_experiences_and_max_items_what_is_shown(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = MemoryBank(store, ("m",))
        for name in "abcd":
            bank.add([lesson(f"{name}{number}", f"red green {name}", name) for number in range(3)])
        assert len({memory.item.experience_id for memory in bank.search("red green", k=2, max_items=9)}) == 2
        assert len(bank.search("red green", k=2, max_items=9)) == 6
        assert len(bank.search("red green", k=2, max_items=4)) == 4


@pytest.mark.slow
@STORES
def test_what_may_not_be_shown_never_crowds_out_what_may(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = MemoryBank(store, ("m",))
        for number in range(40):
            bank.add([lesson(f"old{number}", "red green blue", valid_until=utc_now() - timedelta(days=1))])
            bank.add([lesson(f"bad{number}", "red green blue", status="quarantined")])
        bank.add([lesson("good", "red green", valid_until=utc_now() + timedelta(days=1))])
        assert ids(bank.search("red green blue yellow")) == ["good"]


def test_a_floor_on_the_similarity_is_kept():
    bank = MemoryBank(indexed_memory(), ("m",))
    bank.add([lesson("a", "red green blue")])
    assert ids(bank.search("red green grey", min_score=0.4)) == ["a"]
    assert ids(bank.search("cold winter night", min_score=0)) == ["a"]
    assert bank.search("cold winter night", min_score=0.9) == []
    (found,) = bank.search("red green grey")
    assert ids(bank.search("red green grey", min_score=found.score)) == ["a"]


def test_of_an_experience_the_closest_lesson_comes_first_and_each_says_why():
    bank = MemoryBank(indexed_memory(), ("m",))
    titles = {"a1": "cold winter", "a2": "red green", "a3": "old stones"}
    bank.add([lesson(name, "yellow field", "a", title=title, description="x") for name, title in titles.items()])
    found = bank.search("red green")
    assert ids(found) == ["a2", "a1", "a3"]
    assert ids(bank.search("red green", max_items=1)) == ["a2"]
    assert found[0].why == f"similarity {found[0].score:.2f} of its task or lesson to this task"
    assert {memory.why for memory in found[1:]} == {
        f"learned in the same attempt as an item of similarity {found[0].score:.2f}"
    }


@pytest.mark.parametrize("thread", [None, "t"])
def test_a_store_without_an_index_returns_the_newest_experiences_first_and_each_says_so(thread):
    bank = MemoryBank(InMemoryStore(), ("m",))
    for number, name in enumerate("hcafbegd"):
        moment = utc_now() - timedelta(minutes=9 - number)
        bank.add([lesson(f"{name}{place}", f"task {name}", name, created_at=moment) for place in (2, 1)])
    found = bank.search("red green", k=2, max_items=9, min_score=0.9, thread_id=thread)
    assert ids(found) == ["d1", "d2", "g1", "g2"]
    assert {(memory.score, memory.why) for memory in found} == {(None, "the store has no index: newest first")}
    assert ids(bank.search("task d", k=1, thread_id=thread)) == ["g1", "g2"]


def test_where_some_lessons_have_no_vector_the_others_are_ranked_alone():
    bank = MemoryBank(indexed_memory(), ("m",))
    bank.add([lesson("near", "red green")])
    row = bank.store.get(("m",), "near").value
    bank.store.put(("m",), "bare", {**row, "id": "bare", "experience_id": "bare"}, index=False)
    assert ids(bank.search("red green blue", k=9, max_items=9)) == ["near"]
    bank.forget("near", cascade=False)
    assert ids(bank.search("red green blue", k=9, max_items=9)) == ["bare"]


def test_a_lesson_that_fits_worse_than_those_of_other_experiences_comes_behind_the_one_that_fits_and_says_why():
    bank = MemoryBank(indexed_memory(), ("m",), match="lesson")
    far = {"title": "cold winter night", "description": "snow and ice"}
    bank.add([lesson("a1", "x", "a", **far), lesson("a2", "x", "a", title="red green", description="blue")])
    for name in "bcdef":
        bank.add([lesson(name, "x", title="red stones", description=name)])
    first, second = bank.search("red green blue")
    assert ids([first, second]) == ["a2", "a1"]
    assert second.score == first.score
    assert second.why == f"learned in the same attempt as an item of similarity {first.score:.2f}"


def test_experiences_of_as_many_lessons_as_there_can_be_leave_room_for_each_other():
    bank = MemoryBank(indexed_memory(), ("m",), match="lesson")
    for name in "abc":
        bank.add(
            [lesson(f"{name}{place}", "x", name, title="red green", description=name * place) for place in range(1, 6)]
        )
    assert {memory.item.experience_id for memory in bank.search("red green", k=3, max_items=99)} == set("abc")


@pytest.mark.parametrize(
    ("match", "query", "expected"),
    [("task", "red green", ["a"]), ("lesson", "title a when a", ["a"]), ("lesson", "title b when b", ["b"])],
)
def test_what_a_task_is_matched_with_can_be_chosen(match, query, expected):
    bank = MemoryBank(indexed_memory(), ("m",), match=match)
    bank.add([lesson("a", "red green")])
    bank.add([lesson("b", "cold winter")])
    assert ids(bank.search(query + " now")) == expected


@STORES
def test_one_embedding_call_serves_a_retrieval(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        embedder = store.embeddings
        bank = MemoryBank(store, ("m",))
        bank.add([lesson("a", "red green", "a"), lesson("a2", "red green", "a")])
        embedder.calls.clear()
        bank.search("red green blue", thread_id="t", written=[])
        assert embedder.calls == [["red green blue"]]


@STORES
def test_a_bank_sees_none_of_the_banks_below_or_beside_it(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        for namespace in [("m", "al"), ("m", "alice"), ("m",), ("m", "al", "x")]:
            MemoryBank(store, namespace).add([lesson("/".join(namespace), "red green")])
        for namespace in [("m", "al"), ("m", "alice"), ("m",)]:
            bank = MemoryBank(store, namespace)
            assert ids(bank.search("red green blue", k=9, max_items=9)) == ["/".join(namespace)]
            assert [item.id for item in bank.items()] == ["/".join(namespace)]


def test_a_long_task_is_kept_whole_and_matched_by_its_start():
    bank = MemoryBank(indexed_memory(), ("m",))
    task = "red green " * 5000
    bank.add([lesson("a", task)])
    assert bank.get("a").task == task
    assert ids(bank.search("red green")) == ["a"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"k": 0}, "at least 1, got k=0, max_items=3"),
        ({"max_items": 0}, "at least 1, got k=1, max_items=0"),
        ({"min_score": -0.1}, "from 0 to 1, got -0.1"),
        ({"min_score": 1.1}, "from 0 to 1, got 1.1"),
    ],
)
def test_what_a_search_cannot_ask_for_is_refused_by_bank_and_node(options, told):
    with pytest.raises(ValueError, match=told):
        MemoryBank(indexed_memory(), ("m",)).search("x", **options)
    with pytest.raises(ValueError, match=told):
        create_retrieve(**options)
    assert MemoryBank(indexed_memory(), ("m",)).search("x", **dict.fromkeys(options, 1)) == []


@pytest.mark.parametrize("namespace", [(), ("a.b",), ("",), (1,), ("langgraph", "x")])
def test_a_namespace_that_stores_refuse_is_refused_by_name(namespace):
    with pytest.raises(InvalidNamespaceLabelError):
        MemoryBank(indexed_memory(), namespace)


def test_a_template_is_no_namespace_of_a_bank_and_filled_labels_are_taken_as_they_stand():
    with pytest.raises(InvalidNamespaceLabelError, match=r"'\{user_id\}' is a placeholder"):
        MemoryBank(indexed_memory(), ("m", "{user_id}"))
    assert MemoryBank(indexed_memory(), ("m", "a {b}")).namespace == ("m", "a {b}")
    assert MemoryBank(indexed_memory(), Filled(("m", "{user_id}"))).namespace == ("m", "{user_id}")


def test_an_unknown_way_to_match_is_refused():
    with pytest.raises(ValueError, match="match"):
        MemoryBank(indexed_memory(), ("m",), match="title")


SIDES = pytest.mark.parametrize("asynchronously", [False, True])


@SIDES
@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({}, ["a"]),
        ({"k": 2}, ["a", "b"]),
        ({"k": 2, "max_items": 1}, ["a"]),
        ({"k": 2, "min_score": 0.5}, ["a"]),
        ({"task_id": "colours"}, ["b"]),
    ],
)
async def test_what_is_asked_of_a_search_counts_on_both_sides(options, found, asynchronously):
    bank = MemoryBank(indexed_memory(), ("m",))
    bank.add([lesson("a", "red green blue", task_id="colours")])
    bank.add([lesson("b", "cold winter night")])
    task = "red green grey"
    memories = await bank.asearch(task, **options) if asynchronously else bank.search(task, **options)
    assert ids(memories) == found


def test_a_bank_counts_its_experiences_and_its_lessons_by_outcome():
    bank = MemoryBank(indexed_memory(), ("m",))
    bank.add([lesson("a1", "red", "a"), lesson("a2", "red", "a"), lesson("a3", "red", "a", outcome="contrast")])
    bank.add([lesson(name, "blue", "b", outcome="failure") for name in ("b1", "b2", "b3")])
    assert bank.totals() == (6, 2, 2, 3, 1)


@pytest.mark.parametrize("match", ["task", "both"])
def test_a_lesson_that_stays_is_found_by_the_task_after_the_first_of_its_experience_is_gone(match):
    bank = MemoryBank(indexed_memory(), ("m",), match=match)
    first, second = lesson("a", "red green apples", "e"), lesson("b", "red green apples", "e")
    bank.add([first, second])
    bank.add([second])
    (found,) = bank.search("red green pears", k=9, max_items=9)
    assert found.item.id == "b"
    assert found.score > 0.5

"""Several lessons become one on request: nothing is rewritten, the way back is open, and nobody sees more."""

import asyncio

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from reasoningbank_langgraph import MemoryBank, create_reasoning_bank
from reasoningbank_langgraph.errors import CannotMergeError, PastBankError
from reasoningbank_langgraph.records import utc_now
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.bank.test_bank import STORES, ids, lesson
from tests.bank.test_minting import in_use
from tests.loop_fakes import indexed_memory, lessons, open_store, solver, verdict

NAMESPACE = ("m",)


def filled(store):
    bank = MemoryBank(store, NAMESPACE)
    bank.add([lesson("a", "red green apples", tags=("x",), scope="s", verifier_score=0.9)])
    bank.add([lesson("b", "red green pears", tags=("y",), scope="s", verifier_score=0.5)])
    bank.add([lesson("c", "cold winter night")])
    return bank


@STORES
def test_one_lesson_takes_the_place_of_several_which_stay_as_they_were(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = filled(store)
        merged = bank.merge(["a", "b"], content="do both")
        assert (merged.title, merged.content, merged.task) == ("title a", "do both", "red green apples")
        assert (merged.supersedes, merged.tags, merged.scope, merged.verifier_score) == (
            ("a", "b"),
            ("x", "y"),
            "s",
            0.5,
        )
        assert in_use(bank) == ["c", merged.id]
        assert [bank.get(name).status for name in "ab"] == ["superseded"] * 2
        assert bank.get("a").content == "do a"
        assert ids(bank.search("red green plums")) == [merged.id]
        assert bank.merge(["a", "b"], content="do both").id == merged.id
        assert len(bank.items()) == 4


@STORES
def test_undoing_brings_the_originals_back_and_merging_again_the_merged_one(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = filled(store)
        merged = bank.merge(["a", "b"])
        assert bank.undo_merge(merged.id) == ["a", "b"]
        assert bank.undo_merge(merged.id) == []
        assert in_use(bank) == ["a", "b", "c"]
        assert bank.merge(["a", "b"]).status == "active"
        assert in_use(bank) == ["c", merged.id]
        assert ids(bank.search("red green plums")) == [merged.id]


def test_a_merged_lesson_can_be_merged_and_what_another_one_stands_for_stays_out():
    bank = filled(indexed_memory())
    first = bank.merge(["a", "b"])
    second = bank.merge([first.id, "c"])
    assert in_use(bank) == [second.id]
    assert bank.undo_merge(first.id) == []
    assert bank.undo_merge(second.id) == [first.id, "c"]
    assert bank.undo_merge(first.id) == ["a", "b"]


@STORES
def test_it_is_shown_for_the_task_of_none_of_its_originals_and_crowds_nothing_out(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = filled(store)
        merged = bank.merge(["a", "b"])
        for number in range(12):
            bank.add([lesson(f"d{number}", f"red green pears {number}")])
            bank.add([lesson(f"e{number}", "red green pears of another")])
            bank.merge([f"d{number}", f"e{number}"])
        found = ids(bank.search("red green pears of another", k=2, max_items=9))
        assert merged.id in found
        for task in ("red green apples", "red green pears"):
            assert merged.id not in ids(bank.search(task, k=20, max_items=50))


@pytest.mark.parametrize(
    ("chosen", "says"),
    [
        (["a"], "two"),
        (["a", "a"], "two"),
        (["a", "nobody"], "nobody"),
        (["a", "f"], "outcomes"),
        (["a", "q"], "in use"),
    ],
)
def test_what_cannot_stand_for_one_lesson_is_refused(chosen, says):
    bank = filled(indexed_memory())
    bank.add([lesson("f", "red green figs", outcome="failure")])
    bank.add([lesson("q", "red green figs", status="quarantined")])
    with pytest.raises(CannotMergeError, match=says):
        bank.merge(chosen)
    with pytest.raises(CannotMergeError, match="nothing to undo"):
        bank.undo_merge("a")
    with pytest.raises(PastBankError):
        bank.as_of(utc_now()).merge(["a", "b"])


def test_an_imported_merged_lesson_still_knows_what_it_stands_for(tmp_path):
    bank, other = filled(indexed_memory()), MemoryBank(indexed_memory(), ("n",))
    first = bank.merge(["a", "b"])
    second = bank.merge([first.id, "c"])
    bank.export_jsonl(tmp_path / "bank.jsonl")
    other.import_jsonl(tmp_path / "bank.jsonl")
    assert ids(other.search("a warm day", k=9)) == [second.id]
    for task in ("red green apples", "red green pears", "cold winter night"):
        assert other.search(task, k=9) == []
    assert other.undo_merge(second.id) == [first.id, "c"]
    assert other.undo_merge(first.id) == ["a", "b"]


def test_lessons_of_a_file_that_stand_for_each_other_are_imported(tmp_path):
    bank, other = MemoryBank(indexed_memory(), NAMESPACE), MemoryBank(indexed_memory(), ("n",))
    bank.add([lesson("a", "red green apples", supersedes=("b",))])
    bank.add([lesson("b", "red green pears", supersedes=("a", "gone"))])
    bank.export_jsonl(tmp_path / "bank.jsonl")
    assert other.import_jsonl(tmp_path / "bank.jsonl").added == 2
    assert ids(other.search("red green plums", k=9, max_items=9)) == ["a", "b"]


def test_forgetting_an_original_forgets_what_was_made_of_it():
    bank = filled(indexed_memory())
    merged = bank.merge(["a", "b"])
    assert set(bank.forget("a")) == {"a", merged.id}
    assert [item.id for item in bank.items()] == ["b", "c"]


def test_an_attempt_whose_lesson_was_merged_adds_nothing_when_it_comes_again():
    bank = filled(indexed_memory())
    merged = bank.merge(["a", "b"])
    assert bank.add([lesson("a", "red green apples")]).added == 0
    assert in_use(bank) == ["c", merged.id]


def test_a_branch_that_may_not_see_an_original_does_not_see_the_merged_lesson():
    titles = iter(["draw a picture", "check the sum", "sort first"])

    def reply(messages):
        return verdict() if "You check whether" in messages[0].text else lessons(next(titles))

    store, config = indexed_memory(), {"configurable": {"thread_id": "t"}}
    graph = create_reasoning_bank(solver, model=ScriptedChatModel(reply), namespace="m").compile(
        checkpointer=InMemorySaver(), store=store
    )
    bank = MemoryBank(store, NAMESPACE)
    graph.invoke({"task": "the task alpha"}, config)
    before = graph.get_state(config).config
    graph.invoke({"task": "the task beta"}, config)
    bank.add([lesson("other", "the task gamma")])
    beta = next(item.id for item in bank.items() if "beta" in item.task)
    merged = bank.merge(["other", beta])
    there = graph.invoke({"task": "the task delta"}, before)
    assert merged.id not in [memory["item"]["id"] for memory in there["memories"]]
    asked = {"thread_id": "t", "written": there["written"], "attempt": there["attempt"], "k": 9, "max_items": 9}
    assert merged.id not in ids(bank.search("the task epsilon", **asked))
    assert merged.id in ids(bank.search("the task epsilon", k=9, max_items=9, thread_id="another"))


def test_the_ledger_has_rows_for_merging_and_for_undoing_it():
    bank = filled(indexed_memory())
    merged = bank.merge(["a", "b"])
    bank.merge(["a", "b"])
    bank.undo_merge(merged.id)
    bank.undo_merge(merged.id)
    assert [(change.kind, change.ids) for change in bank.log()[3:]] == [
        ("merged", (merged.id,)),
        ("superseded", ("a", "b")),
        ("undone", (merged.id,)),
        ("undone", ("a", "b")),
    ]
    assert bank.verify_log().ok


def test_the_async_forms_do_the_same():
    async def go():
        bank = filled(indexed_memory())
        merged = await bank.amerge(["a", "b"])
        return merged.supersedes, await bank.aundo_merge(merged.id)

    assert asyncio.run(go()) == (("a", "b"), ["a", "b"])

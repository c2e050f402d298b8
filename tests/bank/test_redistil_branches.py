"""Lessons that were made anew are of the same experience: on its branch, forgotten with it, exported with it."""

import json

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from reasoningbank_langgraph import MemoryBank, create_matts, create_reasoning_bank
from reasoningbank_langgraph.errors import ImportFileError
from reasoningbank_langgraph.extraction.contrast import CONTRAST_HASH
from tests.bank.test_episodes import of_episode
from tests.bank.test_forgetting import NAMESPACE, STORES, lesson
from tests.bank.test_redistil import OLD, Named, filled, in_use, newer
from tests.loop_fakes import indexed_memory, learner, lessons, open_store

CONFIG = {"configurable": {"thread_id": "t"}}


def app(store, answers, titles=("one",)):
    numbers = iter(answers)
    graph = create_reasoning_bank(
        lambda _: {"answer": next(numbers)}, model=learner(titles=titles), namespace=NAMESPACE, k=9, max_items=9
    )
    return graph.compile(checkpointer=InMemorySaver(), store=store)


def forked(store, titles=("one",)):
    """A thread with two branches after its first task; what it learned is then made anew."""
    graph = app(store, "12345", titles)
    graph.invoke({"task": "add two apples"}, CONFIG)
    first = graph.get_state(CONFIG)
    graph.invoke({"task": "add three apples"}, CONFIG)
    left = graph.get_state(CONFIG)
    graph.invoke({"task": "add four apples"}, first.config)
    bank = MemoryBank(store, NAMESPACE)
    return graph, bank, left, graph.get_state(CONFIG)


def tasks_shown(graph, config):
    result = graph.invoke({"task": "add nine apples"}, config)
    return {memory["item"]["task"]: memory["item"]["title"] for memory in result["memories"]}


@pytest.mark.parametrize("titles", [("one",), ()])
def test_a_branch_sees_the_new_lessons_of_what_it_had_learned_and_no_others(titles):
    graph, bank, left, right = forked(indexed_memory(), titles)
    bank.redistil(newer("anew"))
    bank.redistil(newer("again", name="newest"))
    assert tasks_shown(graph, left.config) == {"add two apples": "again", "add three apples": "again"}
    assert tasks_shown(graph, right.config) == {"add two apples": "again", "add four apples": "again"}


def test_a_branch_that_left_an_attempt_halfway_sees_no_new_lessons_of_it():
    store = indexed_memory()
    graph = app(store, "12345")
    graph.invoke({"task": "add two apples"}, CONFIG)
    halfway = next(state for state in graph.get_state_history(CONFIG) if state.next == ("judge",))
    graph.invoke({"task": "add three apples"}, halfway.config)
    tip = graph.get_state(CONFIG)
    MemoryBank(store, NAMESPACE).redistil(newer("anew"))
    assert tasks_shown(graph, tip.config) == {"add three apples": "anew"}


def test_new_lessons_of_an_abandoned_branch_are_forgotten_with_it():
    graph, bank, _, _ = forked(indexed_memory())
    bank.redistil(newer("anew"))
    gone = bank.reconcile("t", graph, forget=True)
    assert {item.task for item in gone} == {"add three apples"}
    assert {item.task for item in bank.items()} == {"add two apples", "add four apples"}
    assert len(bank.items()) == 4


def test_a_run_that_is_replayed_after_it_adds_nothing_and_removes_nothing():
    graph, bank, _, _ = forked(indexed_memory())
    bank.redistil(newer("anew"))
    before = bank.items()
    for node in ("consolidate", "extract"):
        past = next(state for state in graph.get_state_history(CONFIG) if state.next == (node,))
        graph.invoke(None, past.config)
        assert bank.items() == before


def test_the_same_attempt_given_again_leaves_the_new_lessons_in_use():
    bank = filled(indexed_memory(), 1)
    bank.redistil(newer("anew"))
    kept = bank.episodes()[0]
    old = [of_episode(name, kept, task=kept.task) for name in ("a0", "b0")]
    assert bank.add(old, episodes=[kept]).added == 0
    assert in_use(bank) == ["anew"]


@STORES
@pytest.mark.parametrize(
    "selector", [{"experience_id": "e0"}, {"thread_id": "t0"}, {"run_id": "r0"}, {"id": "e0"}, {"id": "a0"}]
)
def test_forgetting_an_experience_forgets_the_lessons_of_all_distillations(kind, selector, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = filled(store)
        bank.redistil(newer("anew"))
        bank.redistil(newer("again", name="newest"))
        shown = next(item for item in bank.items() if item.title == "again" and item.experience_id == "e0")
        bank.add([lesson("after", used=(shown.id,), thread="t9", run="r9")])
        bank.forget(**selector)
        left = {item.experience_id for item in bank.items() if item.title != "title b0"}
        assert left == {"e1"}


def test_what_is_forgotten_while_the_model_thinks_does_not_come_back():
    bank = filled(indexed_memory())

    def reply(_):
        bank.forget("e1")
        return lessons("anew")

    done = bank.redistil(Named(reply))
    assert (done.distilled, done.reasons) == (1, {"forgotten": 1})
    assert in_use(bank) == ["anew"]


def test_lessons_of_an_undone_run_that_are_forgotten_meanwhile_leave_the_old_ones_in_use():
    bank = filled(indexed_memory())
    run = bank.redistil(newer("anew")).run
    bank.undo_redistil(run)
    first, second = (item.id for item in bank.items() if item.redistil_run)

    def forget_the_other(done, _):
        bank.forget(second if bank.get(first).status == "active" else first, cascade=False)

    done = bank.redistil(newer("anew"), progress=forget_the_other)
    assert (done.distilled, done.reasons) == (1, {"forgotten": 1})
    assert sorted(in_use(bank)) in (["anew", "title a1", "title b1"], ["anew", "title a0", "title b0"])


@STORES
def test_an_export_carries_all_distillations_and_a_thread_knows_them_in_the_new_bank(kind, tmp_path):
    path = tmp_path / "bank.jsonl"
    with open_store(kind, tmp_path / "one") as one, open_store(kind, tmp_path / "two") as two:
        bank, other = filled(one), MemoryBank(two, NAMESPACE)
        run = bank.redistil(newer("anew", "and more", "and so on")).run
        bank.redistil(newer("again", name="newest"))
        bank.export_jsonl(path)
        assert json.loads(path.read_text().splitlines()[0])["version"] == 3
        assert other.import_jsonl(path) == (12, 0)
        assert other.import_jsonl(path) == (0, 12)
        assert other.items() == bank.items()
        assert other.redistil(newer("again", name="newest")).done == 2
        found = other.search("red green blue", k=9, max_items=9, thread_id="t0", written=["a0"])
        assert [memory.item.title for memory in found] == ["again"] * 2
        assert all(memory.score > 0.5 for memory in found)
        for each in (other.redistil(newer("again", name="newest")).run, run):
            other.undo_redistil(each)
        assert in_use(other) == OLD


def test_an_import_of_too_many_lessons_in_use_is_still_refused(tmp_path):
    path, bank = tmp_path / "bank.jsonl", filled(indexed_memory(), 1)
    bank.redistil(newer("anew", "and more", "and so on"))
    bank.redistil(newer("again", "and then", "and last", name="newest"))
    bank.export_jsonl(path)
    path.write_text(path.read_text().replace('"superseded"', '"active"'))
    with pytest.raises(ImportFileError, match="more than 5 items in use"):
        MemoryBank(indexed_memory(), NAMESPACE).import_jsonl(path)


def test_a_group_is_contrasted_anew_as_one_experience():
    store, numbers = indexed_memory(), iter("1234")
    graph = create_matts(
        lambda _: {"answer": next(numbers)},
        model=learner(titles=("old",)),
        judge=lambda attempt: attempt.answer == "1",
        k=2,
        max_concurrency=1,
        namespace=NAMESPACE,
    )
    graph.compile(store=store).invoke({"task": "add two apples"})
    bank, model = MemoryBank(store, NAMESPACE), newer("compare", "both", "ways", "of", "doing")
    assert len(bank.episodes()) == 2
    done = bank.redistil(model)
    assert (done.distilled, len(model.calls)) == (1, 1)
    new = [item for item in bank.items() if item.redistil_run]
    assert {(item.outcome, item.provenance.prompt_hash) for item in new} == {("contrast", CONTRAST_HASH)}
    assert len({item.experience_id for item in bank.items()}) == 1
    assert bank.undo_redistil(done.run).restored == 1

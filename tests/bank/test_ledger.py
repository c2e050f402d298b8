"""Every change of a bank has a row in the batch that makes it, and the row outlives what was forgotten."""

import json
from datetime import UTC, datetime

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.base import PutOp

from reasoningbank_langgraph import Guard, MemoryBank, create_reasoning_bank
from reasoningbank_langgraph.bank.exchange import importing
from reasoningbank_langgraph.bank.rows import ledger
from reasoningbank_langgraph.errors import InvalidNamespaceLabelError
from reasoningbank_langgraph.namespaces import HEADS, LEDGER, beside
from reasoningbank_langgraph.policies import Evidence, Trial
from tests.bank.test_credit import LOST, WON, say_often
from tests.bank.test_forgetting import NAMESPACE, STORES, family, lesson
from tests.bank.test_redistil import filled, newer
from tests.loop_fakes import Switched, indexed_memory, learner, open_store, solver

IN_USE = {"status": "active"}
ROWS, MARKERS = beside(NAMESPACE, LEDGER), beside(NAMESPACE, HEADS)


def told(bank):
    return [(change.kind, change.ids, change.before, change.after) for change in bank.log()]


def one_by_one(bank):
    """Change a bank in several ways."""
    bank.add([lesson("a")])
    bank.set_status("a", "quarantined", reason="it names a person")
    bank.set_status("a", "active")
    bank.forget("a", reason="as asked")
    return bank


@STORES
def test_a_change_is_told_with_what_was_before_and_after_by_whom_and_why(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = one_by_one(MemoryBank(store, NAMESPACE, actor="ann"))
        assert told(bank) == [
            ("added", ("a",), None, IN_USE),
            ("quarantined", ("a",), IN_USE, {"status": "quarantined"}),
            ("released", ("a",), {"status": "quarantined"}, IN_USE),
            ("forgotten", ("a",), IN_USE, None),
        ]
        changes = bank.log()
        assert {change.actor for change in changes} == {"ann"}
        assert [change.reason for change in changes] == ["learned from success", "it names a person", "", "as asked"]
        assert sorted(change.time for change in changes) == [change.time for change in changes]
        assert kind == "memory" or store.verify().ok


@STORES
def test_the_ledger_outlives_what_was_forgotten_and_holds_none_of_its_text(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = family(store)
        bank.forget("gran", reason="Ann's key was api_key=sk-proj-4fK2mW9xLq7RtY3vBn8c")
        bank.forget_all()
        rows = json.dumps([row.value for row in store.search(ROWS, limit=99)])
        assert all(word not in rows for word in ("title", "when ", "do ", "task gran", "4fK2mW9xLq7RtY3vBn8c", '"t1"'))
        gone = [name for change in bank.log() if change.kind == "forgotten" for name in change.ids]
        assert sorted(gone) == ["child1", "child2", "gran", "grandchild", "stranger"]
        assert bank.verify_log().ok


def test_what_changes_nothing_writes_no_row():
    store = indexed_memory()
    bank = MemoryBank(store, NAMESPACE)
    for _ in range(3):
        bank.add([lesson("a"), lesson("b", experience="a")])
        bank.set_status(["a", "b"], "superseded")
        bank.forget("nobody")
    assert [change.kind for change in bank.log()] == ["added", "superseded"]
    assert len(store.search(ROWS)) == 2


def test_lessons_that_a_retry_distilled_anew_are_told_as_replaced():
    bank = MemoryBank(indexed_memory(), NAMESPACE)
    bank.add([lesson("a"), lesson("b", experience="a")])
    bank.add([lesson("a", title="another one"), lesson("c", experience="a")])
    assert told(bank)[1:] == [
        ("added", ("c",), None, IN_USE),
        ("replaced", ("a",), IN_USE, IN_USE),
        ("replaced", ("b",), IN_USE, None),
    ]


def test_a_row_is_written_with_its_change_or_not_at_all(monkeypatch):
    store = Switched()
    bank = MemoryBank(store, NAMESPACE)
    store.writes = ConnectionError("gone")
    with pytest.raises(ConnectionError):
        bank.add([lesson("a")])
    assert (bank.items(), bank.log()) == ([], [])
    batches, store.writes, real = [], None, Switched.batch
    monkeypatch.setattr(Switched, "batch", lambda store, ops: batches.append(list(ops)) or real(store, batches[-1]))
    bank.add([lesson("a")])
    writes = [ops for ops in batches if any(isinstance(op, PutOp) for op in ops)]
    assert [{op.namespace for op in ops} for ops in writes] == [{NAMESPACE, ROWS, MARKERS}]


def test_what_the_guard_and_the_credit_of_lessons_decide_is_told_once_with_figures():
    bank = family(indexed_memory())
    say_often(bank, "gran", LOST, 9)
    say_often(bank, "child1", WON, 9)
    guard = Guard(share=0.5, alpha=0.4)
    for number, (withheld, right) in enumerate([("held_out", True), (None, False)] * 4):
        bank.add([], evidence=Evidence(guard_trial(guard, f"task {number}", withheld, right=right)))
    by_credit = [change for change in bank.log() if change.actor == "credit"]
    assert [(change.kind, change.ids) for change in by_credit] == [
        ("credited", ("gran",)),
        ("quarantined", ("gran",)),
        ("credited", ("child1",)),
    ]
    assert (by_credit[0].before["hurt"], by_credit[0].after["hurt"]) == (6, 7)
    (switch,) = [change for change in bank.log() if change.kind == "switched"]
    assert (switch.actor, switch.before, switch.after["state"]) == ("guard", {"state": "trying"}, "off")
    assert switch.after["broken"] > switch.after["fixed"] == 0


def guard_trial(guard, task, withheld, *, right):
    return Trial(guard=guard, task_key=task, test=0, withheld=withheld, right=right)


def test_a_redistillation_and_its_undoing_are_told():
    bank = filled(indexed_memory(), 1)
    run = bank.redistil(newer("one", "two")).run
    bank.undo_redistil(run)
    kinds = [(change.kind, len(change.ids), change.after["status"]) for change in bank.log()]
    assert kinds[-4:] == [
        ("redistilled", 2, "active"),
        ("superseded", 2, "superseded"),
        ("undone", 2, "superseded"),
        ("undone", 2, "active"),
    ]
    assert run in bank.log()[-1].reason


def test_an_import_is_told_and_so_is_that_it_failed(tmp_path, monkeypatch):
    family(indexed_memory()).export_jsonl(tmp_path / "lessons.jsonl")
    monkeypatch.setattr(importing, "BATCH", 3)
    store = Switched()
    bank, failures = MemoryBank(store, NAMESPACE), iter([None, ConnectionError("gone")])
    store.writes = lambda: next(failures, None)
    with pytest.raises(ConnectionError):
        bank.import_jsonl(tmp_path / "lessons.jsonl")
    for _ in range(2):
        bank.import_jsonl(tmp_path / "lessons.jsonl")
    assert [(change.kind, len(change.ids), change.reason) for change in bank.log()] == [
        ("imported", 3, "from lessons.jsonl"),
        ("undone", 3, "the import failed"),
        ("imported", 3, "from lessons.jsonl"),
        ("imported", 2, "from lessons.jsonl"),
    ]


def test_a_bank_as_it_was_tells_what_had_happened_by_then():
    bank = MemoryBank(indexed_memory(), NAMESPACE)
    bank.add([lesson("a")])
    then = datetime.now(UTC)
    bank.forget("a")
    assert [change.kind for change in bank.as_of(then).log()] == ["added"]


def test_the_loop_writes_as_graph_and_a_replay_writes_nothing():
    store = indexed_memory()
    graph = create_reasoning_bank(solver, model=learner(repeats=True))
    app = graph.compile(checkpointer=InMemorySaver(), store=store)
    config = {"configurable": {"thread_id": "t"}}
    app.invoke({"task": "What is 2 + 3?"}, config)
    past = next(state for state in app.get_state_history(config) if state.next == ("extract",))
    app.invoke(None, past.config)
    (change,) = MemoryBank(store, "reasoningbank").log()
    assert (change.kind, change.actor, len(change.ids)) == ("added", "graph", 3)
    assert change.reason == "learned from success, judged by llm"


def test_many_ids_are_told_in_several_rows():
    store = indexed_memory()
    bank = MemoryBank(store, NAMESPACE)
    for number in range(ledger.IDS // 5 + 1):
        bank.add([lesson(f"{number} {part}", experience=f"e{number}") for part in range(5)])
    bank.forget_all()
    assert [len(change.ids) for change in bank.log() if change.kind == "forgotten"] == [ledger.IDS, 5]
    assert bank.verify_log().ok


@pytest.mark.parametrize("label", ["ann~ledger", "ann~heads"])
def test_no_bank_may_end_like_a_ledger(label):
    with pytest.raises(InvalidNamespaceLabelError, match="~ledger"):
        MemoryBank(indexed_memory(), ("m", label))


async def test_a_bank_lists_what_the_guard_knows_of_each_model_by_name():
    bank = MemoryBank(indexed_memory(), NAMESPACE)
    assert bank.guards() == []
    for number, model in enumerate(("small", "large")):
        trial = guard_trial(Guard(model=model), f"task {number}", None, right=True)
        bank.add([lesson(f"of {model}")], evidence=Evidence(trial))
    assert [(status.model, status.shown) for status in bank.guards()] == [("large", 1), ("small", 1)]
    assert await bank.aguards() == bank.guards()

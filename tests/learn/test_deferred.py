"""A run ends after the answer; its attempt waits for a verdict from outside, and is then learned from, once."""

import json
from collections import Counter
from uuid import uuid4

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from reasoningbank_langgraph import (
    Guard,
    MemoryBank,
    PendingAttempt,
    ReferenceJudge,
    Verdict,
    create_matts,
    create_reasoning_bank,
)
from reasoningbank_langgraph.errors import PastBankError, StoreUnavailableError, UnknownAttemptError
from reasoningbank_langgraph.records import utc_now
from tests.bank.test_forgetting import NAMESPACE, STORES
from tests.loop_fakes import Switched, indexed_memory, learner, open_store, solver

CONFIG = {"configurable": {"thread_id": "t"}}
SECRET = "sk-proj-" + "a1B2c3D4e5" * 4
RIGHT = Verdict(status="success", confidence=1.0, rationale="thumb up", judge="user")
WRONG = Verdict(status="failure", confidence=1.0, rationale="thumb down", judge="user")


def app(store, solve=solver, *, learn="deferred", saver=None, **options):
    builder = create_reasoning_bank(solve, namespace=NAMESPACE, learn=learn, **options)
    return builder.compile(checkpointer=saver or InMemorySaver(), store=store)


def run(store, task="add two apples", **options):
    return app(store, **options).invoke({"task": task}, CONFIG)


def titles(bank, status="active"):
    return [item.title for item in bank.items() if item.status == status]


@STORES
def test_a_run_ends_after_the_answer_and_the_attempt_waits(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        result = run(store)
        bank = MemoryBank(store, NAMESPACE)
        (pending,) = bank.pending()
        assert isinstance(pending, PendingAttempt)
        assert (pending.task, pending.thread_id, pending.answer) == ("add two apples", "t", "\\boxed{14}")
        assert pending.id == result["pending"]["id"]
        assert result["kept"] == [pending.id]
        assert (pending.waits_for, pending.verdict) == ("verdict", None)
        assert (bank.items(), bank.episodes(), bank.totals().items) == ([], [], 0)
        assert kind == "memory" or store.verify().ok


@STORES
@pytest.mark.parametrize("verdict", [RIGHT, WRONG])
def test_a_verdict_from_outside_leaves_what_the_run_would_have_left(kind, verdict, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        attempt = run(store)["pending"]["id"]
        bank, model = MemoryBank(store, NAMESPACE), learner(titles=("one", "two"))
        done = bank.resolve(attempt, verdict, model=model)
        assert (done.added, done.failure, list(done.superseded)) == (2, None, [])
        assert done.ids == [item.id for item in bank.items()]
        assert len(model.calls) == 1
        (kept,) = bank.episodes()
        assert (kept.id, kept.outcome, kept.rationale) == (attempt, verdict.status, verdict.rationale)
        assert {(item.outcome, item.provenance.judge) for item in bank.items()} == {(verdict.status, "user")}
        assert {item.experience_id for item in bank.items()} == {kept.experience_id}
        assert bank.pending() == []
        assert kind == "memory" or store.verify().ok


def test_lessons_and_episode_are_those_of_a_run_that_learns_at_once():
    def told(learn):
        store = indexed_memory()
        run(store, learn=learn, model=learner(titles=("one", "two")), task=f"Use {SECRET}")
        bank = MemoryBank(store, NAMESPACE)
        for pending in bank.pending():
            judged = Verdict(status="success", confidence=0.9, rationale="checked", judge="llm")
            bank.resolve(pending.id, judged, model=learner(titles=("one", "two")))
        own = {"id", "created_at", "updated_at", "experience_id"}
        source = {"origin", "line", "checkpoint_ns", "checkpoint_id", "task_id", "run_id"}
        records = [*bank.items(), *bank.episodes()]
        return (
            [record.model_dump(exclude=own | {"provenance"}) for record in records],
            [record.provenance.model_dump(exclude=source) for record in records],
            [episode.id for episode in bank.episodes()],
        )

    assert told("deferred") == told(True)


def test_the_ids_are_those_that_the_run_made_whichever_comes_first():
    store, saver = indexed_memory(), InMemorySaver()
    deferred = app(store, saver=saver)
    attempt = deferred.invoke({"task": "add two apples"}, CONFIG)["pending"]["id"]
    bank = MemoryBank(store, NAMESPACE)
    online = app(store, learn=True, model=learner(titles=("one",)), saver=saver)
    past = next(state for state in deferred.get_state_history(CONFIG) if state.next == ("defer",))
    online.invoke(None, online.update_state(past.config, {}, as_node="solve"))
    assert (titles(bank), bank.pending(), [one.id for one in bank.episodes()]) == (["one"], [], [attempt])
    assert bank.resolve(attempt, RIGHT, model=learner(titles=("other",))).added == 0
    assert titles(bank) == ["one"]
    deferred.invoke(None, past.config)
    assert bank.pending() == []


def test_the_lessons_are_visible_on_the_branch_that_made_the_attempt_and_not_on_another():
    store, saver = indexed_memory(), InMemorySaver()
    graph = app(store, saver=saver)
    first = graph.invoke({"task": "count the plums"}, CONFIG)
    start = graph.get_state(CONFIG).config
    attempt = graph.invoke({"task": "add two apples"}, CONFIG)["pending"]["id"]
    here = graph.get_state(CONFIG).config
    bank = MemoryBank(store, NAMESPACE)
    bank.resolve(attempt, RIGHT, model=learner(titles=("one",)))
    seen = graph.invoke({"task": "add two pears"}, here)["memories"]
    assert [memory["item"]["title"] for memory in seen] == ["one"]
    assert graph.invoke({"task": "add two figs"}, start)["memories"] == []
    other = graph.invoke({"task": "add two figs"}, {"configurable": {"thread_id": "other"}})["memories"]
    assert [memory["item"]["title"] for memory in other] == ["one"]
    assert first["memories"] == []


def test_retry_replay_and_fork_let_an_attempt_wait_once():
    store, saver, answers = indexed_memory(), InMemorySaver(), iter("112")
    graph = app(store, lambda _: {"answer": next(answers)}, saver=saver)
    graph.invoke({"task": "add two apples"}, CONFIG)
    bank = MemoryBank(store, NAMESPACE)
    (first,) = bank.pending()
    history = list(graph.get_state_history(CONFIG))
    for step in ("consolidate", "defer", "solve"):
        graph.invoke(None, next(state for state in history if state.next == (step,)).config)
    assert bank.pending() == [first]
    graph.invoke(None, next(state for state in history if state.next == ("solve",)).config)
    assert [one.answer for one in bank.pending()] == ["1", "2"]


@STORES
def test_each_tenant_has_attempts_of_its_own(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        graph = create_reasoning_bank(solver, namespace=("m", "{user}"), learn="deferred").compile(store=store)
        for user in ("ann", "bob"):
            graph.invoke({"task": f"add for {user}"}, {"configurable": {"user": user}})
        ann, bob = (MemoryBank(store, ("m", user)) for user in ("ann", "bob"))
        assert ([one.task for one in ann.pending()], [one.task for one in bob.pending()]) == (
            ["add for ann"],
            ["add for bob"],
        )
        with pytest.raises(UnknownAttemptError):
            ann.resolve(bob.pending()[0].id, RIGHT, model=learner())
        assert ann.drop_pending([bob.pending()[0].id]) == []
        ann.forget_all()
        assert (ann.pending(), len(bob.pending())) == ([], 1)


def test_what_waits_is_cleaned_of_secrets_and_capped():
    def solve(_):
        return {
            "messages": [
                HumanMessage(f"please {SECRET}"),
                AIMessage("", tool_calls=[{"id": "1", "name": "ask", "args": {"q": [f"{SECRET}", 3]}}]),
                ToolMessage(f"\x1b[31mfound {SECRET}", tool_call_id="1"),
                AIMessage("x " * 9_000),
            ]
        }

    store = indexed_memory()
    run(store, task=f"Use {SECRET}", solve=solve)
    (pending,) = MemoryBank(store, NAMESPACE).pending()
    assert SECRET not in json.dumps(pending.to_json())
    assert "\x1b" not in json.dumps(pending.to_json())
    roles = [message.role for message in pending.group[0].messages]
    assert roles == ["user", "assistant", "tool", "assistant"]
    assert pending.group[0].messages[1].tool_calls[0]["args"] == {"q": ["[api key removed]", 3]}
    assert len(pending.group[0].messages[-1].text) <= 8_200
    bank = MemoryBank(store, NAMESPACE)
    bank.resolve(pending.id, RIGHT, model=learner(titles=("one",)))
    assert bank.episodes()[0].cut


def test_an_attempt_without_an_answer_waits_for_nothing():
    store = indexed_memory()
    assert run(store, solve=lambda _: {"answer": ""})["pending"] is None
    assert MemoryBank(store, NAMESPACE).pending() == []


@pytest.mark.parametrize("selector", ["id", "thread_id", "run_id", "experience_id"])
@STORES
def test_what_is_forgotten_waits_no_more(kind, selector, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        app(store).invoke({"task": "add two apples"}, {**CONFIG, "run_id": uuid4()})
        bank = MemoryBank(store, NAMESPACE)
        (pending,) = bank.pending()
        known = {**pending.provenance.model_dump(), **pending.model_dump()}
        bank.forget(**{selector: known[selector]})
        assert bank.pending() == []
        with pytest.raises(UnknownAttemptError, match="no attempt"):
            bank.resolve(pending.id, RIGHT, model=learner())


@STORES
def test_forgetting_a_lesson_forgets_the_attempts_that_were_shown_it(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank, graph = MemoryBank(store, NAMESPACE), app(store)
        attempt = graph.invoke({"task": "add two apples"}, CONFIG)["pending"]["id"]
        (lesson,) = bank.resolve(attempt, RIGHT, model=learner(titles=("one",))).ids
        graph.invoke({"task": "add two pears"}, {"configurable": {"thread_id": "b"}})
        (pending,) = bank.pending()
        assert pending.group[0].shown == (lesson,)
        bank.forget(lesson)
        assert (bank.pending(), bank.items(), bank.episodes()) == ([], [], [])


def test_an_export_leaves_out_what_waits(tmp_path):
    store = indexed_memory()
    run(store)
    bank, other = MemoryBank(store, NAMESPACE), MemoryBank(indexed_memory(), NAMESPACE)
    bank.export_jsonl(tmp_path / "bank.jsonl")
    other.import_jsonl(tmp_path / "bank.jsonl")
    assert (other.pending(), len(bank.pending())) == ([], 1)


def test_a_store_that_is_out_of_reach_loses_no_attempt():
    store = Switched()
    store.writes = StoreUnavailableError("no server")
    graph = app(store)
    result = graph.invoke({"task": "add two apples"}, CONFIG)
    assert "no server" in result["memory_error"]
    store.writes = None
    graph.invoke({"task": "add two pears"}, CONFIG)
    assert [one.task for one in MemoryBank(store.inner, NAMESPACE).pending()] == ["add two apples", "add two pears"]


def test_a_bank_as_it_was_is_not_resolved():
    store = indexed_memory()
    before = utc_now()
    attempt = run(store)["pending"]["id"]
    bank = MemoryBank(store, NAMESPACE)
    assert (bank.as_of(before).pending(), len(bank.as_of(utc_now()).pending())) == ([], 1)
    with pytest.raises(PastBankError):
        bank.as_of(utc_now()).resolve(attempt, RIGHT, model=learner())


def test_a_guard_counts_the_verdict_when_it_comes():
    store = indexed_memory()
    graph = app(store, guard=Guard(share=0.5))
    bank = MemoryBank(store, NAMESPACE)
    for number in range(4):
        attempt = graph.invoke({"task": f"add {number} apples"}, {"configurable": {"thread_id": str(number)}})
        assert bank.guard().shown + bank.guard().held_out == max(0, number - 1)
        bank.resolve(attempt["pending"]["id"], RIGHT, model=learner(titles=("one",)))
    known = bank.guard()
    assert known.shown_right + known.held_out_right == known.shown + known.held_out == 3


@pytest.mark.parametrize("judge", [None, ReferenceJudge()])
def test_of_several_attempts_the_one_whose_answer_was_given_waits(judge):
    store, answers = indexed_memory(), iter(["1", "14", "3"])
    graph = create_matts(
        lambda _: {"answer": next(answers)}, judge=judge, k=3, namespace=NAMESPACE, learn="deferred", max_concurrency=1
    ).compile(store=store, checkpointer=InMemorySaver())
    result = graph.invoke({"task": "add two apples", "reference": "14"}, CONFIG)
    bank = MemoryBank(store, NAMESPACE)
    (pending,) = bank.pending()
    assert (pending.answer, len(pending.group)) == (result["answer"], 3 if judge else 1)
    bank.resolve(pending.id, RIGHT, model=learner(titles=("one",)))
    assert {item.outcome for item in bank.items()} == {"contrast" if judge else "success"}
    assert Counter(one.outcome for one in bank.episodes()) == (
        {"success": 1, "failure": 2} if judge else {"success": 1}
    )


@pytest.mark.parametrize("learn", ["later", None, 1])
def test_a_word_that_says_no_way_of_learning_is_refused(learn):
    with pytest.raises(ValueError, match="learn must be"):
        create_reasoning_bank(solver, model=learner(), learn=learn)

"""A model that cannot be reached costs no attempt: it waits in the bank until one can."""

import logging
from datetime import timedelta

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from reasoningbank_langgraph import Guard, MemoryBank, ReferenceJudge, Verdict, create_matts, create_reasoning_bank
from reasoningbank_langgraph.bank.item_values import put_pending
from reasoningbank_langgraph.learn import aresolve_overdue, drain, resolve_overdue
from reasoningbank_langgraph.namespaces import PENDING, beside
from reasoningbank_langgraph.records import utc_now
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.bank.test_forgetting import NAMESPACE
from tests.learn.test_deferred import CONFIG, RIGHT, WRONG, app, run, titles
from tests.loop_fakes import indexed_memory, learner, solver, verdict

DOWN = ConnectionError("no model")


def failing(at):
    """A model that cannot be reached: when it judges, or when it distils."""

    def reply(messages):
        judging = "You check whether" in messages[0].text
        return DOWN if judging == (at == "judge") else verdict()

    return ScriptedChatModel(reply)


def aged(bank, days):
    """Let all that waits in a bank be older."""
    for one in bank.pending():
        older = one.model_copy(update={"created_at": utc_now() - timedelta(days=days)})
        bank.store.batch([put_pending(older, beside(bank.namespace, PENDING))])


@pytest.mark.parametrize("at", ["judge", "distil"])
def test_an_outage_leaves_the_attempt_waiting_and_the_next_model_learns_from_it(at):
    store = indexed_memory()
    result = run(store, learn=True, model=failing(at))
    bank = MemoryBank(store, NAMESPACE)
    (pending,) = bank.pending()
    assert (result["answer"], result["lessons"], result["pending"]["id"]) == ("\\boxed{14}", [], pending.id)
    assert pending.waits_for == "model"
    assert (pending.verdict is None) == (at == "judge")
    assert len(bank.episodes()) == (at == "distil")
    model = learner(titles=("one",))
    assert resolve_overdue(bank, model=model) == (1, 0, 0, None)
    assert len(model.calls) == (2 if at == "judge" else 1)
    assert (titles(bank), bank.pending(), [one.id for one in bank.episodes()]) == (["one"], [], [pending.id])
    assert bank.items()[0].experience_id == pending.experience_id
    assert resolve_overdue(bank, model=ScriptedChatModel([])) == (0, 0, 0, None)


@pytest.mark.parametrize("at", ["judge", "distil"])
async def test_it_is_the_same_asynchronously(at):
    store = indexed_memory()
    await app(store, learn=True, model=failing(at)).ainvoke({"task": "add two apples"}, CONFIG)
    bank = MemoryBank(store, NAMESPACE)
    assert (await aresolve_overdue(bank, model=failing(at))).waiting == 1
    assert await aresolve_overdue(bank, model=learner(titles=("one",))) == (1, 0, 0, None)
    assert titles(bank) == ["one"]


@pytest.mark.parametrize("at", ["judge", "distil"])
def test_several_attempts_wait_together_and_are_contrasted_later(at):
    store, answers = indexed_memory(), iter(["14", "3"])
    judge = ReferenceJudge() if at == "distil" else None
    graph = create_matts(
        lambda _: {"answer": next(answers)}, model=failing(at), judge=judge, k=2, namespace=NAMESPACE, max_concurrency=1
    ).compile(store=store, checkpointer=InMemorySaver())
    graph.invoke({"task": "add two apples", "reference": "14"}, CONFIG)
    bank = MemoryBank(store, NAMESPACE)
    (pending,) = bank.pending()
    assert len(pending.group) == (2 if at == "distil" else 1)
    assert resolve_overdue(bank, model=learner(titles=("one",))).resolved == 1
    assert {item.outcome for item in bank.items()} == {"contrast" if at == "distil" else "success"}
    assert {one.experience_id for one in [*bank.items(), *bank.episodes()]} == {pending.experience_id}


def test_an_outage_while_a_verdict_is_distilled_keeps_the_verdict_and_the_attempt():
    store = indexed_memory()
    attempt = run(store)["pending"]["id"]
    bank = MemoryBank(store, NAMESPACE)
    done = bank.resolve(attempt, WRONG, model=failing("distil"))
    assert (done.added, done.failure_kind) == (0, "unreachable")
    assert "no model" in done.failure
    (pending,) = bank.pending()
    assert (pending.verdict.status, pending.verdict.judge) == ("failure", "user")
    assert [one.outcome for one in bank.episodes()] == ["failure"]
    assert resolve_overdue(bank, model=learner("success", ("one",))).resolved == 1
    assert [(item.title, item.outcome) for item in bank.items()] == [("one", "failure")]


def test_an_outage_while_a_verdict_is_overturned_takes_the_old_lessons_out_of_use_at_once():
    store = indexed_memory()
    attempt = run(store)["pending"]["id"]
    bank = MemoryBank(store, NAMESPACE)
    first = bank.resolve(attempt, RIGHT, model=learner(titles=("one",)))
    done = bank.resolve(attempt, WRONG, model=failing("distil"))
    assert (done.superseded, titles(bank), len(bank.pending())) == (first.ids, [], 1)
    assert resolve_overdue(bank, model=learner(titles=("two",))).resolved == 1
    (anew,) = [item for item in bank.items() if item.status == "active"]
    assert (anew.title, anew.outcome, list(anew.supersedes)) == ("two", "failure", first.ids)
    assert bank.resolve(attempt, RIGHT, model=ScriptedChatModel([])).ids == first.ids
    assert (titles(bank), bank.pending()) == (["one"], [])


def test_a_user_who_knows_better_overturns_the_verdict_of_an_attempt_that_waits_for_its_lessons():
    store = indexed_memory()
    attempt = run(store, learn=True, model=failing("distil"))["pending"]["id"]
    bank = MemoryBank(store, NAMESPACE)
    bank.resolve(attempt, WRONG, model=learner(titles=("one",)))
    assert [(item.title, item.outcome) for item in bank.items()] == [("one", "failure")]
    (kept,) = bank.episodes()
    assert (kept.outcome, [past.status for past in kept.earlier], bank.pending()) == ("failure", ["success"], [])


def test_what_nobody_resolves_is_judged_after_its_time_and_given_up_after_a_longer_one():
    store = indexed_memory()
    bank = MemoryBank(store, NAMESPACE)
    run(store, "add two apples")
    assert resolve_overdue(bank, model=ScriptedChatModel([])) == (0, 0, 1, None)
    aged(bank, 8)
    run(store, "add two pears")
    assert resolve_overdue(bank, model=learner(titles=("one",))) == (1, 0, 1, None)
    assert [item.task for item in bank.items()] == ["add two apples"]
    aged(bank, 31)
    left = resolve_overdue(bank, model=ScriptedChatModel([]), drop_after=timedelta(days=30))
    assert (left, bank.pending(), len(bank.episodes())) == ((0, 1, 0, None), [], 1)


def test_a_model_that_is_down_is_asked_once_and_not_for_every_attempt():
    store = indexed_memory()
    for task in ("add two apples", "add two pears"):
        run(store, task, learn=True, model=failing("judge"))
    bank, model = MemoryBank(store, NAMESPACE), failing("judge")
    done = resolve_overdue(bank, model=model)
    assert (done.resolved, done.waiting, len(model.calls)) == (0, 2, 1)
    assert "no model" in done.failure


def test_a_judge_of_ones_own_that_fails_at_one_attempt_does_not_keep_the_others_from_being_judged():
    def judge(attempt):
        if "apples" in attempt.task:
            raise KeyError("apples")
        return True

    store = indexed_memory()
    for task in ("add two apples", "add two pears"):
        run(store, task)
    bank = MemoryBank(store, NAMESPACE)
    done = resolve_overdue(bank, model=learner(titles=("one",)), judge=judge, after=timedelta(0))
    assert (done.resolved, done.waiting, [one.task for one in bank.pending()]) == (1, 1, ["add two apples"])


def test_an_attempt_that_no_judge_can_decide_waits_on_for_a_person_but_not_for_a_model():
    def unsure(_):
        return Verdict(status="indeterminate", reason="no_evidence")

    store = indexed_memory()
    run(store, "add two apples")
    run(store, "add two pears", learn=True, model=failing("judge"))
    bank = MemoryBank(store, NAMESPACE)
    done = resolve_overdue(bank, model=learner(), judge=unsure, after=timedelta(0))
    assert (done.resolved, done.dropped, [one.task for one in bank.pending()]) == (0, 1, ["add two apples"])


def test_a_reference_is_there_when_an_attempt_is_judged_later():
    store = indexed_memory()
    graph = app(store)
    for task, reference in (("add two apples", "14"), ("add two pears", "99")):
        graph.invoke({"task": task, "reference": reference}, CONFIG)
    bank = MemoryBank(store, NAMESPACE)
    resolve_overdue(bank, model=learner(titles=("one",)), judge=ReferenceJudge(), after=timedelta(0))
    assert [one.outcome for one in bank.episodes()] == ["success", "failure"]


def test_a_guard_counts_an_attempt_that_was_judged_later_and_once():
    store = indexed_memory()
    bank = MemoryBank(store, NAMESPACE)
    run(store, "count the plums", learn=True, model=learner(titles=("one",)))
    for at, task in (("judge", "add two apples"), ("distil", "add two pears")):
        run(store, task, learn=True, model=failing(at), guard=Guard(share=0.5))
    assert bank.guard().shown + bank.guard().held_out == 1
    resolve_overdue(bank, model=learner(titles=("two",)))
    assert bank.guard().shown + bank.guard().held_out == 2


def test_a_reply_that_cannot_be_read_is_no_outage():
    store = indexed_memory()
    builder = create_reasoning_bank(solver, model=ScriptedChatModel([verdict(), "?", "?"]), namespace=NAMESPACE)
    builder.compile(store=store).invoke({"task": "add two apples"})
    bank = MemoryBank(store, NAMESPACE)
    assert (bank.pending(), len(bank.episodes())) == ([], 1)


def test_the_log_says_that_the_attempt_waits(caplog):
    with caplog.at_level(logging.WARNING):
        run(indexed_memory(), learn=True, model=failing("judge"))
    assert "no model" in caplog.text


def test_a_verdict_reaches_lessons_that_a_replay_of_the_attempt_learned():
    store, saver = indexed_memory(), InMemorySaver()
    graph = app(store, learn=True, model=failing("distil"), saver=saver)
    attempt = graph.invoke({"task": "add two apples"}, CONFIG)["pending"]["id"]
    past = next(state for state in graph.get_state_history(CONFIG) if state.next == ("extract",))
    app(store, learn=True, model=learner(titles=("one",)), saver=saver).invoke(None, past.config)
    bank = MemoryBank(store, NAMESPACE)
    assert (titles(bank), bank.pending()) == (["one"], [])
    bank.resolve(attempt, WRONG, model=learner(titles=("two",)))
    assert (titles(bank), titles(bank, "superseded")) == (["two"], ["one"])


@pytest.mark.parametrize("reached", [True, False], ids=["distilled", "to be distilled"])
@pytest.mark.parametrize("learn", ["deferred", "background"])
def test_a_person_who_was_quicker_than_the_model_is_right(learn, reached):
    def judge(attempt):
        (waiting,) = bank.pending()
        bank.resolve(waiting.id, WRONG, model=learner(titles=("one",)) if reached else failing("distil"))
        return True

    store = indexed_memory()
    bank = MemoryBank(store, NAMESPACE)
    run(store, learn=learn, model=learner(titles=("two",)), judge=judge)
    if learn == "deferred":
        resolve_overdue(bank, model=learner(titles=("two",)), judge=judge, after=timedelta(0))
    assert drain()
    assert [(one.outcome, one.earlier) for one in bank.episodes()] == [("failure", ())]
    assert (titles(bank), len(bank.pending())) == ((["one"], 0) if reached else ([], 1))
    resolve_overdue(bank, model=learner(titles=("three",)))
    assert [(item.title, item.outcome) for item in bank.items()] == [("one" if reached else "three", "failure")]


async def test_an_opinion_that_may_not_overturn_a_verdict_asks_no_model_and_leaves_it():
    store = indexed_memory()
    attempt = run(store)["pending"]["id"]
    bank = MemoryBank(store, NAMESPACE)
    first = bank.resolve(attempt, WRONG, model=learner(titles=("one",)), overturns=False)
    done = await bank.aresolve(attempt, RIGHT, model=ScriptedChatModel([]), overturns=False)
    assert (done.ids, done.added, done.superseded) == (first.ids, 0, ())
    assert (await bank.aresolve(attempt, RIGHT, model=learner(titles=("two",)))).superseded == first.ids


@pytest.mark.parametrize("episodes", [True, False])
def test_an_opinion_leaves_a_verdict_alone_whose_lessons_a_model_has_still_to_distil(episodes):
    store = indexed_memory()
    attempt = run(store, episodes=episodes)["pending"]["id"]
    bank = MemoryBank(store, NAMESPACE)
    assert bank.resolve(attempt, WRONG, model=failing("distil")).failure
    assert bank.resolve(attempt, RIGHT, model=ScriptedChatModel([]), overturns=False).added == 0
    assert [one.verdict.status for one in bank.pending()] == ["failure"]

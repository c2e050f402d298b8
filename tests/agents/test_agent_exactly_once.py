"""A turn of an agent is learned once, whatever is retried, resumed, replayed or forked, and on its own branch."""

import pytest
from langchain_core.tools import tool
from langgraph.types import Command, interrupt

from reasoningbank_langgraph import ReasoningBankMiddleware
from reasoningbank_langgraph.testing import ScriptedChatModel, ScriptedToolModel
from tests.agents.agent_fakes import BANK, FENCE, agent, bank, bank_with, call, replies, say, thread, titles
from tests.killed import found_by
from tests.loop_fakes import Switched, indexed_memory, learner, lessons, verdict


def counting(*, fails=()):
    """A model that judges and distils, fails in these calls, and says something else each time."""
    calls = []

    def reply(messages):
        calls.append("judge" if "You check whether" in messages[0].text else "extract")
        if len(calls) in fails:
            raise KeyboardInterrupt
        return verdict() if calls[-1] == "judge" else lessons("check the units", way=len(calls))

    return calls, ReasoningBankMiddleware(model=ScriptedChatModel(reply), namespace=BANK)


def ids(store):
    return [item.id for item in bank(store).items()]


@pytest.mark.parametrize(
    ("fails", "asked"), [((1,), ["judge", "judge", "extract"]), ((2,), ["judge", "extract", "extract"])]
)
def test_a_run_that_breaks_off_while_it_learns_goes_on_where_it_was(fails, asked):
    calls, memory = counting(fails=fails)
    store = indexed_memory()
    app = agent(replies("3 m"), store=store, memory=memory)
    with pytest.raises(KeyboardInterrupt):
        app.invoke(say("How long is this table?"), thread(), durability="sync")
    assert ids(store) == []
    app.invoke(None, thread(), durability="sync")
    assert calls == asked
    assert len(ids(store)) == 1
    assert app.get_state(thread()).values["written"] == ids(store)


def test_lessons_whose_write_fails_are_written_as_they_were_distilled():
    calls, memory = counting()
    store = Switched()
    app = agent(replies("3 m"), store=store, memory=memory)
    store.writes = RuntimeError("disk")
    with pytest.raises(RuntimeError, match="disk"):
        app.invoke(say("How long is this table?"), thread(), durability="sync")
    store.writes = None
    app.invoke(None, thread(), durability="sync")
    assert calls == ["judge", "extract"]
    assert titles(store) == ["check the units"]


def test_a_replayed_turn_adds_nothing():
    calls, memory = counting()
    store = indexed_memory()
    app = agent(ScriptedToolModel(lambda _: "3 m"), store=store, memory=memory)
    app.invoke(say("How long is this table?"), thread())
    before = ids(store)
    assert len(before) == 1
    for state in list(app.get_state_history(thread())):
        if state.next:
            app.invoke(None, state.config)
    assert ids(store) == before
    assert len(bank(store).episodes()) == 1
    assert len(calls) > 2


def test_a_fork_with_another_answer_is_another_attempt_and_the_left_branch_is_not_shown_on_it():
    store = indexed_memory()
    memory = ReasoningBankMiddleware(model=learner(titles=("use a tape",)), namespace=BANK, k=5, max_items=9)
    app = agent(replies("3 m", "4 m", "5 m", "6 m"), store=store, memory=memory)
    for what in ("table", "chair"):
        app.invoke(say(f"How long is this {what}?"), thread())
    app.invoke(None, next(state for state in app.get_state_history(thread()) if state.next == ("__start__",)).config)
    assert len(bank(store).episodes()) == 3
    written = app.get_state(thread()).values["written"]
    (left,) = set(ids(store)) - set(written)
    assert [item.id for item in bank(store).reconcile("t1", app)] == [left]
    app.invoke(say("How long is this bed?"), thread())
    shown = app.get_state(thread()).values["ReasoningBankMiddleware(agents) shows"]["memories"]
    assert {memory["item"]["id"] for memory in shown} == set(written)


def test_another_thread_is_shown_what_one_thread_learned():
    model = replies("3 m", "4 m")
    app = agent(model, store=indexed_memory())
    app.invoke(say("How long is this table?"), thread("t1"))
    app.invoke(say("How long is that table?"), thread("t2"))
    assert [FENCE in request[-1].text for request in model.calls] == [False, True]


def test_what_was_learned_with_a_forgotten_lesson_is_forgotten_too():
    store = indexed_memory()
    app = agent(ScriptedToolModel(lambda _: "3 m"), store=store)
    for name in ("t1", "t2"):
        app.invoke(say(f"How long is this table in {name}?"), thread(name))
    assert len(bank(store).forget(thread_id="t1")) == 4
    assert ids(store) == []


@pytest.mark.slow
def test_killed_at_every_step_that_leaves_something_on_disk_an_agent_learns_its_turn_once(tmp_path):
    lives = found_by("agents.agent_crash_child", tmp_path)
    assert {"model", "judge", "extract", "before the write", "after the write", "before the result"} <= set(lives)
    for point, life in lives.items():
        assert life["killed"], point
        assert life["titles"] == ["first", "second"], point
        assert life["written"] == life["ids"], point
        assert life["episodes"] == 1, point
        assert life["before"] in ([], life["ids"]), point
        if point.startswith(("before", "after")):
            assert life["asked"] == 0, point


def test_a_turn_whose_tools_ask_a_person_again_and_again_is_shown_lessons_to_its_end_and_judged_once():
    @tool
    def pay(amount: int) -> str:
        """Pay a bill."""
        return f"{interrupt('May I?')}: paid {amount}"

    attempts = []
    memory = ReasoningBankMiddleware(
        model=learner(), namespace=BANK, judge=lambda attempt: not attempts.append(attempt)
    )
    store, model = bank_with(), replies(call("pay", amount=5), call("pay", "c2", amount=7), "All is paid.")
    app = agent(model, store=store, memory=memory, tools=[pay])
    app.invoke(say("Pay both bills"), thread())
    for _ in range(2):
        assert attempts == []
        app.invoke(Command(resume="yes"), thread())
    assert [FENCE in "".join(message.text for message in request) for request in model.calls] == [True] * 3
    (attempt,) = attempts
    assert (attempt.task, attempt.answer) == ("Pay both bills", "All is paid.")
    assert len(bank(store).episodes()) == 1

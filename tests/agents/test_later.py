"""An agent that answers first: its turns wait for a verdict, for a worker, or for a model that is out of reach."""

import pytest

from reasoningbank_langgraph import Guard, ReasoningBankMiddleware, Verdict
from reasoningbank_langgraph.learn import drain
from reasoningbank_langgraph.testing import ScriptedChatModel, ScriptedToolModel
from tests.agents.agent_fakes import BANK, agent, bank, call, replies, say, thread, titles
from tests.agents.test_agent_turns import measure
from tests.loop_fakes import indexed_memory, learner

RIGHT = Verdict(status="success", rationale="thumb up", judge="user")


def later(solving, store, learn, **settings):
    memory = ReasoningBankMiddleware(**{"namespace": BANK, "learn": learn, **settings})
    return agent(solving, store=store, memory=memory, tools=[measure])


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_deferred_turn_waits_with_its_tools_for_a_verdict_and_is_learned_from_once(is_async):
    store = indexed_memory()
    app = later(replies(call("measure", what="table"), "3 m"), store, "deferred")
    given = (say("How long is this table?"), thread())
    _ = await app.ainvoke(*given) if is_async else app.invoke(*given)
    (waiting,) = bank(store).pending()
    assert (waiting.task, waiting.thread_id, waiting.answer) == ("How long is this table?", "t1", "3 m")
    assert [message.role for message in waiting.group[0].messages] == ["user", "assistant", "tool", "assistant"]
    assert app.get_state(thread()).values["pending"]["id"] == waiting.id
    model = learner()
    for _ in range(2):
        bank(store).resolve(waiting.id, RIGHT, model=model)
    assert titles(store) == ["check the units", "draw a picture"]
    assert [episode.id for episode in bank(store).episodes()] == [waiting.id]
    assert len(model.calls) == 1


def test_a_deferred_turn_that_is_replayed_waits_once():
    store = indexed_memory()
    app = later(ScriptedToolModel(lambda _: "3 m"), store, "deferred")
    app.invoke(say("How long is this table?"), thread())
    start = next(state for state in app.get_state_history(thread()) if state.next == ("__start__",))
    app.invoke(None, start.config)
    assert len(bank(store).pending()) == 1


def test_in_the_background_a_turn_is_judged_after_the_answer():
    store, model = indexed_memory(), learner()
    app = later(replies("3 m"), store, "background", model=model)
    app.invoke(say("How long is this table?"), thread())
    assert drain(timeout=60)
    assert titles(store) == ["check the units", "draw a picture"]
    assert bank(store).pending() == []
    assert len(model.calls) == 2


def test_in_the_background_too_a_tool_says_what_a_success_is():
    store = indexed_memory()
    memory = {"model": learner(), "verdict_from": {"measure": lambda result: "4 m" in result}}
    app = later(replies(call("measure", what="table"), "4 m"), store, "background", **memory)
    app.invoke(say("How long is this table?"), thread())
    assert drain(timeout=60)
    (episode,) = bank(store).episodes()
    assert (episode.outcome, episode.provenance.judge) == ("failure", "tool:measure")


def test_a_turn_that_no_model_could_judge_waits_for_one():
    store = indexed_memory()
    app = later(replies("3 m"), store, True, model=ScriptedChatModel(lambda _: ConnectionError("refused")))
    app.invoke(say("How long is this table?"), thread())
    (waiting,) = bank(store).pending()
    assert waiting.waits_for == "model"


def test_what_a_guard_decided_for_a_turn_counts_when_its_verdict_comes():
    store = indexed_memory()
    app = later(replies("3 m", "4 m"), store, "deferred", guard=Guard(share=0.01))
    for what in ("table", "chair"):
        app.invoke(say(f"How long is this {what}?"), thread())
        bank(store).resolve(bank(store).pending()[0].id, RIGHT, model=learner())
    assert (bank(store).guard().shown, bank(store).guard().shown_right) == (1, 1)

"""Failures of the past are shown before a risky call, once, and the model decides again."""

import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.types import Command, interrupt

from reasoningbank_langgraph import Guard, ReasoningBankMiddleware
from tests.agents.agent_fakes import BANK, FENCE, agent, bank, bank_with, call, lesson, replies, say, thread
from tests.loop_fakes import Switched, learner

RISKY = {"deploy": lambda call: f"deploy to {call['place']}"}
FAILED = lesson("back up before you deploy to production", "failure", task="Deploy the shop to production")
WORKED = lesson("deploy to staging first", "success", task="Deploy the blog to production")
DONE = []


@tool
def deploy(place: str) -> str:
    """Deploy the code."""
    DONE.append(place)
    return f"deployed to {place}"


@pytest.fixture(autouse=True)
def nothing_done():
    DONE.clear()


def careful(model, store, *, also=(), **settings):
    settings = {"model": learner(), "namespace": BANK, "check_before": RISKY, "min_score": 1, **settings}
    return agent(model, store=store, memory=ReasoningBankMiddleware(**settings), tools=[deploy], also=also)


def calls(place="production", call_id="c1"):
    return call("deploy", call_id, place=place)


@pytest.mark.parametrize("is_async", [False, True])
async def test_the_model_sees_failures_before_a_risky_call_and_its_second_decision_counts(is_async):
    model = replies(calls(), calls("staging"), "Deployed.")
    app = careful(model, bank_with(FAILED, WORKED))
    given = (say("Ship it."), thread())
    result = await app.ainvoke(*given) if is_async else app.invoke(*given)
    assert DONE == ["staging"]
    first, second, third = model.calls
    assert [FENCE in request[-1].text for request in (first, second, third)] == [False, True, False]
    assert second[:-1] == first
    assert second[-1].text.startswith("You are about to call deploy, which has not happened yet.")
    assert "back up before" in second[-1].text
    assert "staging first" not in second[-1].text
    assert [message.text for message in result["messages"]] == ["Ship it.", "", "deployed to staging", "Deployed."]


def test_a_crowd_of_successes_hides_no_failure():
    crowd = [lesson(f"deploy to production {name}", task=f"Deploy {name} to production") for name in "abcdefghijkl"]
    model = replies(calls(), "I do not deploy.")
    careful(model, bank_with(*crowd, FAILED)).invoke(say("Ship it."), thread())
    assert "back up before" in model.calls[1][-1].text
    assert DONE == []


def test_a_failure_is_shown_once_in_a_turn():
    model = replies(calls(), calls(), calls(call_id="c2"), "Deployed twice.")
    careful(model, bank_with(FAILED)).invoke(say("Ship it."), thread())
    assert DONE == ["production", "production"]
    assert len(model.calls) == 4


def test_a_failure_that_the_turn_began_with_is_not_shown_again():
    model = replies(calls(), "Deployed.")
    careful(model, bank_with(FAILED), min_score=None).invoke(say("Deploy the forum to production."), thread())
    assert len(model.calls) == 2
    assert DONE == ["production"]


def test_without_a_known_failure_and_for_other_tools_nothing_changes():
    model = replies(calls(), "Deployed.", "Hello.")
    app = careful(model, bank_with(WORKED))
    app.invoke(say("Ship it."), thread())
    app.invoke(say("Say hello."), thread())
    assert len(model.calls) == 3
    assert DONE == ["production"]


def test_what_was_shown_before_a_call_counts_as_used():
    store = bank_with(FAILED)
    careful(replies(calls(), "I do not deploy."), store).invoke(say("Ship it."), thread())
    first, *learned = bank(store).items()
    assert {item.provenance.memory_ids_used for item in learned} == {(first.id,)}
    assert DONE == []


def test_a_person_is_asked_about_the_decision_that_counts():
    model = replies(calls(), calls("staging"))
    asking = HumanInTheLoopMiddleware(interrupt_on={"deploy": True})
    paused = careful(model, bank_with(FAILED), also=[asking]).invoke(say("Ship it."), thread())
    (request,) = paused["__interrupt__"][0].value["action_requests"]
    assert request["args"] == {"place": "staging"}


def test_a_turn_that_the_guard_wants_without_memory_is_not_checked():
    store, model = bank_with(FAILED), replies(calls(), "Deployed.")
    app = careful(model, store, guard=Guard(share=0.999), min_score=None)
    app.invoke(say("Deploy the forum to production."), thread())
    assert len(model.calls) == 2
    assert bank(store).guard().held_out == 1


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_store_that_cannot_be_reached_holds_no_call_back(is_async):
    store = Switched()
    model = replies(calls(), "Deployed.")
    app = careful(model, store)
    store.reads = ConnectionError("refused")
    given = (say("Ship it."), thread())
    _ = await app.ainvoke(*given) if is_async else app.invoke(*given)
    assert DONE == ["production"]


@pytest.mark.parametrize(
    ("tell", "problem"),
    [
        (lambda call: f"deploy to {call['place']}", "KeyError"),
        (lambda call: call.get("place"), "None"),
        (lambda call: 7, "7"),
        (lambda call: "\u200b", "u200b"),
    ],
    ids=["raises", "says nothing", "says no text", "says what nobody sees"],
)
def test_a_call_that_its_function_cannot_tell_is_looked_up_as_it_is_and_ends_no_turn(tell, problem, caplog):
    model = replies(call("deploy", "c1", to="production"), "I do not deploy.")
    careful(model, bank_with(FAILED), check_before={"deploy": tell}).invoke(say("Ship it."), thread())
    assert "back up before" in model.calls[1][-1].text
    assert "check_before['deploy'] fails" in caplog.text
    assert problem in caplog.text


def test_a_function_may_ask_a_person_what_a_call_does():
    tell = {"deploy": lambda call: f"deploy to {interrupt('where to?')}"}
    model = replies(calls("here"), calls("here"), "I do not deploy.")
    app = careful(model, bank_with(FAILED), check_before=tell)
    assert app.invoke(say("Ship it."), thread())["__interrupt__"][0].value == "where to?"
    app.invoke(Command(resume="production"), thread())
    assert "back up before" in model.calls[2][-1].text
    assert DONE == []

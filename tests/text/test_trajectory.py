"""What judges and extractors are shown of an attempt: who said what, which call a result answers, and what failed."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from reasoningbank_langgraph import Attempt
from reasoningbank_langgraph.text.trajectory import trajectory_block


def shown(*messages):
    return trajectory_block(Attempt(task="t", messages=messages), 9_000)


def call(name, number, **arguments):
    return {"name": name, "args": arguments, "id": number}


def as_openai(name, number, arguments):
    return {"id": number, "type": "function", "function": {"name": name, "arguments": arguments}}


BOTH = [
    AIMessage("", tool_calls=[call("weather", "a", city="Rome"), call("time", "b", city="Rome")]),
    ToolMessage("503", tool_call_id="b", status="error"),
    ToolMessage("12", tool_call_id="a", name="weather"),
]
AS_DICTS = [
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [as_openai("weather", "a", "Rome"), as_openai("time", "b", "Rome")],
    },
    {"role": "tool", "content": "503", "tool_call_id": "b", "status": "error"},
    {"role": "tool", "content": "12", "tool_call_id": "a"},
]


@pytest.mark.parametrize("messages", [BOTH, AS_DICTS], ids=["messages", "dicts"])
def test_results_of_parallel_calls_are_matched_to_their_calls_and_say_what_failed(messages):
    text = shown(*messages)
    assert "calls #1 weather(" in text
    assert "calls #2 time(" in text
    assert "(tool time #2 error) 503" in text
    assert "(tool weather #1) 12" in text


def test_ids_that_are_numbers_are_matched_too_and_a_status_may_be_one():
    calls = {"role": "assistant", "tool_calls": [as_openai("weather", 1, "Rome"), as_openai("time", 2, "Rome")]}
    text = shown(calls, {"role": "tool", "content": "12", "tool_call_id": 1, "status": 200})
    assert "(tool weather #1) 12" in text


def test_a_single_call_needs_no_number():
    text = shown(BOTH[0].model_copy(update={"tool_calls": [call("weather", "a", city="Rome")]}), BOTH[2])
    assert 'calls weather({"city": "Rome"})' in text
    assert "(tool weather) 12" in text


def test_speakers_have_their_names_on_one_line():
    text = shown(HumanMessage("hi", name="ann"), AIMessage("12", name="worker_b"), AIMessage("x", name="a\nb) (user"))
    assert "(user ann) hi" in text
    assert "(assistant worker_b) 12" in text
    assert "\n(assistant a b" in text


def test_a_call_whose_arguments_the_model_garbled_is_shown():
    garbled = [{"name": "weather", "args": '{"city": Ro', "id": "a", "error": None, "type": "invalid_tool_call"}]
    assert 'calls weather("{\\"city\\": Ro")' in shown(AIMessage("", invalid_tool_calls=garbled))


def test_ids_and_the_fate_of_a_call_leave_the_identity_of_an_attempt_as_it_was():
    one, other = (
        Attempt(task="t", messages=[ToolMessage("12", tool_call_id=number, status=status)])
        for number, status in (("a", "error"), ("b", "success"))
    )
    assert one.digest("t") == other.digest("t")
    plain = Attempt(task="t", messages=[{"role": "tool", "content": "12"}])
    assert one.digest("t") == plain.digest("t")

"""Whatever a model returns, judge and extractor name a reason; whatever a trajectory holds, it becomes plain data."""

import json
import sys
from types import SimpleNamespace

import pytest
from langchain_core.messages import AIMessage

from reasoningbank_langgraph import Attempt, LLMJudge, SelfConsistencyJudge, Verdict
from reasoningbank_langgraph.errors import InvalidRecordError
from reasoningbank_langgraph.extraction import Judged, LessonExtractor
from reasoningbank_langgraph.messages import to_messages
from reasoningbank_langgraph.parsing import parse_items, parse_verdict
from reasoningbank_langgraph.testing import ScriptedChatModel
from reasoningbank_langgraph.text.trajectory import trajectory_block

ATTEMPT = Attempt(task="t", messages=[("user", "t")], answer="1")


def nested(levels, kind=dict):
    value = 1
    for _ in range(levels):
        value = {"a": value} if kind is dict else [value]
    return value


def call(args):
    return {"name": "reply", "args": args, "id": "1", "type": "tool_call"}


def raw(arguments):
    return AIMessage("", additional_kwargs={"tool_calls": [{"function": {"name": "reply", "arguments": arguments}}]})


def odd(**fields):
    """Make a message no validation was asked about, as servers' clients sometimes do."""
    return AIMessage.model_construct(**{"content": "", "tool_calls": [], "invalid_tool_calls": []} | fields)


ODD = {
    **{f"call nested {levels} times": AIMessage("", tool_calls=[call(nested(levels))]) for levels in (100, 600, 900)},
    "call nested 10,000 times": odd(tool_calls=[call(nested(10_000))]),
    "lists nested 10,000 times": odd(tool_calls=[call(nested(10_000, list))]),
    "arguments nested 10,000 times": raw('{"a":' * 10_000 + "1" + "}" * 10_000),
    "text nested 10,000 times": '{"status": ' * 10_000 + "1" + "}" * 10_000,
    "lists in a text nested 10,000 times": '{"items": ' + "[" * 10_000 + "]" * 10_000 + "}",
    "number of 5,000 digits": '{"items": ' + "9" * 5_000 + "}",
    "number of 5,000 digits in a call": raw('{"status": ' + "9" * 5_000 + "}"),
    "NaN": '{"status": NaN, "items": [NaN, Infinity, -Infinity]}',
    "lone surrogate": '{"status": "\\ud800", "items": [{"title": "\\ud800"}]}',
    "raw surrogate": '{"status": "\ud800"}',
    "no content": odd(content=None),
    "content of another kind": odd(content=7),
    "content that is an object": odd(content={"type": "text", "text": "hm"}),
    "odd blocks": odd(content=[None, 7, [], {}, {"type": None}, {"type": 3, "text": "a"}, {"type": "text", "text": 5}]),
    "deep block": odd(content=[{"type": "text", "text": nested(10_000)}, {"type": nested(10_000)}]),
    "deep thinking": odd(content=[{"type": "thinking", "thinking": nested(10_000)}]),
    "call without arguments": odd(tool_calls=[call(None)]),
    "call with a number": odd(tool_calls=[call(7)]),
    "call that is a text": odd(tool_calls=["reply", None, 7]),
    "calls that are no list": odd(tool_calls=7),
    "broken call": AIMessage("", invalid_tool_calls=[{"name": "reply", "args": '{"a": [', "id": "1", "error": "e"}]),
    "broken call without arguments": AIMessage("", invalid_tool_calls=[dict.fromkeys(("name", "args", "id", "error"))]),
    "odd function": odd(additional_kwargs={"tool_calls": [{"function": 7}], "function_call": [1]}),
    "deep metadata": odd(response_metadata={"finish_reason": nested(10_000), "incomplete_details": 7}),
    "no metadata": odd(response_metadata=None, additional_kwargs=None),
}  # fmt: skip


@pytest.mark.parametrize("reply", ODD.values(), ids=ODD)
def test_an_odd_reply_is_named_and_never_raised(reply):
    judged, parsed = parse_verdict(reply), parse_items(reply)
    assert (judged.status, judged.reason) == ("indeterminate", "unparsed")
    assert (parsed.items, parsed.reason in ("unparsed", "empty")) == ([], True)


@pytest.mark.parametrize("name", ["call nested 900 times", "call nested 10,000 times", "no content", "odd blocks"])
async def test_judge_and_extractor_get_over_odd_replies(name):
    model = ScriptedChatModel(lambda messages: ODD[name])
    assert LLMJudge(model)(ATTEMPT).status == "indeterminate"
    assert (await LLMJudge(model).ainvoke(ATTEMPT)).status == "indeterminate"
    judged = Judged(ATTEMPT, Verdict(status="success"))
    assert LessonExtractor(model).invoke(judged).items == []
    assert (await LessonExtractor(model).ainvoke(judged)).items == []
    assert SelfConsistencyJudge(model, n=1)(ATTEMPT).status == "indeterminate"
    assert (await SelfConsistencyJudge(model, n=1).ainvoke(ATTEMPT)).status == "indeterminate"


def test_what_is_readable_beside_an_odd_part_is_read():
    assert parse_verdict(odd(content="Status: failure", tool_calls=[call(nested(10_000))])).status == "failure"
    assert parse_verdict(odd(content=[7, {"type": "text", "text": "Status: failure"}, None])).status == "failure"
    assert parse_verdict(odd(content={"type": "text", "text": "Status: failure"})).status == "failure"
    assert parse_verdict(SimpleNamespace(content="Status: failure")).status == "failure"


def test_a_trajectory_keeps_what_json_can_hold_and_names_the_rest():
    args = {"deep": nested(10_000), "huge": 10**30, "endless": 10**5_000, "nan": float("nan"), "bytes": b"x", 7: (1,)}
    kept = to_messages([{"role": "assistant", "content": "", "tool_calls": [call(args)]}])[0].tool_calls[0]["args"]
    assert "[too deep]" in json.dumps(kept["deep"])
    others = {name: value for name, value in kept.items() if name != "deep"}
    assert others == {"huge": str(10**30), "endless": "[int]", "nan": "nan", "bytes": "[bytes]", "7": [1]}


def test_a_deep_trajectory_is_shown_judged_and_named():
    deep = odd(content=[{"type": "text", "text": "hm"}, nested(10_000)], tool_calls=[call(nested(10_000))])
    attempt = Attempt(task="t", messages=[deep], answer="1")
    assert "[too deep]" in trajectory_block(attempt, 12_000)
    assert attempt.digest("t") == Attempt(task="t", messages=[deep], answer="1").digest("t")
    assert Attempt.model_validate(attempt.model_dump(mode="json")) == attempt


@pytest.mark.parametrize("messages", [[nested(10_000, list)], [nested(10_000)], [{"role": nested(9_999)}], [10**5_000]])
def test_what_is_no_message_is_refused_by_name(messages):
    with pytest.raises(InvalidRecordError):
        Attempt(task="t", messages=messages)


def test_a_call_that_is_no_mapping_is_refused_by_name():
    with pytest.raises(InvalidRecordError, match="tool call must be a mapping"):
        to_messages([{"role": "assistant", "content": "", "tool_calls": ["reply"]}])


def test_the_limit_of_recursion_is_left_alone():
    before = sys.getrecursionlimit()
    parse_verdict(ODD["text nested 10,000 times"])
    assert sys.getrecursionlimit() == before

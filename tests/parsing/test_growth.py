"""Reading a reply of twice the length costs about twice as much, whatever is in it."""

import json

import pytest
from langchain_core.messages import AIMessage

from reasoningbank_langgraph import Attempt
from reasoningbank_langgraph.extraction import accept
from reasoningbank_langgraph.extraction.quotations import Quotations
from reasoningbank_langgraph.extraction.tips import parse_tip
from reasoningbank_langgraph.extraction.wording import wording_fault
from reasoningbank_langgraph.messages import content_text, to_messages
from reasoningbank_langgraph.parsing import parse_items, parse_verdict
from reasoningbank_langgraph.parsing.answers import answer_object
from reasoningbank_langgraph.parsing.json_escapes import double_latex, restore_latex
from reasoningbank_langgraph.parsing.json_objects import document, find_objects, without_last_brace
from reasoningbank_langgraph.parsing.json_text import Mender
from reasoningbank_langgraph.parsing.replies import looks_like_refusal, read_reply
from reasoningbank_langgraph.parsing.status_lines import status_lines
from reasoningbank_langgraph.parsing.status_words import is_placeholder, read_status
from reasoningbank_langgraph.text.trajectory import trajectory_block
from tests.growth import assert_linear, repeated

pytestmark = pytest.mark.slow

SIZES = (25_000, 100_000)
ITEM = '{"title": "a", "description": "b", "content": "c"}'
# fmt: off
UNITS = [
    "{", "[", '"', "\\", '\\"', "'", ",", ":", "1", " ", "\n", "\u2028", "\u0301", "\ud800", "```", "```json\n", "> ",
    "{}", "}{", "[{", '{"a":', '{"', '{"a": [', '{"a":"', '":"', '"a" ', '{"a": 1} x ', '{"a" b} ', "{a: {", "“", "‘",
    "{'a': 'b'}", "{'status': 'failure'} ", '{"status": "failure", "rationale": "it says "done" early"}',
    '{"status":"success"}', '{"x": {"status": "success"}, ', '"status": "success", ', '\n"status": "success"',
    "<think>", "</think> x ", "\n<think>", "[THINK]", "<|channel|>final<|message|>", "<|im_end|>",
    "Status:", "Status:\n", "Status: success\n", "Status: failure. ", "Thoughts:\n", "The attempt claims: ", "a:\n",
    "This is a failure. ", "The answer is wrong\n", "“", "「", "a, ", "it is not: ", "答案是错误的。",
    "# Memory Item", "# Memory Item 1\n", "# Memory Item 1\n## Title A\n## Description B\n## Content C\n", "Title: a\n",
    "sorry ", "status: \n", "## Title\n", "**title", '{"items": [', "{'a': 'b' c ", '{"status": "success",', "{a:",
    ITEM, ITEM + "\n", ITEM.replace('"', "'") + ",\n", '{"items": [{"title": "A", "content": "',
]
# fmt: on


def read(text):
    parse_verdict(text)
    parse_items(text)
    answer_object(text, "answer")


@pytest.mark.parametrize("unit", UNITS, ids=ascii)
def test_a_reply_is_read_in_linear_time(unit):
    assert_linear(read, repeated(unit), SIZES)


@pytest.mark.parametrize(
    "unit", ["{", "[", '"', "'", "\\", '"a":', "{}", "{'a': 'b'}", ITEM, '"status": "success", ', " "], ids=ascii
)
@pytest.mark.parametrize("around", [('{"a":', ""), ('{"a": "', '"}'), ("{'a': [", "]}"), ("Status: ", "")], ids=ascii)
def test_a_reply_with_a_frame_is_read_in_linear_time(unit, around):
    assert_linear(read, repeated(unit, *around), SIZES)


def test_openers_and_then_closers_of_another_kind_are_read_in_linear_time():
    assert_linear(read, lambda size: '{"a":' + "{" * (size // 2) + "]" * (size // 2))
    assert_linear(read, lambda size: '{"a":' + "[" * (size // 2) + "}" * (size // 2))
    assert_linear(read, lambda size: '{"a":' * (size // 7) + "}]" * (size // 7))


def document_of(value):
    return lambda size: json.dumps(value(size))


@pytest.mark.parametrize(
    "make",
    [
        document_of(lambda size: {"status": "failure", "rationale": '{"status": "success"} ' * (size // 26)}),
        document_of(lambda size: {"status": "failure", "steps": [{"status": "failure"}] * (size // 23)}),
        document_of(lambda size: {"status": "failure"} | {f"k{n}": n for n in range(size // 14)}),
        document_of(lambda size: [{"status": "failure"}] * (size // 23)),
        document_of(lambda size: {"items": [json.loads(ITEM)] * (size // 52)}),
        document_of(lambda size: {"items": [{"title": "a", "description": "b", "content": "\\frac " * (size // 7)}]}),
        lambda size: '{"status": "failure", "status": "failure"' + ', "status": "failure"' * (size // 21) + "}",
        lambda size: '{"confidence": ' + "7" * size + "}",
    ],
    ids=["quotations", "objects", "keys", "list", "items", "latex", "one key", "digits"],
)
def test_a_document_is_read_in_linear_time(make):
    assert_linear(read, make)


PARTS = {
    "find_objects": find_objects,
    "document": document,
    "without_last_brace": without_last_brace,
    "double_latex": double_latex,
    "restore_latex": restore_latex,
    "mend": lambda text: Mender().mend(text),
    "status_lines": status_lines,
    "read_reply": read_reply,
    "looks_like_refusal": looks_like_refusal,
    "read_status": read_status,
    "is_placeholder": is_placeholder,
}


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_every_part_of_reading_is_linear(part):
    for unit in ("\\n", "\\ ", "{", "[ ", "<think>\n", "Status:\n", "\x0crac ", "sorry ", "can't ", '"', "a "):
        assert_linear(part, repeated(unit), SIZES)


def test_a_call_is_read_in_linear_time():
    def called(size):
        args = {"status": "failure", "steps": [{"a": "\x0crac"}] * (size // 12)}
        return AIMessage("", tool_calls=[{"name": "reply", "args": args, "id": "1"}])

    assert_linear(read, called)
    assert_linear(
        read,
        lambda size: AIMessage("", tool_calls=[{"name": "r", "args": {"a": n}, "id": "1"} for n in range(size // 40)]),
    )


@pytest.mark.parametrize(
    "unit", [" ", "\n", "a ", "0123456789abcdef ", "\\", "e\u0301", "Content ", '"content": "a"'], ids=ascii
)
def test_lessons_are_accepted_in_linear_time(unit):
    attempt = Attempt(task="t", messages=[("tool", "x")])

    def listed(size):
        item = {"title": "a", "description": "b", "content": "x" + repeated(unit)(size) + "y"}
        return AIMessage(json.dumps({"items": [item]}))

    assert_linear(lambda reply: accept([attempt], reply, 3), listed, SIZES)
    assert_linear(lambda text: Quotations([Attempt(task="t", answer=text)]).contain(json.loads(ITEM)), repeated(unit))


@pytest.mark.parametrize(
    "unit", [" ", "a ", ", a ", ", the, and ", "When a ", "problem that asks ", "**", "N + ", "$N "]
)
def test_tips_are_read_and_their_wording_checked_in_linear_time(unit):
    assert_linear(parse_tip, lambda size: f"When a problem {repeated(unit)(size)}, add what is there.", SIZES)
    fields = {"title": "t", "description": "d"}
    assert_linear(lambda text: wording_fault({**fields, "content": text}, "t"), repeated(unit), SIZES)


def test_a_trajectory_becomes_plain_data_in_linear_time():
    def messages(size):
        blocks = [{"type": "text", "text": "a" * 20}] * (size // 50)
        call = {"name": "f", "args": {"a": [{"b": [1] * 10}] * (size // 50)}, "id": "1"}
        return [AIMessage(blocks, tool_calls=[call])] * 2

    assert_linear(lambda given: [content_text(message.content) for message in to_messages(given)], messages)
    assert_linear(lambda given: trajectory_block(Attempt(task="t", messages=given), 12_000), messages)

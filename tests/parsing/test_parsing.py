"""What a model's reply is read as, form by form; the cases are tables in `tests/data`."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from reasoningbank_langgraph.parsing import parse_items, parse_verdict
from tests.conftest import check_each
from tests.data import item_replies, verdict_replies


def message(reply):
    """Build the message a table row describes; texts and odd values are passed on."""
    if not isinstance(reply, dict):
        return reply
    metadata = reply.get("meta") or ({"finish_reason": reply["finish"]} if "finish" in reply else {})
    return AIMessage(
        reply.get("content", ""),
        tool_calls=reply.get("tool_calls", []),
        invalid_tool_calls=reply.get("invalid", []),
        response_metadata=metadata,
        additional_kwargs=reply.get("extra", {}),
    )


@check_each(verdict_replies.CASES, name=lambda case: case.name)
def test_verdict_says_what_the_reply_says(case):
    verdict = parse_verdict(message(case.reply))
    assert (verdict.status, verdict.reason, verdict.confidence) == (case.status, case.reason, case.confidence)


@check_each(item_replies.CASES, name=lambda case: case.name)
def test_items_are_those_that_are_whole(case):
    parsed = parse_items(message(case.reply))
    titles = [item["title"] for item in parsed.items]
    assert (titles, parsed.reason, parsed.truncated) == (case.titles, case.reason, case.truncated)
    if case.content is not None:
        assert parsed.items[0]["content"] == case.content


def test_the_rationale_is_kept_with_its_latex():
    assert (
        parse_verdict(r'{"status": "failure", "rationale": "\frac{1}{2} \ne 0.6"}').rationale == r"\frac{1}{2} \ne 0.6"
    )


def test_a_rationale_in_a_list_is_its_lines():
    assert parse_verdict('{"rationale": ["step 1", "step 2"], "status": "failure"}').rationale == "step 1\nstep 2"


def test_the_rationale_of_a_status_line_is_the_thoughts_before_it():
    assert parse_verdict("Well.\nThoughts: step 2 adds twice.\nStatus: failure").rationale == "step 2 adds twice."


@pytest.mark.parametrize(
    "reply",
    ["no idea", {"content": "no", "finish": "content_filter"}, {"content": "Status: success", "finish": "length"}],
    ids=["unparsed", "refused", "truncated"],
)
def test_a_reply_that_decides_nothing_is_kept_as_rationale(reply):
    said = reply if isinstance(reply, str) else reply["content"]
    assert parse_verdict(message(reply)).rationale == said


def test_of_a_long_reply_that_decides_nothing_2000_characters_are_kept():
    assert parse_verdict("x" * 2001).rationale == "x" * 2000


def test_our_prompts_are_not_taken_for_answers():
    from reasoningbank_langgraph import prompts

    for name, prompt in vars(prompts).items():
        if isinstance(prompt, str) and not name.startswith("__"):
            echoed = prompt.replace("{{", "{").replace("}}", "}")
            assert parse_verdict(echoed).status == "indeterminate", name
            assert parse_items(echoed).items == [], name


# fmt: off
GARBAGE = [
    "{", "[", '{"a":', '{"', "[{", "}{", "{'a': 'b' c ", '"', "\\", "<think>", "</think>\n", " ", "\n", "Status:",
    "status: \n", "## Title\n", "**title", '{"status": "success",', '{"items": [', "{a:", "“", "[THINK]", "sorry ",
]
FRAGMENTS = [
    '{"status": "success"', '"confidence": 0.5', "}", "{", "[", "]", ",", ":", '"', "'", "\\", "\n", "Status: failure",
    "<think>", "</think>", '"items"', '"title": "A"', "```", "\\frac", "NaN", "\ud800", "# Memory Item 1\n",
    "## Content ",
]
# fmt: on


@pytest.mark.parametrize("unit", GARBAGE, ids=ascii)
def test_garbage_is_refused_however_long(unit):
    reply = unit * (20_000 // len(unit))
    assert parse_verdict(reply).status == "indeterminate"
    assert parse_items(reply).items == []


@settings(max_examples=300, derandomize=True)
@given(st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=8), max_size=25).map("".join))
def test_nothing_is_ever_raised(reply):
    verdict, parsed = parse_verdict(reply), parse_items(reply)
    assert (verdict.reason is None) == (verdict.status != "indeterminate")
    assert (parsed.reason is None) == bool(parsed.items)
    assert all(set(item) == {"title", "description", "content"} for item in parsed.items)


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\\"), min_size=3, max_size=40)


@settings(max_examples=200, derandomize=True)
@given(st.sampled_from(["success", "failure"]), st.floats(0, 1), TEXT.filter(lambda text: text.strip(" .…-_*")))
def test_what_was_asked_for_is_read_back(status, confidence, rationale):
    rationale = "Because " + rationale
    for ascii_only in (True, False):
        reply = json.dumps(
            {"status": status, "confidence": confidence, "rationale": rationale}, ensure_ascii=ascii_only
        )
        verdict = parse_verdict(f"Sure:\n```json\n{reply}\n```")
        assert (verdict.status, verdict.confidence, verdict.rationale) == (status, confidence, rationale.strip())

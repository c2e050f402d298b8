"""Records are frozen, valid once made, and the same after a trip through JSON."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from reasoningbank_langgraph.errors import BlankFieldError, FieldTooLongError, InvalidRecordError, ReasoningBankError
from reasoningbank_langgraph.records import Attempt, MemoryItem, Provenance, RetrievedMemory, Verdict, task_key

LESSON = {"title": "Title", "description": "When", "content": "What", "outcome": "success", "task": "1 + 1"}
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=150).filter(
    lambda text: any(char.isalnum() for char in text)
)


def item(**changes):
    return MemoryItem(**{**LESSON, **changes})


@given(title=TEXTS, content=TEXTS, task=TEXTS, score=st.none() | st.floats(0, 1))
def test_json_round_trip_is_byte_stable(title, content, task, score):
    one = item(title=title, content=content, task=task, verifier_score=score)
    text = one.model_dump_json()
    again = MemoryItem.model_validate_json(text)
    assert again == one
    assert again.model_dump_json() == text
    assert MemoryItem(**json.loads(json.dumps(one.to_json()))) == one


@pytest.mark.parametrize("field", ["title", "description", "content", "outcome", "task"])
def test_a_required_field_that_is_missing_is_named(field):
    values = {name: value for name, value in LESSON.items() if name != field}
    with pytest.raises(InvalidRecordError, match=field):
        MemoryItem(**values)


@pytest.mark.parametrize(("field", "cap"), [("title", 200), ("description", 500), ("content", 4000)])
def test_a_text_may_fill_its_cap_and_not_exceed_it(field, cap):
    assert len(getattr(item(**{field: "x" * cap}), field)) == cap
    with pytest.raises(FieldTooLongError) as caught:
        item(**{field: "x" * (cap + 1)})
    assert (caught.value.field, caught.value.length, caught.value.cap) == (field, cap + 1, cap)


@pytest.mark.parametrize("blank", ["", "  \n", "\u200b\u2060", "\u3164", "\ufe0f", "\u2800"])
@pytest.mark.parametrize("field", ["title", "description", "content", "task"])
def test_a_text_that_shows_nothing_is_refused(field, blank):
    with pytest.raises(BlankFieldError, match=field):
        item(**{field: blank})


@pytest.mark.parametrize(
    "changes",
    [
        {"outcome": "maybe"},
        {"verifier_score": 1.5},
        {"verifier_score": float("nan")},
        {"status": "gone"},
        {"title": 3},
        {"created_at": datetime(2026, 1, 1)},
        {"unknown": 1},
        {"id": ""},
    ],
)
def test_an_invalid_value_raises_our_error_which_is_a_value_error(changes):
    with pytest.raises(InvalidRecordError) as caught:
        item(**changes)
    assert isinstance(caught.value, ReasoningBankError)
    assert isinstance(caught.value, ValueError)
    assert next(iter(changes)) in str(caught.value)


def test_errors_are_named_however_the_record_is_made():
    for make in (MemoryItem.model_validate, lambda values: MemoryItem.model_validate_json(json.dumps(values))):
        with pytest.raises(FieldTooLongError):
            make({**LESSON, "title": "x" * 201})


def test_lone_surrogates_and_nul_are_replaced_and_pairs_joined():
    one = item(title="lone \ud800 here", description="nul \0 here", task="pair \ud83d\ude00")
    assert (one.title, one.description) == ("lone \ufffd here", "nul \ufffd here")
    assert one.task == "pair \U0001f600"
    attempt = Attempt(
        task="\udfff", messages=[AIMessage("\ud800"), {"role": "ai", "content": [{"type": "text", "text": "\ud800"}]}]
    )
    assert [message.text for message in attempt.messages] == ["\ufffd", "\ufffd"]
    assert Attempt.model_validate_json(attempt.model_dump_json()) == attempt


def test_records_are_frozen():
    with pytest.raises(Exception, match="frozen"):
        item().title = "other"


def test_defaults_tie_an_item_to_its_own_experience_and_task():
    one = item()
    assert one.experience_id == one.id
    assert one.task_id == task_key("1 + 1")
    assert one.created_at == one.updated_at
    assert one.created_at.tzinfo == UTC
    assert one.status == "active"
    assert one.provenance == Provenance()


def test_times_are_kept_in_utc():
    local = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    assert item(valid_until=local).valid_until == datetime(2026, 1, 1, 10, tzinfo=UTC)
    assert '"2026-01-01T10:00:00Z"' in item(valid_until=local).model_dump_json()


def test_a_verdict_has_three_states_and_a_bounded_confidence():
    assert Verdict(status="indeterminate", reason="refused").confidence is None
    for values in ({"status": "unknown"}, {"status": "success", "confidence": 2}):
        with pytest.raises(InvalidRecordError):
            Verdict(**values)


@pytest.mark.parametrize(
    ("message", "role"),
    [
        (HumanMessage("x"), "user"),
        (AIMessage("x"), "assistant"),
        (AIMessageChunk(content="x"), "assistant"),
        (SystemMessage("x"), "system"),
        (ToolMessage("x", tool_call_id="1"), "tool"),
        (FunctionMessage(content="x", name="f"), "function"),
        (ChatMessage(content="x", role="critic"), "critic"),
        ({"role": "user", "content": "x"}, "user"),
        ({"role": "human", "content": "x"}, "user"),
        ({"role": "ai", "content": "x"}, "assistant"),
        ({"role": "assistant", "content": "x"}, "assistant"),
        ({"role": "developer", "content": "x"}, "developer"),
        ({"type": "human", "content": "x"}, "user"),
        ({"type": "tool", "content": "x", "tool_call_id": "1"}, "tool"),
        (("user", "x"), "user"),
        ("x", "user"),
    ],
)
def test_every_role_and_form_of_message_is_accepted(message, role):
    (kept,) = Attempt(task="t", messages=[message]).messages
    assert (kept.role, kept.text) == (role, "x")


def test_removals_are_no_messages_and_empty_content_is_no_text():
    attempt = Attempt(task="t", messages=[RemoveMessage(id="1"), {"role": "assistant", "content": None}])
    assert [message.text for message in attempt.messages] == [""]


def test_content_blocks_become_text_and_other_blocks_are_named():
    blocks = [{"type": "text", "text": "see "}, {"type": "image_url", "image_url": {"url": "data:x"}}, "that"]
    attempt = Attempt(task="t", messages=[HumanMessage(blocks)])
    assert attempt.messages[0].text == "see [image_url]that"
    assert Attempt.model_validate_json(attempt.model_dump_json()) == attempt


def test_tool_calls_of_both_spellings_are_kept():
    langchain = AIMessage("", tool_calls=[{"name": "add", "args": {"a": 1}, "id": "7"}])
    openai = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "7", "function": {"name": "add", "arguments": '{"a":1}'}}],
    }
    first, second = Attempt(task="t", messages=[langchain, openai]).messages
    assert first.tool_calls[0] == {"id": "7", "name": "add", "args": {"a": 1}}
    assert second.tool_calls[0]["name"] == "add"


@pytest.mark.parametrize("bad", [7, [7], [{"content": "no role"}], [(1, "x")]])
def test_what_is_no_message_is_refused_by_name(bad):
    with pytest.raises(InvalidRecordError):
        Attempt(task="t", messages=bad)


def test_the_digest_does_not_follow_the_ids_of_tool_calls_and_blocks():
    def calling(id, name="add"):
        block = [{"type": "text", "text": "so", "id": id}, "plain"]
        call = {"id": id, "name": name, "args": {"a": 1}}
        return Attempt(task="t", messages=[AIMessage(block, tool_calls=[call])], answer="2").digest("t")

    assert calling("1") == calling("2") != calling("1", "subtract")


def test_the_digest_follows_the_content_of_the_attempt_and_its_thread():
    one = Attempt(task="Add  1 and 1", messages=[AIMessage("2", id="a")], answer="2")
    same = Attempt(task="add 1 and 1", task_id=one.task_id, messages=[AIMessage("2", id="b")], answer="2")
    other = Attempt(task="add 1 and 1", messages=[AIMessage("3")], answer="3")
    assert one.digest("t") == same.digest("t")
    assert one.digest("t") != one.digest("u")
    assert one.digest("t") != other.digest("t")


def test_a_retrieved_memory_survives_json():
    memory = RetrievedMemory(item=item(), score=0.5, why="close")
    assert RetrievedMemory(**json.loads(json.dumps(memory.to_json()))) == memory

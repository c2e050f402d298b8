"""Where an attempt begins and ends in a state, and what is taken for its task, its answer and its tokens."""

from datetime import UTC, datetime

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from reasoningbank_langgraph.errors import InvalidTaskError
from reasoningbank_langgraph.records import TASK_CAP, MemoryItem, RetrievedMemory, task_key, utc_now
from reasoningbank_langgraph.state import ChannelNames
from reasoningbank_langgraph.state.attempts import (
    attempt_of,
    messages_of,
    read_task,
    stale_channels,
    start_attempt,
    task_update,
)
from reasoningbank_langgraph.state.channels import Earlier
from reasoningbank_langgraph.state.lineage import micros

NAMES = ChannelNames()
ASK, SAY = HumanMessage("2 + 2?", id="q1"), AIMessage("4", id="a1")
AGAIN, MORE = HumanMessage("2 + 3?", id="q2"), AIMessage("5", id="a2")


def over(state, **more):
    """Return the state as the next run of its thread finds it: the attempt in it has come to its end."""
    return {**state, "attempt": {**start_attempt(state, NAMES), "over": 1}, **more}


@pytest.mark.parametrize(
    ("state", "task"),
    [
        ({"task": "add"}, "add"),
        ({"task": HumanMessage("add")}, "add"),
        ({"task": [SAY, HumanMessage("add"), SAY]}, "add"),
        ({"task": [HumanMessage("first"), HumanMessage("add")], "messages": [ASK]}, "add"),
        ({"messages": [ASK, SAY, AGAIN]}, "2 + 3?"),
        ({"messages": [ASK, SAY]}, "2 + 2?"),
        ({"messages": ASK}, "2 + 2?"),
        ({"messages": "2 + 2?"}, "2 + 2?"),
        ({"messages": {"role": "user", "content": "2 + 2?"}}, "2 + 2?"),
        ({"task": Earlier("old"), "messages": [ASK]}, "2 + 2?"),
        ({"task": "x" * TASK_CAP}, "x" * TASK_CAP),
    ],
)
def test_the_task_is_the_channels_text_or_the_last_thing_the_user_said(state, task):
    assert read_task(state, NAMES) == task


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ({}, r"into 'question' .*the user into 'talk'; invoke\(None"),
        ({"question": " \u200b"}, "the task is empty"),
        ({"question": [SAY]}, "the task is empty"),
        ({"question": Earlier("old"), "talk": [SAY]}, "the task is empty"),
        ({"question": 7}, "must be text, got int: 7"),
        ({"question": {"text": "x" * 999}}, r"got dict: .{80}$"),
        ({"question": "x" * (TASK_CAP + 1)}, f"has {TASK_CAP + 1} characters and may have {TASK_CAP}"),
    ],
)
def test_what_is_no_task_is_refused_by_what_is_wrong_with_it(state, told):
    with pytest.raises(InvalidTaskError, match=told):
        read_task(state, ChannelNames("question", "answer", "talk"))


def test_after_a_run_only_what_nothing_has_answered_is_a_new_task():
    past = over({"task": "add", "messages": [ASK, SAY]}, task=Earlier("add"))
    assert read_task({**past, "messages": [ASK, SAY, AGAIN]}, NAMES) == "2 + 3?"
    assert read_task({**past, "messages": [AGAIN]}, NAMES) == "2 + 3?"
    for nothing in ([ASK, SAY], [ASK, SAY, AGAIN, MORE], [ASK], []):
        with pytest.raises(InvalidTaskError):
            read_task({**past, "messages": nothing}, NAMES)


def test_a_task_that_was_given_after_the_last_attempt_is_that_of_the_run_that_goes_on():
    past = over({"task": "add", "messages": [ASK, SAY]}, task=Earlier("subtract"), reference=Earlier("7"))
    assert read_task(past, NAMES) == "subtract"
    assert start_attempt(past, NAMES)["reference"] == "7"
    assert read_task({**past, "messages": [ASK, SAY, AGAIN]}, NAMES) == "2 + 3?"
    assert start_attempt({**past, "messages": [ASK, SAY, AGAIN]}, NAMES)["reference"] is None


def test_a_message_without_an_id_that_was_the_last_task_is_none_again():
    first = HumanMessage("2 + 2?")
    past = over({"messages": [first]})
    with pytest.raises(InvalidTaskError):
        read_task({**past, "messages": [first]}, NAMES)
    assert read_task({**past, "messages": [first, HumanMessage("2 + 2?")]}, NAMES) == "2 + 2?"
    assert read_task({**past, "messages": [HumanMessage("2 + 3?")]}, NAMES) == "2 + 3?"


def test_after_a_run_that_was_broken_off_a_message_counts_for_more_than_the_task_it_had():
    state = {"task": "add", "messages": [ASK]}
    broken = {**state, "attempt": {**start_attempt(state, NAMES), "over": None}}
    assert read_task(broken, NAMES) == "add"
    assert read_task({**broken, "messages": [ASK, AGAIN]}, NAMES) == "2 + 3?"
    assert read_task({**broken, "task": "subtract", "messages": [ASK, AGAIN]}, NAMES) == "subtract"
    same_again = [ASK, ASK.model_copy(update={"id": "another"})]
    assert read_task({**broken, "messages": same_again}, NAMES) == "add"


def test_an_attempt_begins_with_the_message_that_asks_for_it():
    begun = start_attempt({"messages": [ASK, SAY, AGAIN], "answer": "4", "task_id": 7, "reference": 5}, NAMES)
    said = {name: begun[name] for name in ("task", "task_id", "reference", "start", "start_id")}
    assert said == {"task": "2 + 3?", "task_id": "7", "reference": "5", "start": 2, "start_id": "q2"}
    assert (begun["messages_before"], begun["last_id"], begun["answer_before"]) == (3, "q2", "4")
    plain = start_attempt({"task": "add"}, NAMES)
    assert (plain["task_id"], plain["reference"], plain["answer_before"]) == (task_key("add"), None, None)
    assert (plain["start"], plain["start_id"], plain["messages_before"], plain["last_id"]) == (0, None, 0, None)


def test_an_answer_that_the_run_before_left_is_forgotten_and_may_be_given_again():
    begun = start_attempt(over({"task": "add"}, task="more", answer="4"), NAMES)
    assert begun["answer_before"] is None
    said = {"answer": "4", "messages": [AIMessage("It holds.")], "attempt": begun}
    assert attempt_of(said, NAMES).answer == "4"


def test_an_attempt_tells_when_it_began_and_what_one_that_was_broken_off_had_done():
    when = datetime(2025, 1, 2, tzinfo=UTC)
    assert start_attempt({"task": "add"}, NAMES, when)["line"][0][1] == micros(when)
    before = micros(utc_now())
    assert before <= start_attempt({"task": "add"}, NAMES)["line"][0][1] <= micros(utc_now())
    broken = {"task": "add", "attempt": {**start_attempt({"task": "add"}, NAMES), "over": None}}
    states = [broken, {**broken, "answer": "4"}, {**broken, "messages": [ASK]}]
    assert len({start_attempt(state, NAMES)["line"][0][2] for state in states}) == 3


def test_messages_that_are_plain_records_have_no_ids_and_are_told_by_their_place():
    ask, say = {"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4"}
    begun = start_attempt({"messages": [ask]}, NAMES)
    assert (begun["start_id"], begun["last_id"], begun["start_key"]) == (None, None, task_key("2 + 2?"))
    attempts = ({"messages": [ask, say], "attempt": begun}, {"messages": [ask, say]})
    for state in attempts:
        attempt = attempt_of(state, NAMES)
        assert ([message.text for message in attempt.messages], attempt.answer) == (["2 + 2?", "4"], "4")
    past = over({"messages": [ask]}, messages=[ask, say, {"role": "user", "content": "2 + 3?"}])
    assert read_task(past, NAMES) == "2 + 3?"
    with pytest.raises(InvalidTaskError):
        read_task({**past, "messages": [ask]}, NAMES)


def test_the_first_task_of_a_thread_takes_what_was_said_before_it_from_the_users_last_word_on():
    assert start_attempt({"task": "add", "messages": [ASK, SAY]}, NAMES)["start"] == 0
    assert start_attempt({"task": "add", "messages": [SAY]}, NAMES)["start"] == 1
    later = over({"task": "add", "messages": [ASK, SAY]})
    assert start_attempt({**later, "task": "more"}, NAMES)["start"] == 2
    assert start_attempt({**later, "task": "more", "messages": [ASK, SAY, AGAIN]}, NAMES)["start"] == 2


def test_id_and_reference_of_a_task_that_was_broken_off_are_not_those_of_another():
    given = {"task": "add", "task_id": "p1", "reference": "4"}
    broken = {**given, "attempt": {**start_attempt(given, NAMES), "over": None}}
    same, other = start_attempt(broken, NAMES), start_attempt({**broken, "task": "more"}, NAMES)
    assert (same["task_id"], same["reference"]) == ("p1", "4")
    assert (other["task_id"], other["reference"]) == (task_key("more"), None)
    new = start_attempt({**broken, "task": "more", "task_id": "p2", "reference": "9"}, NAMES)
    assert (new["task_id"], new["reference"]) == ("p2", "9")
    earlier = start_attempt({"task": "more", "task_id": Earlier("p1"), "reference": Earlier("4")}, NAMES)
    assert (earlier["task_id"], earlier["reference"]) == (task_key("more"), None)


def test_a_task_that_came_as_a_message_is_put_into_its_channel_where_that_holds_text():
    said, begun = {"messages": [ASK]}, {"task": "2 + 2?"}
    assert task_update(said, NAMES, begun) == {"task": "2 + 2?"}
    assert task_update({**said, "task": Earlier("old")}, NAMES, begun) == {"task": "2 + 2?"}
    assert task_update({**said, "task": "2 + 2?"}, NAMES, begun) == {}
    assert task_update({**said, "task": [ASK]}, NAMES, begun) == {}
    assert task_update(said, ChannelNames(task="messages"), begun) == {}
    assert task_update(said, ChannelNames(task=lambda state: "2 + 2?"), begun) == {}


def test_what_an_earlier_task_left_in_its_channels_is_taken_out():
    left = {"answer": "4", "task_id": Earlier("p1"), "reference": Earlier("4")}
    gone = {"task_id": None, "reference": None}
    assert stale_channels(left, NAMES) == gone
    assert stale_channels({**left, "attempt": {"task": "add"}}, NAMES) == {**gone, "answer": None}
    assert stale_channels({"answer": ["4"], "task_id": "p1", "attempt": {"task": "add"}}, NAMES) == {}
    assert stale_channels({**left, "attempt": {"task": "add"}}, ChannelNames(answer=lambda state: "4")) == gone


def test_an_attempt_is_what_was_said_since_it_was_asked_for_and_the_tokens_of_that():
    used = {"input_tokens": 6, "output_tokens": 3, "total_tokens": 9, "input_token_details": {"cache_read": 2}}
    answers = [message.model_copy(update={"usage_metadata": used}) for message in (SAY, MORE)]
    shown = MemoryItem(title="t", description="d", content="c", outcome="success", task="other")
    memories = [RetrievedMemory(item=shown, why="near").to_json()]
    state = {"messages": [ASK, answers[0], AGAIN], "reference": "5", "memories": memories}
    state["attempt"] = start_attempt(state, NAMES)
    state["messages"] += [AIMessage("", id="t", usage_metadata=used), ToolMessage("5", tool_call_id="1"), answers[1]]
    attempt = attempt_of(state, NAMES)
    assert [message.text for message in attempt.messages] == ["2 + 3?", "", "5", "5"]
    assert (attempt.task, attempt.answer, attempt.reference) == ("2 + 3?", "5", "5")
    assert [memory.item for memory in attempt.memories] == [shown]
    assert attempt.usage == {"input_tokens": 12, "output_tokens": 6, "total_tokens": 18}
    assert messages_of(state, NAMES) == state["messages"][2:]


@pytest.mark.parametrize(
    ("kept", "texts", "answer"),
    [
        ([AGAIN, MORE], ["2 + 3?", "5"], "5"),
        ([ASK, MORE], ["2 + 2?", "5"], "5"),
        ([MORE], ["5"], "5"),
        ([ASK, SAY, AGAIN], ["2 + 3?"], None),
    ],
)
def test_a_history_that_was_shortened_meanwhile_is_read_by_its_ids(kept, texts, answer):
    state = {"messages": [ASK, SAY, AGAIN]}
    attempt = attempt_of({"messages": kept, "attempt": start_attempt(state, NAMES)}, NAMES)
    assert ([message.text for message in attempt.messages], attempt.answer) == (texts, answer)


def test_without_ids_the_number_of_messages_tells_and_a_shorter_history_is_all_new():
    old = [message.model_copy(update={"id": None}) for message in (ASK, SAY, AGAIN)]
    begun = start_attempt({"messages": old}, NAMES)
    for held, texts in (([*old, MORE], ["2 + 3?", "5"]), (old, ["2 + 3?"]), ([MORE], ["5"])):
        attempt = attempt_of({"messages": held, "attempt": begun}, NAMES)
        assert [message.text for message in attempt.messages] == texts


@pytest.mark.parametrize(
    ("answer", "said", "found"),
    [
        ("new", [], "new"),
        ("new", [MORE], "new"),
        ("old", [], "old"),
        ("old", [MORE], "5"),
        ("old", [AIMessage(" ")], "old"),
        (None, [MORE, AIMessage(" ")], "5"),
        (None, [HumanMessage("5?")], None),
        (AIMessage("as a message"), [], "as a message"),
        (42, [], "42"),
    ],
)
def test_the_answer_is_the_channels_unless_it_stood_there_before_and_the_model_said_another(answer, said, found):
    begun = start_attempt({"task": "add", "answer": "old", "messages": [ASK]}, NAMES)
    assert attempt_of({"answer": answer, "messages": [ASK, *said], "attempt": begun}, NAMES).answer == found


@pytest.mark.parametrize("ids", [True, False])
@pytest.mark.parametrize(
    ("talk", "texts", "answer"),
    [
        ([ASK, SAY, AGAIN, ToolMessage("5", tool_call_id="1", id="t"), MORE], ["2 + 3?", "5", "5"], "5"),
        ([ASK, SAY], ["2 + 2?", "4"], "4"),
        ([SAY, MORE], ["4", "5"], "5"),
        ([SAY, ASK], ["2 + 2?"], None),
    ],
)
def test_a_conversation_that_came_in_whole_is_an_attempt_from_the_users_last_word_on(talk, texts, answer, ids):
    messages = talk if ids else [message.model_copy(update={"id": None}) for message in talk]
    attempt = attempt_of({"task": "add", "messages": messages}, NAMES)
    assert ([message.text for message in attempt.messages], attempt.answer) == (texts, answer)


def test_the_answer_that_came_with_a_whole_conversation_is_its_answer():
    state = {"task": "add", "messages": [ASK, SAY], "answer": "four", "task_id": "p1", "reference": 4}
    attempt = attempt_of(state, NAMES)
    assert (attempt.answer, attempt.task, attempt.task_id, attempt.reference) == ("four", "add", "p1", "4")
    assert attempt.memories == ()

"""Models that fail in the loop or reply badly: no wrong lesson is learned, and the answer is returned."""

import json

import pytest
from langchain_core.messages import AIMessage

from reasoningbank_langgraph import MemoryBank
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.loop.test_loop import app, config
from tests.loop_fakes import indexed_memory, learner, lessons, verdict


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("no verdict here", "unparsed"),
        ("I'm sorry, but I can't help with that.", "refused"),
        (ConnectionError("down"), "error"),
        (AIMessage('{"rationale": "the sum', response_metadata={"finish_reason": "length"}), "truncated"),
    ],
)
def test_an_outage_of_the_judge_mints_nothing(reply, reason):
    store = indexed_memory()
    result = app(store, ScriptedChatModel(lambda _: reply)).invoke({"task": "add"}, config())
    assert result["verdict"]["status"] == "indeterminate"
    assert result["verdict"]["reason"] == reason
    assert result["answer"] == "\\boxed{3}"
    assert result["extraction"]["reason"] == "indeterminate"
    assert MemoryBank(store, ("math", "u1")).items() == []


def test_a_judge_whose_reply_cannot_be_read_is_asked_once_more():
    model = ScriptedChatModel(["hm", verdict("failure"), lessons("one")])
    result = app(indexed_memory(), model).invoke({"task": "add"}, config())
    assert result["verdict"]["status"] == "failure"
    assert len(model.calls) == 3


def test_an_extractor_that_fails_keeps_its_reply_and_the_answer_is_returned():
    model = ScriptedChatModel([verdict(), "nothing useful", "still nothing"])
    result = app(indexed_memory(), model).invoke({"task": "add"}, config())
    assert result["answer"] == "\\boxed{3}"
    assert result["lessons"] == []
    assert result["extraction"]["raw"] == "still nothing"
    assert result["extraction"]["reason"] == "unparsed"


def test_at_most_three_lessons_are_taken_and_none_that_copies_what_was_shown():
    store = indexed_memory()
    model = learner(titles=("a one", "b two", "c three", "d four"), repeats=True)
    app(store, model).invoke({"task": "add two apples"}, config("a"))
    assert MemoryBank(store, ("math", "u1")).totals().items == 3
    result = app(store, learner(titles=("a one", "e five"), repeats=True)).invoke(
        {"task": "add six apples"}, config("b")
    )
    assert [lesson["title"] for lesson in result["lessons"]] == ["e five"]
    assert result["extraction"]["dropped"] == {"copied": 1}


def test_two_lessons_of_one_reply_under_one_title_count_as_one():
    same = [{"title": "Look", "description": "always", "content": f"look {way}"} for way in ("twice", "again")]
    model = ScriptedChatModel([verdict(), json.dumps({"items": same})])
    result = app(indexed_memory(), model).invoke({"task": "add"}, config())
    assert [lesson["content"] for lesson in result["lessons"]] == ["look twice"]
    assert result["extraction"]["dropped"] == {"copied": 1}


@pytest.mark.parametrize("number", ["43c2cd2329b0e1d7", "43C2CD2329B0e1d7"])
def test_the_number_of_a_fence_does_not_get_into_a_lesson(number):
    model = ScriptedChatModel([verdict(), lessons(f"look at task {number} twice")])
    result = app(indexed_memory(), model).invoke({"task": "add"}, config())
    assert result["lessons"][0]["title"] == "look at task twice"


def test_lessons_that_retell_the_task_are_asked_for_once_more_in_a_general_form():
    model = ScriptedChatModel([verdict(), lessons("add 27 apples"), lessons("add what is there")])
    result = app(indexed_memory(), model).invoke({"task": "Ann has 27 apples. How many?"}, config())
    assert [lesson["title"] for lesson in result["lessons"]] == ["add what is there"]
    assert "Ann has 27 apples" in model.calls[1][-1].text
    assert "details of this one task: 27. Write it again" in model.calls[2][-1].text


def test_a_model_that_returns_nothing_gives_an_indeterminate_verdict():
    store = indexed_memory()
    result = app(store, solver=lambda _: {"answer": ""}).invoke({"task": "add"}, config())
    assert result["verdict"]["reason"] == "no_evidence"
    assert MemoryBank(store, ("math", "u1")).items() == []

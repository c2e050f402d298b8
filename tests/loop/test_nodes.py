"""What each node knows of its run, tells its listeners and leaves in the state, sync and async alike."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated, Any, get_type_hints
from uuid import UUID

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.runtime import ExecutionInfo, Runtime

from reasoningbank_langgraph import (
    Attempt,
    EnsembleJudge,
    LLMJudge,
    MemoryBank,
    MemoryItem,
    ReasoningBankState,
    ReferenceJudge,
    RetrievedMemory,
    Verdict,
    create_consolidate,
    create_extract,
    create_judge,
    create_retrieve,
)
from reasoningbank_langgraph.errors import MissingStateError, MissingStoreError
from reasoningbank_langgraph.extraction import PROMPTS, Distilled, Judged
from reasoningbank_langgraph.nodes._base import Context
from reasoningbank_langgraph.nodes.extract import mint
from reasoningbank_langgraph.prompts import prompt_hash
from reasoningbank_langgraph.records import now, task_key
from reasoningbank_langgraph.state.channels import OfRun
from reasoningbank_langgraph.state.lineage import Line, micros
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.loop_fakes import Capped, Tracer, indexed_memory, learner, lessons, verdict

RUN = ExecutionInfo("1f0ce0b1-8f2a-6e10-8002-3c7f9d2b1a44", "extract:1", "task 1", "thread 1", "run 1")
CONFIG = {"configurable": {"thread_id": "t"}}


def context(info=RUN, state=None, **options):
    return Context("extract", {}, Runtime(execution_info=info, **options), state or {})


def run(node, state, store=None, *, asynchronously=False):
    """Run a node alone; return its update and the events it told of, without their times."""
    builder = StateGraph(ReasoningBankState).add_node("node", node).add_edge(START, "node")
    app, modes = builder.compile(store=store), {"stream_mode": ["updates", "custom"]}
    if asynchronously:

        async def all_of():
            return [part async for part in app.astream(state, CONFIG, **modes)]

        parts = asyncio.run(all_of())
    else:
        parts = list(app.stream(state, CONFIG, **modes))
    events = [{**event, "ms": 0 <= event["ms"] < 60_000} for mode, event in parts if mode == "custom"]
    (update,) = [update["node"] for mode, update in parts if mode == "updates"]
    return update, events


def event(name, **facts):
    return {"type": "reasoningbank", "event": name, "ms": True, **facts}


def brought(node):
    """Return the channels a graph takes from a node."""
    return get_type_hints(get_type_hints(node.__call__)["state"], include_extras=True)


SIDES = pytest.mark.parametrize("asynchronously", [False, True], ids=["sync", "async"])


def test_what_a_node_knows_of_its_run_comes_from_the_runtime():
    known = context(store=(store := indexed_memory()))
    assert (known.thread_id, known.nested, known.store) == ("thread 1", False, store)
    assert context(RUN.patch(checkpoint_ns="loop:1|extract:2")).nested
    assert context(RUN.patch(thread_id=7)).thread_id == "7"
    for info in (None, RUN.patch(thread_id=None)):
        assert context(info).thread_id is None
    assert not context(None).nested
    with pytest.raises(MissingStoreError, match="'extract'"):
        context().store  # noqa: B018


def test_an_event_tells_how_long_a_step_took_in_milliseconds(monkeypatch):
    told = []
    monkeypatch.setattr(time, "perf_counter", lambda: 3.0123456)
    context(stream_writer=told.append).emit("judged", 1.0, count=1)
    assert told == [{"type": "reasoningbank", "event": "judged", "ms": 2012.346, "count": 1}]


@pytest.mark.parametrize("create", [create_retrieve, create_consolidate])
def test_a_node_without_a_store_says_which_it_is(create):
    node = create()
    with pytest.raises(MissingStoreError, match=repr(node.get_name())):
        run(node, {"task": "add"})


def test_each_node_has_its_name():
    nodes = [create_retrieve(), create_judge(judge=len), create_extract(ScriptedChatModel([])), create_consolidate()]
    assert [node.get_name() for node in nodes] == ["retrieve", "judge", "extract", "consolidate"]


@pytest.mark.parametrize("call", [lambda node, state: node(state), lambda node, state: node.__call__(state)])
@pytest.mark.parametrize("answer", ["answer", lambda state: state["answer"]])
def test_a_node_may_be_called_within_a_node_of_ones_own(answer, call):
    node = create_judge(judge=lambda attempt: attempt.answer == "4", answer=answer)
    update, _ = run(lambda state: call(node, state), {"task": "add", "answer": "4"})
    assert update["verdict"]["status"] == "success"


def calling(node, **own):
    """Return two nodes that run another one with a config of their own: a sync and an async one."""

    def mixed(config):
        return {**own, "configurable": {**config["configurable"], **own.get("configurable", {})}}

    def step(state, config: RunnableConfig):
        return node.invoke(state, mixed(config))

    async def astep(state, config: RunnableConfig):
        return await node.ainvoke(state, mixed(config))

    return step, astep


@SIDES
def test_a_node_that_is_called_with_another_config_goes_by_that(asynchronously):
    node = create_consolidate(namespace=("m", "{user}"))
    step = calling(node, configurable={"user": "bob"})[asynchronously]
    _, events = run(step, {}, indexed_memory(), asynchronously=asynchronously)
    assert events[0]["namespace"] == ["m", "bob"]


@SIDES
@pytest.mark.parametrize(
    ("create", "reply"), [(create_judge, verdict()), (create_extract, lessons("first"))], ids=["judge", "extract"]
)
def test_the_model_of_a_node_is_traced_where_the_config_of_the_call_says(create, reply, asynchronously):
    tracer = Tracer()
    step = calling(create(ScriptedChatModel([reply])), callbacks=[tracer])[asynchronously]
    run(step, {"task": "add", "answer": "4", "verdict": {"status": "success"}}, asynchronously=asynchronously)
    assert len(tracer.seen) == 1


def test_a_step_began_when_its_checkpoint_was_made_and_never_in_the_future():
    moment = datetime(2025, 11, 30, 18, 32, 10, 123_457, tzinfo=UTC)
    ticks = (moment - datetime(1582, 10, 15, tzinfo=UTC)) // timedelta(microseconds=1) * 10 + 7
    made = UUID(int=(ticks >> 12) << 80 | 6 << 76 | (ticks & 0xFFF) << 64 | 2 << 62 | 5)
    assert made.version == 6
    assert context(RUN.patch(checkpoint_id=str(made))).began == moment
    future = UUID(int=made.int | 1 << 127)
    for name in (str(future), "no id", "1f0ce0b1-8f2a-4e10-8002-3c7f9d2b1a44"):
        before = now()
        assert before <= context(RUN.patch(checkpoint_id=name)).began <= now()
    before = now()
    assert before <= context(None).began <= now()


@pytest.mark.parametrize(
    "create",
    [create_retrieve, partial(create_judge, judge=len), partial(create_extract, learner()), create_consolidate],
    ids=["retrieve", "judge", "extract", "consolidate"],
)
def test_a_node_brings_the_channels_of_the_loop_into_any_state(create):
    own = {"task": Annotated[Any, OfRun], "answer": Any, "messages": Any}
    assert brought(create()) == {**get_type_hints(ReasoningBankState, include_extras=True), **own}


def test_a_node_with_names_of_ones_own_brings_those_channels_alone():
    node = create_judge(judge=lambda attempt: True, task="question", answer="result", messages="talk")
    channels = brought(node)
    own = {"question": Annotated[Any, OfRun], "result": Any, "talk": Any}
    assert {name: kind for name, kind in channels.items() if name in own} == own
    assert not {"task", "answer", "messages"} & channels.keys()
    assert "verdict" in channels
    one = create_judge(judge=lambda attempt: True, task="messages")
    assert "task" not in brought(one)
    assert brought(one)["messages"] == Any


@SIDES
def test_retrieve_leaves_the_lessons_and_clears_what_the_run_before_left(asynchronously):
    store = indexed_memory()
    lesson = MemoryItem(title="one", description="two", content="three", outcome="success", task="add two pears")
    MemoryBank(store, "reasoningbank").add([lesson])
    state = {"messages": [HumanMessage("add two apples", id="q")], "verdict": {"status": "failure"}}
    update, events = run(create_retrieve(), state, store, asynchronously=asynchronously)
    (memory,) = update["memories"]
    told = {"count": 1, "ids": [lesson.id], "scores": [memory["score"]], "namespace": ["reasoningbank"]}
    assert events == [event("retrieved", **told)]
    assert "three" in update["memory_prompt"]
    attempt = update.pop("attempt")
    assert (attempt["task"], attempt["start_id"], len(attempt["line"])) == ("add two apples", "q", 1)
    cleared = {"verdict": None, "lessons": [], "extraction": None, "memory_error": None}
    assert update == {
        **cleared,
        "task": "add two apples",
        **{name: update[name] for name in ("memories", "memory_prompt")},
    }
    assert memory["item"]["id"] == lesson.id


@SIDES
def test_a_step_says_what_the_judge_decided_and_how_its_model_was_asked(asynchronously):
    model = ScriptedChatModel([verdict("failure", "wrong")])
    update, events = run(create_judge(model), {"task": "add", "answer": "4"}, asynchronously=asynchronously)
    told = {"count": 1, "ids": [], "status": "failure", "reason": None, "judge": "llm"}
    assert update["verdict"] == Verdict(status="failure", rationale="wrong", confidence=0.9, judge="llm").to_json()
    assert events == [event("judged", **told, asked="plain", fallbacks=events[0]["fallbacks"])]


@SIDES
@pytest.mark.parametrize("state", [{}, {"answer": " "}, {"messages": [HumanMessage("add")]}])
def test_an_attempt_that_left_nothing_is_shown_to_no_judge(state, asynchronously):
    node = create_judge(judge=lambda attempt: pytest.fail("asked"))
    update, events = run(node, {"task": "add", **state}, asynchronously=asynchronously)
    nothing = Verdict(status="indeterminate", reason="no_evidence", rationale="the solver gave no answer", judge="none")
    assert update["verdict"] == nothing.to_json()
    told = {"count": 1, "ids": [], "status": "indeterminate", "reason": "no_evidence", "judge": "none"}
    assert events == [event("judged", **told, asked=None, fallbacks={})]


@SIDES
@pytest.mark.parametrize("state", [{"answer": "4"}, {"messages": [HumanMessage("add"), AIMessage("")]}])
def test_an_answer_or_a_message_of_the_model_is_judged(state, asynchronously):
    def grade(attempt):
        return attempt.answer == "4"

    update, _ = run(create_judge(judge=grade), {"task": "add", **state}, asynchronously=asynchronously)
    assert update["verdict"]["status"] == ("success" if "answer" in state else "failure")
    assert update["verdict"]["judge"] == "grade"


@SIDES
def test_a_judge_that_fails_decides_nothing_and_that_is_said_once(caplog, asynchronously):
    def grade(attempt):
        raise OSError("no disk")

    node = create_judge(judge=grade)
    for _ in range(2):
        update, _ = run(node, {"task": "add", "answer": "4"}, asynchronously=asynchronously)
        assert (update["verdict"]["status"], update["verdict"]["judge"]) == ("indeterminate", "grade")
        assert "no disk" in update["verdict"]["rationale"]
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_of_an_ensemble_the_model_that_was_asked_is_told_of():
    models = [ScriptedChatModel([]), ScriptedChatModel([verdict("success")])]
    judge = EnsembleJudge([ReferenceJudge(), EnsembleJudge([LLMJudge(models[1])]), LLMJudge(models[0])], rule="first")
    _, (told,) = run(create_judge(judge=judge), {"task": "add", "answer": "4"})
    assert told["asked"] == "plain"


def test_a_judge_needs_a_model_or_a_judge():
    with pytest.raises(ValueError, match="create_judge needs a model, or judge="):
        create_judge()


@SIDES
def test_extract_leaves_items_with_their_source_and_tells_how_it_went(asynchronously):
    model = ScriptedChatModel([lessons("first", "first", "mail ann@example.com", "count apples")])
    judged = {
        "task": "Add 27 pears",
        "answer": "4",
        "messages": [AIMessage("I think.")],
        "verdict": Verdict(status="failure", judge="j", confidence=0.5).to_json(),
    }
    update, events = run(create_extract(model), judged, asynchronously=asynchronously)
    ids = [lesson["id"] for lesson in update["lessons"]]
    asked = {"asked": "plain", "fallbacks": events[0]["fallbacks"]}
    told = {"reason": None, "dropped": {"copied": 1}}
    assert events == [event("extracted", count=3, ids=ids, **told, **asked)]
    assert update["extraction"] == {**told, **asked, "truncated": False, "redacted": {"email": 3}, "raw": None}
    item = MemoryItem(**update["lessons"][0])
    assert (item.title, item.outcome, item.task, item.task_id) == (
        "first",
        "failure",
        "Add 27 pears",
        task_key("Add 27 pears"),
    )
    assert item.verifier_score == 0.5
    said = Attempt(task="Add 27 pears", task_id=item.task_id, answer="4", messages=judged["messages"])
    assert item.provenance.attempt_digest == said.digest(item.provenance.thread_id)
    assert (item.provenance.judge, item.provenance.model) == ("j", "ScriptedChatModel")
    assert update.keys() == {"lessons", "extraction"}


def test_a_missing_verdict_is_named_with_the_node_that_fills_it():
    with pytest.raises(MissingStateError, match=r"'extract'.*'verdict'.*'judge'"):
        run(create_extract(ScriptedChatModel([])), {"task": "add", "answer": "4"})


TRIED = Attempt(task="add", task_id="p1", answer="4")
FOUND = Distilled([{"title": name, "description": "d", "content": "c"} for name in ("a", "b")])


def minted(info=RUN, attempt=TRIED, status="success", **more):
    judged = Judged(attempt, Verdict(status=status, judge="j", confidence=0.5))
    return mint(judged, FOUND, "m", context(info, **more))


def test_an_item_says_which_run_of_which_node_made_it_of_what():
    line = Line((("a", 1, 2), ("b", 3, None)), "a", "row")
    shown = MemoryItem(title="t", description="d", content="c", outcome="success", task="other")
    attempt = TRIED.model_copy(update={"memories": (RetrievedMemory(item=shown, why="near"),)})
    before = micros(now())
    first, second = minted(attempt=attempt, state={"attempt": line.told()})
    known = first.provenance
    assert (known.thread_id, known.checkpoint_ns, known.checkpoint_id) == ("thread 1", "extract:1", RUN.checkpoint_id)
    assert (known.task_id, known.run_id, known.judge, known.model) == ("task 1", "run 1", "j", "m")
    assert (known.prompt_hash, known.memory_ids_used) == (PROMPTS, (shown.id,))
    assert known.attempt_digest == attempt.digest("thread 1")
    assert (known.line[0], known.line[1][:2], known.origin, known.after) == (("a", 1, 2), ("b", 3), "a", "row")
    assert before <= known.line[1][2] <= micros(now())
    assert first.experience_id == second.experience_id
    assert [item.title for item in (first, second)] == ["a", "b"]
    assert (first.outcome, first.task, first.task_id) == ("success", "add", "p1")
    assert [item.outcome for item in minted(status="failure")] == ["failure"] * 2


def test_extract_asks_with_the_cap_it_was_given_and_a_time_limit():
    model = Capped([lessons("first")], caps=[])
    run(create_extract(model, max_tokens=123), {"task": "add", "answer": "4", "verdict": {"status": "success"}})
    assert model.caps == [123]
    for create in (create_extract, create_judge):
        with pytest.raises(ValueError, match="time_limit"):
            create(model, time_limit=0)


def test_equal_runs_give_equal_ids_on_every_machine_and_others_give_others():
    ids = [item.id for item in minted()]
    assert ids == ["7325b782-7622-5645-897f-f9bcdf930f26", "7bd50114-1c06-575d-8181-13970cc0e2b6"]
    changes = ({"thread_id": "thread 2"}, {"checkpoint_ns": "extract:2"}, {"task_id": "task 2"})
    others = [item for change in changes for item in minted(RUN.patch(**change))]
    assert len({*ids, *(item.id for item in others)}) == 8
    assert len({item.experience_id for item in [*minted(), *others]}) == 4
    nameless = ["96f01f50-6ac7-582c-9e85-f342b6f3b7d5", "fb7e0a61-6421-57d6-a464-bd25eecf24a5"]
    assert [item.id for item in minted(RUN.patch(thread_id=None))] == nameless
    assert [item.id for item in minted(RUN.patch(checkpoint_id="x", run_id="y"))] == ids
    unknown = minted(None)[0].provenance
    assert (unknown.thread_id, unknown.checkpoint_ns, unknown.checkpoint_id) == (None, "", None)
    assert (unknown.task_id, unknown.run_id) == (None, None)


def test_the_prompts_are_told_by_their_hash():
    assert prompt_hash("a", "b") != prompt_hash("ab") != PROMPTS


@SIDES
def test_consolidate_writes_and_tells_what_is_new(asynchronously):
    store = indexed_memory()
    items = [item.to_json() for item in minted()]
    update, events = run(create_consolidate(), {"lessons": items}, store, asynchronously=asynchronously)
    ids = [item["id"] for item in items]
    assert update == {"written": ids, "unwritten": []}
    assert events == [event("consolidated", count=2, ids=ids, namespace=["reasoningbank"])]
    again, events = run(create_consolidate(), {"lessons": items}, store, asynchronously=asynchronously)
    assert (again, events[0]["count"], events[0]["ids"]) == (update, 0, ids)
    nothing, events = run(create_consolidate(), {}, store, asynchronously=asynchronously)
    assert (nothing, events[0]["count"]) == ({"written": [], "unwritten": []}, 0)

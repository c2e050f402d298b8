"""What each node brings to a graph, tells its listeners and leaves in the state, sync and async alike."""

import asyncio
from functools import partial
from typing import Annotated, Any, get_type_hints

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph

from reasoningbank_langgraph import (
    EnsembleJudge,
    LLMJudge,
    MemoryBank,
    MemoryItem,
    ReasoningBankState,
    ReferenceJudge,
    Verdict,
    create_consolidate,
    create_extract,
    create_judge,
    create_retrieve,
)
from reasoningbank_langgraph.errors import MissingModelError, MissingStateError, MissingStoreError
from reasoningbank_langgraph.state.channels import OfRun
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.loop_fakes import Switched, Tracer, indexed_memory, learner, lessons, verdict

CONFIG = {"configurable": {"thread_id": "t"}}


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
    used = {"texts": 1, "characters": 14}
    assert events == [event("retrieved", **told, usage=used)]
    assert "three" in update["memory_prompt"]
    attempt = update.pop("attempt")
    assert (attempt["task"], attempt["start_id"], len(attempt["line"])) == ("add two apples", "q", 1)
    cleared = {"verdict": None, "lessons": [], "extraction": None, "memory_error": None}
    assert update == {
        **cleared,
        "task": "add two apples",
        "memory_usage": {"embed": used},
        **{name: update[name] for name in ("memories", "memory_prompt")},
    }
    assert memory["item"]["id"] == lesson.id


@SIDES
def test_retrieve_without_its_store_leaves_no_lessons_and_says_why(asynchronously):
    store = Switched()
    store.reads = ConnectionError("no server")
    update, events = run(create_retrieve(), {"task": "add"}, store, asynchronously=asynchronously)
    assert (update["memories"], update["memory_prompt"], update["attempt"]["task"]) == ([], "", "add")
    assert update["memory_error"] == "retrieve: ConnectionError: no server"
    assert events == [event("retrieved", count=0, ids=[], scores=[], namespace=["reasoningbank"], usage={})]
    store.reads = ArithmeticError("wrong")
    with pytest.raises(ArithmeticError):
        run(create_retrieve(), {"task": "add"}, store, asynchronously=asynchronously)


@pytest.mark.parametrize("slip", [{"k": 0}, {"max_items": 0}, {"min_score": 2.0}])
def test_a_question_that_no_bank_answers_is_refused_when_the_node_is_made(slip):
    with pytest.raises(ValueError, match=next(iter(slip))):
        create_retrieve(**slip)


@SIDES
def test_a_step_says_what_the_judge_decided_and_how_its_model_was_asked(asynchronously):
    model = ScriptedChatModel([verdict("failure", "wrong")])
    update, events = run(create_judge(model), {"task": "add", "answer": "4"}, asynchronously=asynchronously)
    told = {"count": 1, "ids": [], "status": "failure", "reason": None, "judge": "llm"}
    assert update["verdict"] == Verdict(status="failure", rationale="wrong", confidence=0.9, judge="llm").to_json()
    assert events == [event("judged", **told, asked="plain", fallbacks=events[0]["fallbacks"], usage={"calls": 1})]


@SIDES
@pytest.mark.parametrize("state", [{}, {"answer": " "}, {"messages": [HumanMessage("add")]}])
def test_an_attempt_that_left_nothing_is_shown_to_no_judge(state, asynchronously):
    node = create_judge(judge=lambda attempt: pytest.fail("asked"))
    update, events = run(node, {"task": "add", **state}, asynchronously=asynchronously)
    nothing = Verdict(
        status="indeterminate",
        reason="no_evidence",
        rationale="no answer in channel 'answer' and no new message from the model in 'messages'",
        judge="none",
    )
    assert update["verdict"] == nothing.to_json()
    told = {"count": 1, "ids": [], "status": "indeterminate", "reason": "no_evidence", "judge": "none"}
    assert events == [event("judged", **told, asked=None, fallbacks={}, usage={})]


@SIDES
def test_extract_refuses_an_attempt_that_was_judged_by_what_stands_in_other_channels(asynchronously):
    verdict = Verdict(status="success", rationale="right", judge="mine").to_json()
    state = {"task": "add", "reply": "4", "verdict": verdict}
    with pytest.raises(MissingStateError, match="'extract' found nothing in channel 'answer'"):
        run(create_extract(ScriptedChatModel([])), state, asynchronously=asynchronously)


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
    with pytest.raises(
        MissingModelError, match=r"create_judge needs a model that judges: pass model=\.\.\., or judge="
    ):
        create_judge()

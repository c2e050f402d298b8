"""What the user's users see of a run: the solver's tokens, and nothing that judges and extractors say."""

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, MessagesState, StateGraph

from reasoningbank_langgraph import (
    Attempt,
    EnsembleJudge,
    SelfConsistencyJudge,
    Verdict,
    create_consolidate,
    create_extract,
    create_judge,
    create_matts,
    create_reasoning_bank,
    create_retrieve,
)
from reasoningbank_langgraph.judges import Judge
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.loop_fakes import indexed_memory, learner


class WithTools(ScriptedChatModel):
    """Takes tools, so it is asked by structured output: a chain of model and parser."""

    def bind_tools(self, tools, **options):
        return self.bind()


class Structured(ScriptedChatModel):
    def with_structured_output(self, schema, *, include_raw):
        return (self | RunnableLambda(lambda message: {"raw": message})).with_config(run_name="judge")


def solve(state):
    return {"messages": [GenericFakeChatModel(messages=iter([AIMessage("five cm")])).invoke("?")]}


def four_nodes(model, names):
    retrieve, judge, extract, consolidate = names
    builder = StateGraph(MessagesState)
    builder.add_sequence(
        [
            (retrieve, create_retrieve(task="messages")),
            ("agent", solve),
            (judge, create_judge(model, task="messages")),
            (extract, create_extract(model, task="messages")),
            (consolidate, create_consolidate()),
        ]
    )
    builder.add_edge(START, retrieve)
    return builder.compile(store=indexed_memory())


async def streamed(graph, given, **options):
    """The text of all messages, which has to be the same in sync and async code."""
    sync = [part[1][0] if options else part[0] for part in graph.stream(given, stream_mode="messages", **options)]
    parts = [part async for part in graph.astream(given, stream_mode="messages", **options)]
    text = "".join(message.text for message in sync)
    assert "".join((part[1][0] if options else part[0]).text for part in parts) == text
    return text


@pytest.mark.parametrize("kind", [ScriptedChatModel, WithTools, Structured])
@pytest.mark.parametrize(
    "names",
    [
        ("retrieve", "judge", "extract", "consolidate"),
        ("r", "RunnableSequence", "RunnableParallel<raw>", "c"),
        ("r", "ScriptedChatModel", "WithTools", "c"),
    ],
)
async def test_whatever_the_model_and_the_nodes_are_called_only_the_solver_is_streamed(kind, names):
    model = kind(learner().script)
    for options in ({}, {"subgraphs": True}):
        assert await streamed(four_nodes(model, names), {"messages": [("user", "how long?")]}, **options) == "five cm"


def secret(*_):
    return GenericFakeChatModel(messages=iter([AIMessage("SECRET RUBRIC")])).invoke("grade this")


def plainly(attempt):
    return Verdict(status="success", rationale=secret().text)


async def asynchronously(attempt):
    said = await GenericFakeChatModel(messages=iter([AIMessage("SECRET RUBRIC")])).ainvoke("grade this")
    return Verdict(status="success", rationale=said.text)


class OfTheUser(Judge):
    def invoke(self, input, config=None, **kwargs):
        return plainly(input)


def a_graph():
    class State(MessagesState):
        attempt: Attempt
        verdict: Verdict

    builder = StateGraph(State)
    builder.add_node("grade", lambda state: {"messages": [secret()], "verdict": Verdict(status="success")})
    builder.add_edge(START, "grade")
    graph = builder.compile()
    return RunnableLambda(lambda attempt: {"attempt": attempt}) | graph | RunnableLambda(lambda state: state["verdict"])


def named_like_the_node(attempt):
    RunnableLambda(secret).with_config(run_name="judge").invoke(1)
    return True


@pytest.mark.parametrize(
    "judge",
    [
        plainly,
        RunnableLambda(plainly),
        RunnableLambda(lambda attempt: attempt) | plainly,
        EnsembleJudge([plainly], rule="majority"),
        OfTheUser(),
        a_graph(),
        named_like_the_node,
        SelfConsistencyJudge(ScriptedChatModel(lambda messages: "\\boxed{5}"), n=2),
    ],
    ids=["function", "runnable", "chain", "ensemble", "judge", "graph", "named", "samples"],
)
async def test_what_models_inside_ones_own_judge_say_is_not_streamed(judge):
    graph = create_reasoning_bank(solve, model=learner(), judge=judge, task="messages").compile(store=indexed_memory())
    for options in ({}, {"subgraphs": True}):
        assert await streamed(graph, {"messages": [("user", "how long?")]}, **options) == "five cm"


async def test_nor_what_a_function_that_selects_asks_a_model():
    def select(rollouts):
        secret()
        return 0

    graph = create_matts(solve, model=learner(), k=2, select=select, task="messages").compile(store=indexed_memory())
    assert await streamed(graph, {"messages": [("user", "how long?")]}) == "five cm"


async def test_nor_what_an_async_judge_says():
    graph = create_reasoning_bank(solve, model=learner(), judge=asynchronously, task="messages")
    parts = graph.compile(store=indexed_memory()).astream({"messages": [("user", "?")]}, stream_mode="messages")
    assert "".join([part[0].text async for part in parts]) == "five cm"


async def test_traces_and_events_see_all_calls_under_their_names():
    graph = create_reasoning_bank(solve, model=learner(), task="messages").compile(store=indexed_memory())
    events = graph.astream_events({"messages": [("user", "?")]}, version="v2")
    tags = [tag async for event in events for tag in event["tags"] if event["event"] == "on_chat_model_end"]
    assert {"reasoningbank:judge", "reasoningbank:extract"} <= set(tags)

"""Graphs with channels of their own, conversations, and agents."""

import json
import operator
import os
import subprocess
import sys
from typing import Annotated

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from typing_extensions import TypedDict

from reasoningbank_langgraph import (
    MemoryBank,
    Verdict,
    create_consolidate,
    create_extract,
    create_judge,
    create_retrieve,
)
from reasoningbank_langgraph.errors import MissingStateError
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.loop.test_loop import app, config
from tests.loop_fakes import indexed_memory, learner


def test_a_graph_with_other_channel_names_says_so():
    def answering(state):
        assert state["question"]
        return {"result": "12"}

    judged = []

    def judge(attempt):
        judged.append((attempt.task, attempt.answer))
        return Verdict(status="success", judge="test")

    store = indexed_memory()
    graph = app(store, solver=answering, task="question", answer="result", judge=judge)
    assert graph.invoke({"question": "3 * 4"}, config())["result"] == "12"
    assert judged == [("3 * 4", "12")]


class OwnState(TypedDict, total=False):
    case: dict
    log: Annotated[list[str], operator.add]


def test_a_function_may_find_the_task_in_a_state_of_ones_own():
    def work(state):
        return {"log": [state["case"]["text"]], "answer": "done"}

    store = indexed_memory()
    graph = app(store, solver=work, task=lambda state: state["case"]["text"], state_schema=OwnState)
    result = graph.invoke({"case": {"text": "sort the list"}, "log": ["start"]}, config())
    assert result["log"] == ["start", "sort the list"]
    assert MemoryBank(store, ("math", "u1")).items()[0].task == "sort the list"


class Said(TypedDict, total=False):
    task: str
    said: object


@pytest.mark.parametrize("said", [AIMessage("so it is 4"), {"role": "ai", "content": "so it is 4"}])
def test_one_message_alone_is_a_conversation(said):
    judged = []

    def check(attempt):
        judged.extend(message.text for message in attempt.messages)
        return Verdict(status="success", judge="tests")

    built = app(
        indexed_memory(),
        solver=lambda state: {"said": said},
        judge=check,
        messages=lambda state: state.get("said"),
        state_schema=Said,
    )
    built.invoke({"task": "add two apples"}, config())
    assert judged == ["so it is 4"]


def test_a_solver_that_keeps_only_the_last_exchange_is_judged_by_its_own_answer():
    answers = []

    def solve(state):
        *old, asked = state["messages"]
        gone = [RemoveMessage(id=message.id) for message in old]
        return {"messages": [*gone, AIMessage(f"{asked.text} is done")]}

    def check(attempt):
        answers.append((attempt.answer, [message.text for message in attempt.messages]))
        return Verdict(status="success", judge="tests")

    graph = app(indexed_memory(), solver=solve, judge=check, task="messages")
    for task in ("one", "two", "three"):
        graph.invoke({"messages": [("user", task)]}, config())
    assert answers == [(f"{task} is done", [task, f"{task} is done"]) for task in ("one", "two", "three")]


def test_a_compiled_graph_may_be_the_solver():
    class Inner(TypedDict, total=False):
        task: str
        memory_prompt: str
        answer: str

    inner = StateGraph(Inner)
    inner.add_node("think", lambda state: {"answer": state["task"].upper()})
    inner.add_edge(START, "think")
    assert app(indexed_memory(), solver=inner.compile()).invoke({"task": "abc"}, config())["answer"] == "ABC"


@tool
def multiply(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b


class AgentState(MessagesState):
    """A state that knows nothing of memory."""

    budget: int


def react_graph(model, memory_model, store):
    """A ReAct agent with tools, into which the four nodes are dropped; only its prompt looks at the memory."""
    prompts = []

    def agent(state: AgentState):
        return {"messages": [model.invoke(state["messages"])], "budget": state["budget"] - 1}

    class Remembering(TypedDict):
        messages: list
        memory_prompt: str
        budget: int

    def remembering_agent(state: Remembering):
        hints = [HumanMessage(state["memory_prompt"])] if state["memory_prompt"] else []
        prompts.append([*hints, *state["messages"]])
        return {"messages": [model.invoke(prompts[-1])], "budget": state["budget"] - 1}

    builder = StateGraph(AgentState)
    builder.add_node("retrieve", create_retrieve(namespace="agents", task="messages"))
    builder.add_node("agent", remembering_agent)
    builder.add_node("tools", ToolNode([multiply]))
    builder.add_node("judge", create_judge(memory_model, task="messages"))
    builder.add_node("extract", create_extract(memory_model, task="messages"))
    builder.add_node("consolidate", create_consolidate(namespace="agents"))
    builder.add_edge(START, "retrieve")
    builder.add_edge("retrieve", "agent")
    builder.add_conditional_edges("agent", tools_condition, {"tools": "tools", END: "judge"})
    builder.add_edge("tools", "agent")
    builder.add_edge("judge", "extract")
    builder.add_edge("extract", "consolidate")
    return builder.compile(checkpointer=InMemorySaver(), store=store), prompts


def test_the_nodes_drop_into_a_react_agent_with_tools_and_a_state_of_its_own():
    call = AIMessage("", tool_calls=[{"name": "multiply", "args": {"a": 6, "b": 7}, "id": "1"}])
    model = ScriptedChatModel([call, AIMessage("42"), AIMessage("56")])
    memory_model = learner(titles=("use the tool",))
    store = indexed_memory()
    graph, prompts = react_graph(model, memory_model, store)
    first = graph.invoke({"messages": [HumanMessage("what is 6 times 7?")], "budget": 9}, config("a"))
    assert [type(message) for message in first["messages"]] == [HumanMessage, AIMessage, ToolMessage, AIMessage]
    assert first["budget"] == 7
    (item,) = MemoryBank(store, "agents").items()
    assert (item.title, item.task) == ("use the tool", "what is 6 times 7?")
    assert "multiply" in memory_model.calls[0][1].text
    second = graph.invoke({"messages": [HumanMessage("what is 7 times 8?")], "budget": 9}, config("b"))
    assert "use the tool" in prompts[-1][0].text
    assert "use the tool" not in str(second["messages"])


def test_a_node_whose_channels_are_missing_says_which_and_what_to_do():
    builder = StateGraph(OwnState)
    builder.add_node("extract", create_extract(learner(), task=lambda state: "x"))
    builder.add_edge(START, "extract")
    with pytest.raises(MissingStateError, match=r"'verdict'.*'judge'"):
        builder.compile().invoke({"log": []})


@pytest.mark.slow
def test_the_state_is_plain_data_so_strict_checkpoints_take_it():
    code = (
        "from tests.loop.test_loop import app, config; from tests.loop_fakes import indexed_memory;"
        "graph = app(indexed_memory());"
        "graph.invoke({'task': 'add two apples'}, config('a'));"
        "graph.invoke({'task': 'add four apples'}, config('a'));"
        "print(len(graph.get_state(config('a')).values['written']))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true"},
    )
    assert (done.stdout.strip(), done.stderr) == ("4", "")


def test_the_channels_of_the_loop_are_json():
    result = app(indexed_memory()).invoke({"task": "add two apples"}, config("a"))
    result.pop("messages")
    assert json.loads(json.dumps(result)) == result

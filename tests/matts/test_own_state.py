"""MaTTS in graphs with a state of their own, and what its channels hold."""

import json
import operator
import os
import subprocess
import sys
from typing import Annotated

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from reasoningbank_langgraph import ReasoningBankState, Scaling, create_matts, create_reasoning_bank
from tests.loop_fakes import indexed_memory, learner, solver
from tests.matts_fakes import CONFIG, TASK, bank, judged_by, matts, solving


class OwnState(TypedDict, total=False):
    task: str
    answer: str
    log: Annotated[list[str], operator.add]
    best: str


@pytest.mark.parametrize("checkpointed", [True, False])
def test_it_is_a_node_of_a_graph_with_a_state_of_its_own(checkpointed):
    store = indexed_memory()
    outer = StateGraph(OwnState)
    outer.add_node("prepare", lambda state: {"log": ["prepared"]})
    outer.add_node("matts", create_matts(solving("4", "5", "4"), model=learner(), k=3).compile())
    outer.add_node("use", lambda state: {"best": state["answer"], "log": ["used"]})
    outer.add_edge(START, "prepare")
    outer.add_edge("prepare", "matts")
    outer.add_edge("matts", "use")
    graph = outer.compile(checkpointer=InMemorySaver() if checkpointed else None, store=store)
    result = graph.invoke({**TASK, "log": ["start"]}, CONFIG)
    assert result == {**TASK, "answer": "4", "best": "4", "log": ["start", "prepared", "used"]}
    assert bank(store).totals().experiences == 1


@pytest.mark.parametrize("scaling", [None, Scaling(k=2)])
def test_a_graph_that_holds_the_loop_and_its_channels_is_shown_what_its_thread_learned(scaling):
    store = indexed_memory()
    loop = create_reasoning_bank(solving("4") if scaling else solver, model=learner(), scaling=scaling).compile()
    outer = StateGraph(ReasoningBankState).add_node("loop", loop).add_edge(START, "loop")
    graph = outer.compile(checkpointer=InMemorySaver(), store=store)
    assert [bool(graph.invoke({"task": f"add {fruit}"}, CONFIG)["memories"]) for fruit in ("figs", "pears")] == [
        False,
        True,
    ]


class Cases(TypedDict, total=False):
    case: dict
    log: Annotated[list[str], operator.add]
    result: str


def test_channels_of_ones_own_end_as_if_the_selected_rollout_had_been_the_only_one():
    def work(state, config):
        number = config["configurable"]["rollout"]
        return {"log": [f"{state['case']['text']} {number}"], "result": "right" if number else "wrong"}

    from langchain_core.runnables import RunnableLambda

    graph = matts(
        RunnableLambda(work),
        k=3,
        task=lambda state: state["case"]["text"],
        answer="result",
        judge=judged_by("right"),
        state_schema=Cases,
    )
    result = graph.invoke({"case": {"text": "sort"}, "log": ["start"]}, CONFIG)
    assert (result["log"], result["result"]) == (["start", "sort 1"], "right")
    assert result["rollout_values"] == {}


def test_a_compiled_graph_may_be_the_solver():
    inner = StateGraph(OwnState)
    inner.add_node("think", lambda state: {"answer": state["task"].upper()})
    inner.add_edge(START, "think")
    assert matts(inner.compile(), k=2).invoke({"task": "abc"}, CONFIG)["answer"] == "ABC"


def test_all_channels_but_the_messages_are_json():
    result = matts(solving("4", ValueError("boom")), k=3).invoke(TASK, CONFIG)
    result.pop("messages")
    assert json.loads(json.dumps(result)) == result


@pytest.mark.slow
def test_strict_checkpoints_take_the_state():
    code = (
        "from tests.matts_fakes import *; graph = matts(solving('4', ValueError('boom')), k=3);"
        "graph.invoke(TASK, CONFIG); print(len(graph.invoke({'task': 'add pears'}, CONFIG)['rollouts']))"
    )
    env = {**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true"}
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert (done.stdout.strip(), done.stderr) == ("3", "")

"""Solvers that cannot be shown the task or the lessons: the first are refused, the others used no lesson."""

import pytest
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from reasoningbank_langgraph import MemoryBank, create_matts, create_reasoning_bank
from tests.loop_fakes import indexed_memory, learner
from tests.solvers.test_solvers import FIRST, NOTES, SECOND, app, config


class Question(TypedDict, total=False):
    question: str


class Deaf(TypedDict, total=False):
    task: str
    answer: str


def graph_on(schema):
    builder = StateGraph(schema)
    builder.add_node("think", lambda state: {"answer": "five"})
    builder.add_edge(START, "think")
    return builder.compile()


@pytest.mark.parametrize("build", [create_reasoning_bank, create_matts])
def test_a_graph_that_reads_neither_task_nor_conversation_is_refused_when_it_is_built_in(build):
    with pytest.raises(ValueError, match=r"reads question, .*'messages'.*'task'.*memory_prompt: str"):
        build(graph_on(Question), model=learner())
    assert build(graph_on(Question), model=learner(), task="question")


def typed(state: Deaf):
    return {"answer": "five"}


@pytest.mark.parametrize("build", [create_reasoning_bank, create_matts])
@pytest.mark.parametrize("solver", [graph_on(Deaf), typed], ids=["graph", "function"])
def test_lessons_that_a_solver_cannot_be_shown_are_none_it_used(build, solver, caplog):
    store = indexed_memory()
    graph = app(solver, store, build)
    assert "memory_prompt: str" in caplog.text
    graph.invoke({"task": FIRST}, config("1"))
    result = graph.invoke({"task": SECOND}, config("2"))
    assert (result["memories"], result["memory_prompt"]) == ([], "")
    bank = MemoryBank(store, "reasoningbank")
    first, second = bank.items()
    assert second.provenance.memory_ids_used == ()
    assert bank.forget(first.id) == [first.id]


def test_a_function_that_takes_the_whole_state_or_names_the_lessons_is_shown_them(caplog):
    class Showing(Deaf, total=False):
        memory_prompt: str

    def names(state: Showing):
        return {"answer": state["memory_prompt"] or "five"}

    store = indexed_memory()
    for solver in (names, lambda state: {"answer": state["memory_prompt"] or "five"}):
        app(solver, store).invoke({"task": f"{FIRST} {solver}"}, config(str(solver)))
    assert NOTES in app(names, store).invoke({"task": SECOND}, config())["answer"]
    assert caplog.text == ""

"""Solvers that cannot be shown the task or the lessons: the first are refused, the others used no lesson."""

import pytest
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from reasoningbank_langgraph import Guard, MemoryBank, create_matts, create_reasoning_bank
from reasoningbank_langgraph.policies import GuardStatus
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


class Prompted(Deaf, total=False):
    memory_prompt: str


def prompted(state: Prompted):
    return {"answer": state["memory_prompt"] or "five"}


def solved(solver, build, show):
    """Solve six tasks under a guard; return the bank, the states and the events of the searches."""
    store, states, events = indexed_memory(), [], []
    graph = app(solver, store, build, guard=Guard(share=0.5), show=show, min_example_score=None)
    for number in range(6):
        stream = graph.stream({"task": f"{FIRST} {number}"}, config(str(number)), stream_mode=["custom", "values"])
        *others, (_, state) = stream
        states.append(state)
        events += [told for mode, told in others if mode == "custom" and told["event"] == "retrieved"]
    return MemoryBank(store, "reasoningbank"), states, events


@pytest.mark.parametrize("build", [create_reasoning_bank, create_matts])
@pytest.mark.parametrize(("solver", "show"), [(typed, "lessons"), (typed, "both"), (prompted, "examples")])
def test_a_guard_counts_no_memory_that_the_solver_cannot_be_shown(build, solver, show):
    bank, states, events = solved(solver, build, show)
    assert (len(states), [state["trial"] for state in states]) == (6, [None] * 6)
    assert bank.guard() == GuardStatus()
    assert [(event["count"], event["ids"], event.get("examples", [])) for event in events] == [(0, [], [])] * 6


def test_a_guard_counts_the_lessons_of_a_solver_that_is_shown_those_alone():
    bank, states, events = solved(prompted, create_reasoning_bank, "both")
    assert bank.guard().shown + bank.guard().held_out == 5
    assert any(state["trial"]["ids"] for state in states[1:])
    assert not any(event["examples"] for event in events)


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

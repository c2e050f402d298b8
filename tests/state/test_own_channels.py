"""A user's own channels: those the loop would overwrite are refused when the graph is built, and no others."""

import operator
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, Optional, Required

import pytest
from typing_extensions import TypedDict

from reasoningbank_langgraph import ReasoningBankState, create_matts, create_reasoning_bank
from reasoningbank_langgraph.state import StartedAttempt, add_ids
from tests.loop_fakes import indexed_memory, learner, solver

LOOPS = pytest.mark.parametrize("build", [create_reasoning_bank, create_matts])


def with_channel(name, kind):
    return TypedDict("Mine", {"task": str, "answer": str, name: kind}, total=False)


@LOOPS
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("trial", str),
        ("trial", Any),
        ("episodes", dict[str, str]),
        ("kept", NotRequired[bool]),
        ("memory_examples", object),
        ("lessons", Annotated[str, operator.add]),
        ("attempt", int),
        ("written", Literal["yes", "no"]),
        ("verdict", str | None),
    ],
)
def test_a_channel_of_ones_own_that_the_loop_would_overwrite_is_refused(build, name, kind):
    with pytest.raises(ValueError, match=rf"channel '{name}' of your state is declared as .* give yours another name"):
        build(solver, model=learner(), state_schema=with_channel(name, kind))


@LOOPS
def test_so_are_a_task_and_an_answer_in_such_a_channel(build):
    with pytest.raises(ValueError, match="answer='lessons' is a channel that the loop fills itself"):
        build(solver, model=learner(), answer="lessons")
    with pytest.raises(ValueError, match="task='trial' is a channel"):
        build(solver, model=learner(), task="trial")


class Reading(TypedDict, total=False):
    task: Required[str]
    answer: str
    reference: int
    memory_prompt: str
    memory_messages: Sequence[dict[str, str]]
    memories: list
    memory_examples: Annotated[list[Any] | None, "shown"]
    trial: Mapping[str, Any] | None
    verdict: Optional[dict]  # noqa: UP045
    attempt: NotRequired[StartedAttempt]
    unwritten: list[dict]
    written: Annotated[list[str], add_ids]


class Whole(ReasoningBankState, total=False):
    note: str


@LOOPS
@pytest.mark.parametrize("schema", [Reading, Whole])
def test_channels_of_the_loop_may_be_declared_to_be_read(build, schema):
    store = indexed_memory()
    graph = build(solver, model=learner(), state_schema=schema).compile(store=store)
    graph.invoke({"task": "add two apples"})
    assert len(graph.invoke({"task": "add two pears"})["memories"]) == 2


def test_what_only_the_scaled_graph_fills_may_be_ones_own_in_the_loop():
    kind, seen = with_channel("credit", float), []

    def pay(state):
        seen.append(state["credit"])
        return {"answer": "paid"}

    built = create_reasoning_bank(pay, model=learner(), state_schema=kind).compile(store=indexed_memory())
    assert built.invoke({"task": "pay the bill", "credit": 2.5})["credit"] == 2.5
    assert seen == [2.5]
    with pytest.raises(ValueError, match="channel 'credit' of your state is declared as <class 'float'>"):
        create_matts(pay, model=learner(), state_schema=kind)

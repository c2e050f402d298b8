"""Graphs whose state is of another kind, or of the user's own making."""

import asyncio
from dataclasses import dataclass, field
from typing import Annotated

import pytest
from langgraph.graph import START, StateGraph
from pydantic import BaseModel

from reasoningbank_langgraph import (
    MemoryBank,
    create_consolidate,
    create_extract,
    create_judge,
    create_matts,
    create_reasoning_bank,
    create_retrieve,
)
from reasoningbank_langgraph.state import add_ids
from tests.loop_fakes import indexed_memory, learner


class Model(BaseModel):
    question: str
    answer: str | None = None
    messages: list = []
    memory_prompt: str = ""
    memories: list = []
    attempt: dict | None = None
    verdict: dict | None = None
    lessons: list = []
    extraction: dict | None = None
    memory_error: str | None = None
    unwritten: list = []
    written: Annotated[list[str], add_ids] = []


@dataclass
class Data:
    question: str
    answer: str | None = None
    messages: list = field(default_factory=list)
    memory_prompt: str = ""
    memories: list = field(default_factory=list)
    attempt: dict | None = None
    verdict: dict | None = None
    lessons: list = field(default_factory=list)
    extraction: dict | None = None
    memory_error: str | None = None
    unwritten: list = field(default_factory=list)
    written: Annotated[list[str], add_ids] = field(default_factory=list)


KINDS = pytest.mark.parametrize("kind", [Model, Data])
SELECTORS = {"task": lambda s: s.question, "answer": lambda s: s.answer, "messages": lambda s: s.messages}


@KINDS
def test_functions_read_a_state_that_is_a_model_or_a_dataclass_in_every_node(kind):
    store, model = indexed_memory(), learner()
    builder = StateGraph(kind)
    builder.add_sequence(
        [
            ("retrieve", create_retrieve(**SELECTORS)),
            ("solve", lambda state: {"answer": f"{len(state.question)}"}),
            ("judge", create_judge(model, **SELECTORS)),
            ("extract", create_extract(model, **SELECTORS)),
            ("consolidate", create_consolidate()),
        ]
    )
    app = builder.add_edge(START, "retrieve").compile(store=store)
    app.invoke({"question": "add two apples"})
    result = asyncio.run(app.ainvoke({"question": "add two pears"}))
    assert (len(result["memories"]), len(result["written"])) == (2, 2)
    assert {item.task for item in MemoryBank(store, "reasoningbank").items()} == {"add two apples", "add two pears"}


@dataclass
class Case:
    question: str
    hint: str = "none"


class CaseModel(BaseModel):
    question: str
    hint: str = "none"


@pytest.mark.parametrize("build", [create_reasoning_bank, create_matts])
@pytest.mark.parametrize("kind", [Case, CaseModel])
def test_functions_of_a_loop_with_such_a_state_get_it_as_it_is(build, kind):
    store = indexed_memory()

    def solve(state: kind):
        return {"answer": f"{state.question} {state.hint}"}

    builder = build(solve, model=learner(), state_schema=kind, task=lambda state: f"{state.question}, {state.hint}")
    result = builder.compile(store=store).invoke({"question": "add two apples"})
    assert result["answer"] == "add two apples none"
    assert MemoryBank(store, "reasoningbank").items()[0].task == "add two apples, none"

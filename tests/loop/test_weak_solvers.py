"""A weak model solves with lessons that it is not asked to speak of first; a strong one is asked, as in the paper."""

import pytest
from langchain_core.messages import AIMessage

from reasoningbank_langgraph import MemoryBank, ReasoningBankMiddleware, Scaling, create_matts, create_reasoning_bank
from reasoningbank_langgraph.math_solver import create_math_solver
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.bank.test_bank import lesson
from tests.loop_fakes import indexed_memory

NAMESPACE = ("m",)
ASKED = "whether it applies"


def model(parameters):
    return ScriptedChatModel(lambda messages: AIMessage("\\boxed{5}"), metadata={"parameters": parameters})


WEAK, STRONG = model(1_500_000_000), model(7_000_000_000)


@pytest.fixture
def store():
    filled = indexed_memory()
    MemoryBank(filled, NAMESPACE).add([lesson("check the units", "add two apples")])
    return filled


def shown(builder, store):
    prompt = builder.compile(store=store).invoke({"task": "add four apples"})["memory_prompt"]
    assert "check the units" in prompt
    return prompt


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({"model": WEAK}, False),
        ({"model": STRONG}, True),
        ({}, True),
        ({"model": STRONG, "weak": True}, False),
        ({"model": WEAK, "weak": False}, True),
    ],
)
@pytest.mark.parametrize("make", [create_reasoning_bank, create_matts])
def test_what_is_not_said_of_the_solver_is_taken_from_the_model(make, given, asked, store):
    graph = make(lambda state: {"answer": "5"}, namespace=NAMESPACE, learn=False, **given)
    assert (ASKED in shown(graph, store)) is asked


@pytest.mark.parametrize(
    ("parameters", "settings", "warned"),
    [
        (135_000_000, {}, True),
        (135_000_000, {"show": "examples"}, False),
        (135_000_000, {"extract_model": STRONG}, False),
        (135_000_000, {"learn": False}, False),
        (500_000_000, {}, False),
    ],
)
@pytest.mark.parametrize("make", [create_reasoning_bank, create_matts, ReasoningBankMiddleware])
def test_a_memory_that_would_never_show_anything_says_so_when_it_is_made(make, parameters, settings, warned, caplog):
    solver = [] if make is ReasoningBankMiddleware else [lambda state: {"answer": "5"}]
    make(*solver, model=model(parameters), **settings)
    assert ("is too small to write lessons" in caplog.text) is warned


@pytest.mark.parametrize("scaling", [None, Scaling(k=2)])
@pytest.mark.parametrize(("solves", "judges", "asked"), [(WEAK, STRONG, False), (STRONG, WEAK, True)])
def test_in_the_math_solver_the_model_that_solves_decides(solves, judges, asked, scaling, store):
    options = {"namespace": NAMESPACE, "learn": False, "scaling": scaling, "show": "lessons"}
    graph = create_math_solver(solves, judge_model=judges, **options)
    assert (ASKED in shown(graph, store)) is asked

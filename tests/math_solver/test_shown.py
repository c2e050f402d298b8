"""What the bundled solver is shown: lessons where the model is strong, a solution of its own where it is weak."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from reasoningbank_langgraph import MemoryBank
from reasoningbank_langgraph.math_solver import MATH_NAMESPACE, create_math_solver
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.loop_fakes import indexed_memory, lessons


def reply(messages):
    system = messages[0].text
    return lessons("add them up") if "You teach" in system or "step by step" not in system else r"\boxed{5}"


def shown(parameters, **options):
    """Whether lessons and whether an example came before the second of two problems."""
    model = ScriptedChatModel(reply, metadata={"parameters": parameters} if parameters else None)
    store = indexed_memory()
    app = create_math_solver(model, **options).compile(checkpointer=InMemorySaver(), store=store)
    for number, task in enumerate(["What is 2 + 3?", "What is 1 + 4?"]):
        state = app.invoke({"task": task, "reference": "5"}, {"configurable": {"thread_id": str(number)}})
    assert MemoryBank(store, MATH_NAMESPACE).episodes()
    return bool(state["memory_prompt"]), bool(state["memory_messages"])


@pytest.mark.parametrize(
    ("parameters", "options", "expected"),
    [
        (None, {}, (True, False)),
        (7_000_000_000, {}, (True, False)),
        (500_000_000, {}, (False, True)),
        (None, {"weak": True}, (False, True)),
        (7_000_000_000, {"show": "both"}, (True, True)),
    ],
)
def test_a_weak_model_is_shown_an_example_and_a_strong_one_lessons_unless_told(parameters, options, expected):
    assert shown(parameters, **options) == expected

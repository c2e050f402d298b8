"""Functions that remember: in a script, in LangGraph's functional API, and the nodes as plain calls there."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint

from reasoningbank_langgraph import (
    create_consolidate,
    create_extract,
    create_judge,
    create_retrieve,
    errors,
    remembering,
)
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.agents.agent_fakes import BANK, FENCE, bank, thread, titles
from tests.loop_fakes import indexed_memory, learner, lessons, verdict

TASKS = ["How long is this table?", "How long is that table?"]


class Solver:
    def __init__(self):
        self.seen = []

    def __call__(self, task, notes):
        self.seen.append((task, FENCE in notes))
        return "3 m"


async def test_outside_any_graph_a_function_is_shown_lessons_and_learns():
    store, solve = indexed_memory(), Solver()
    ask = remembering(solve, model=learner(), store=store, namespace=BANK)
    assert [ask(task) for task in TASKS] == ["3 m", "3 m"]
    assert solve.seen == [(TASKS[0], False), (TASKS[1], True)]
    assert len(bank(store).episodes()) == 2

    async def asolve(task, notes):
        return f"{solve(task, notes)}!"

    class Asolver:
        async def __call__(self, task, notes):
            return await asolve(task, notes)

    for number, each in enumerate((asolve, Asolver())):
        task = f"How long is cable {number}?"
        assert await remembering(each, model=learner(), store=store, namespace=BANK)(task) == "3 m!"
    assert len(bank(store).episodes()) == 4


def test_the_labels_of_a_bank_come_with_the_call():
    store = indexed_memory()
    ask = remembering(Solver(), model=learner(), store=store, namespace=("agents", "{user_id}"))
    ask(TASKS[0], {"configurable": {"user_id": "u1"}})
    assert titles(store, ("agents", "u1")) == ["check the units", "draw a picture"]
    with pytest.raises(errors.MissingNamespaceLabelError):
        ask(TASKS[0])


def test_in_an_entrypoint_its_store_and_its_checkpointer_are_used():
    store, solve, asked = indexed_memory(), Solver(), []

    def reply(messages):
        asked.append("judge" if "You check whether" in messages[0].text else "extract")
        if len(asked) == 4:
            raise KeyboardInterrupt
        return verdict() if asked[-1] == "judge" else lessons("check the units", way=len(asked))

    ask = remembering(solve, model=ScriptedChatModel(reply), namespace=BANK)

    @entrypoint(checkpointer=InMemorySaver(), store=store)
    def app(tasks):
        return [ask(task) for task in tasks]

    with pytest.raises(KeyboardInterrupt):
        app.invoke(TASKS, thread(), durability="sync")
    assert len(bank(store).episodes()) == 1
    assert app.invoke(None, thread(), durability="sync") == ["3 m", "3 m"]
    assert asked == ["judge", "extract", "judge", "extract", "extract"]
    assert solve.seen == [(TASKS[0], False), (TASKS[1], True)]
    assert len(bank(store).episodes()) == 2
    assert len(titles(store)) == 2


def test_the_nodes_can_be_called_one_by_one_in_an_entrypoint():
    store, model = indexed_memory(), learner()
    retrieve = create_retrieve(namespace=BANK)
    after = [create_judge(model), create_extract(model), create_consolidate(namespace=BANK)]

    @entrypoint(checkpointer=InMemorySaver(), store=store)
    def app(task):
        state = {"task": task}
        state |= retrieve.invoke(state)
        state["answer"] = "3 m"
        for node in after:
            state |= node.invoke(state)
        return state["memory_prompt"]

    assert [FENCE in app.invoke(task, thread(name)) for name, task in zip("ab", TASKS, strict=True)] == [False, True]
    assert len(bank(store).episodes()) == 2


def test_without_a_store_anywhere_the_error_says_so():
    with pytest.raises(errors.MissingStoreError):
        remembering(Solver(), model=learner(), namespace=BANK)(TASKS[0])

"""A thread's lessons are hidden from it only where they are known to be of another branch; what is unknown is shown."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint

from reasoningbank_langgraph import Verdict, create_consolidate, create_extract, create_judge, create_retrieve
from tests.bank.thread_runs import CONFIG, MODEL, Looking, bank, loop, matts, run, tasks
from tests.loop_fakes import indexed_memory


@pytest.mark.parametrize("build", [loop, matts])
def test_without_a_checkpointer_there_are_no_branches_whatever_the_thread_id(build):
    solver, store = Looking(), indexed_memory()
    run(build(solver).compile(store=store), 1, 2, 3)
    assert solver.seen["task 3"] == tasks(1, 2)


@pytest.mark.parametrize("build", [loop, matts])
@pytest.mark.parametrize("length", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_a_bank_that_outlives_its_checkpoints_is_shown_to_its_threads(build, length):
    store = indexed_memory()
    run(build(Looking()).compile(checkpointer=InMemorySaver(), store=store), *range(length))
    solver = Looking()
    run(build(solver).compile(checkpointer=InMemorySaver(), store=store), "a", "b")
    assert solver.seen["task a"] == tasks(*range(length))
    assert solver.seen["task b"] == tasks(*range(length), "a")


async def test_a_deleted_thread_is_shown_what_it_learned_before():
    solver, store, saver = Looking(), indexed_memory(), InMemorySaver()
    app = loop(solver).compile(checkpointer=saver, store=store)
    await app.ainvoke({"task": "task 1"}, CONFIG)
    await saver.adelete_thread("t")
    await app.ainvoke({"task": "task 2"}, CONFIG)
    assert solver.seen["task 2"] == tasks(1)


def test_two_programs_with_one_thread_id_and_one_bank_see_each_others_lessons():
    store, solvers = indexed_memory(), [Looking(), Looking()]
    apps = [loop(solver).compile(checkpointer=InMemorySaver(), store=store) for solver in solvers]
    for number in range(4):
        run(apps[number % 2], number)
    assert solvers[1].seen["task 3"] == tasks(0, 1, 2)


def test_lessons_that_tell_of_no_branch_are_shown():
    solver, store = Looking(), indexed_memory()
    app = loop(solver).compile(checkpointer=InMemorySaver(), store=store)
    run(app, 1)
    (new,) = bank(store).items()
    plain = {"origin": "", "line": (), "after": None, "attempt_digest": "other"}
    old = new.model_copy(
        update={
            "id": "old",
            "experience_id": "old",
            "task": "task 0",
            "provenance": new.provenance.model_copy(update=plain),
        }
    )
    bank(store).add([old])
    run(app, 2)
    assert solver.seen["task 2"] == tasks(0, 1)


def functional(solver, saver, store, *, keep):
    nodes = [
        create_judge(judge=lambda attempt: Verdict(status="success", judge="tests")),
        create_extract(MODEL),
        create_consolidate(),
    ]
    retrieve = create_retrieve(k=50, max_items=250)

    @entrypoint(checkpointer=saver, store=store)
    def work(task, *, previous=None):
        state = {"task": task, **({"written": (previous or {}).get("written", [])} if keep else {})}
        state |= retrieve.invoke(state)
        state |= solver(state)
        before = state.get("written", [])
        for node in nodes:
            state |= node.invoke(state)
        return {**state, "written": [*before, *state["written"]]}

    return work


@pytest.mark.parametrize("keep", [True, False])
def test_a_function_of_ones_own_is_shown_what_its_thread_learned(keep):
    solver, store = Looking(), indexed_memory()
    work = functional(solver, InMemorySaver(), store, keep=keep)
    for number in (1, 2, 3):
        work.invoke(f"task {number}", CONFIG)
    assert solver.seen["task 3"] == tasks(1, 2)

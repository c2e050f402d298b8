"""Several rollouts of a task that wait together are one attempt to a walk over threads: learned from once."""

import pytest

from reasoningbank_langgraph import ReferenceJudge, Verdict, create_matts, create_reasoning_bank
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.learn.past import EVER, Past, config, teacher
from tests.learn.test_outages import failing
from tests.loop_fakes import solver

WAITING = {
    "for a verdict": {"learn": "deferred"},
    "for a verdict, judged": {"learn": "deferred", "judge": ReferenceJudge()},
    "for a model that judges": {"model": failing("judge")},
    "for a model that distils": {"model": failing("distil"), "judge": ReferenceJudge()},
}


def left_waiting(**settings):
    """Two rollouts, of which one is right, that wait in the bank; their graph, and what waits."""
    past, answers = Past(), iter(["14", "3"])
    graph = create_matts(
        lambda _: {"answer": next(answers)}, k=2, namespace=("math", "{user_id}"), max_concurrency=1, **settings
    ).compile(checkpointer=past.saver, store=past.store)
    graph.invoke({"task": "add two apples", "reference": "14"}, config())
    (waiting,) = past.bank().pending()
    return past, graph, waiting


@pytest.mark.parametrize("settings", WAITING.values(), ids=WAITING)
def test_a_walk_ends_their_waiting_so_that_nothing_is_learned_from_them_twice(settings):
    past, graph, waiting = left_waiting(**settings)
    kept = past.bank().episodes()
    coverage = past.learn(graph, judge=ReferenceJudge())
    if kept:  # they were judged: `resolve_overdue` distils them
        assert (coverage.reasons, past.bank().pending()) == ({"already_learned": 1}, [waiting])
    else:
        assert (coverage.learned, past.bank().pending()) == (1, [])
        assert [one.id for one in past.bank().episodes()] == [waiting.id]
    before = past.rows()
    for known in (graph, None):
        assert past.learn(known, since=EVER).reasons == {"already_learned": 1}
    assert past.rows() == before


def test_a_verdict_that_comes_after_the_walk_overturns_what_it_learned():
    past, graph, waiting = left_waiting(learn="deferred")
    past.learn(graph)
    past.bank().resolve(waiting.id, Verdict(status="failure", judge="thumb"), model=teacher())
    assert [(item.outcome, item.status) for item in past.bank().items()] == [
        ("success", "superseded"),
        ("failure", "active"),
    ]


def test_those_that_were_given_up_are_not_learned_from_by_a_walk():
    past, graph, waiting = left_waiting(learn="deferred")
    past.bank().drop_pending(waiting.id)
    past.model = ScriptedChatModel([])
    assert past.learn(graph).reasons == {"forgotten": 1}


def test_what_waits_of_one_task_is_not_taken_for_the_next_task_of_the_thread():
    past, _, _ = left_waiting(learn="deferred")
    graph = create_reasoning_bank(solver, namespace=("math", "{user_id}"), learn=False).compile(
        checkpointer=past.saver, store=past.store
    )
    graph.invoke({"task": "add two pears"}, config())
    assert past.learn(graph).learned == 2
    assert sorted(past.tasks()) == ["add two apples", "add two pears"]

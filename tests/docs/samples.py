"""One event of each kind, as a graph with fakes yields it."""

import json

from reasoningbank_langgraph import Guard, MemoryBank, MemoryItem, create_matts, create_reasoning_bank
from reasoningbank_langgraph.policies import Evidence, Trial
from tests.docs.conftest import Adder
from tests.loop_fakes import indexed_memory

LEARNED = MemoryItem(
    id="0b3e7a52-6f0d-5d0c-9a55-3c1f7b8e2d41",
    title="Add the ones first",
    description="When numbers are added.",
    content="Add the ones, carry, then add the tens.",
    outcome="success",
    task="What is 4 + 7?",
)
GUARD = Guard(share=0.01, alpha=0.7)
"""Decides after one pair."""


def samples():
    """Return an event of each kind, by its kind, without what differs from run to run."""
    settings = {"model": Adder(), "namespace": ("math", "{user_id}")}
    graphs = [
        create_matts(_solver, k=2, max_concurrency=1, **settings),
        create_reasoning_bank(_solver, judge=lambda _: True, guard=GUARD, **settings),
        create_reasoning_bank(_solver, **settings),
    ]
    return {event["event"]: _sample(event) for graph in graphs for event in _events(graph)}


def _solver(state):
    return {"answer": "5"}


def _events(graph):
    store, config = indexed_memory(), {"configurable": {"thread_id": "t1", "user_id": "ann"}}
    held_out = Trial(guard=GUARD, task_key="another", test=0, withheld="held_out", right=False)
    MemoryBank(store, ("math", "ann")).add([LEARNED], evidence=Evidence(held_out))
    return graph.compile(store=store).stream({"task": "What is 2 + 3?"}, config, stream_mode="custom")


def _sample(event):
    event |= {"ms": 1.5, "ids": [LEARNED.id for _ in event["ids"]]}
    event |= {"scores": [0.62 for _ in event["scores"]]} if "scores" in event else {}
    lines = [f"    {json.dumps(name)}: {json.dumps(value)}" for name, value in event.items()]
    return "\n".join(["{", ",\n".join(lines), "}"])

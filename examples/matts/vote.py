"""Several attempts in one's own graph, with a solver of one's own: no model, no key, no network.

    python examples/matts/vote.py

A clumsy clerk adds up bills and is right in three of four attempts. MaTTS lets him make five, takes the answer of most,
and stops as soon as no further attempt could change it.
"""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.store.memory import InMemoryStore
from typing_extensions import TypedDict

from reasoningbank_langgraph import create_matts


class Bills(TypedDict, total=False):
    """State of the user's graph."""

    amounts: list[int]
    task: str
    answer: str
    letter: str


def clerk(state: dict[str, Any], config: RunnableConfig) -> dict[str, str]:
    """Add up; the last of four attempts forgets an item."""
    amounts = [int(word) for word in state["task"].split() if word.isdecimal()]
    slip = config["configurable"]["rollout"] % 4 == 3
    return {"answer": str(sum(amounts[1:] if slip else amounts))}


def phrase(state: Bills) -> Bills:
    """Put the bill into words."""
    return {"task": "add up " + " and ".join(str(amount) for amount in state["amounts"])}


def write(state: Bills) -> Bills:
    """Use the answer."""
    return {"letter": f"You owe us {state['answer']}."}


# learn=False: this clerk has no model that could put lessons into words. With one, leave it out and give model=...
voting = create_matts(clerk, k=5, stop_after=3, learn=False)

builder = StateGraph(Bills)
builder.add_node("phrase", phrase)
builder.add_node("solve", voting.compile())
builder.add_node("write", write)
builder.add_edge(START, "phrase")
builder.add_edge("phrase", "solve")
builder.add_edge("solve", "write")
graph = builder.compile(store=InMemoryStore())

if __name__ == "__main__":
    for event in graph.stream({"amounts": [12, 30, 7]}, stream_mode="custom", subgraphs=True):
        print(event)
    print(graph.invoke({"amounts": [12, 30, 7]})["letter"])
    print(voting.compile().get_graph(xray=True).draw_mermaid())

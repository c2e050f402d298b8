"""Tokens of five attempts that bring memory in on disagreement against five that all see it, as a ratio in one run.

python -m tests.benchmarks.gate [tasks]

A token is taken for four characters. The model is wrong in every second attempt without lessons, on as many of the
tasks as are to disagree.
"""

from __future__ import annotations

import sys
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph import MemoryBank, MemoryItem, create_matts
from reasoningbank_langgraph.math_solver import solve_prompt
from reasoningbank_langgraph.testing import HashEmbeddings

SHARES = (0.0, 0.25, 0.5, 1.0)
STEPS = "First add the tens, then the ones, and write down each step. "


def solve(state: dict[str, Any], config: RunnableConfig) -> dict[str, Any]:
    number = config["configurable"]["rollout"]
    wrong = "hard" in state["task"] and not state["memory_prompt"] and number % 2
    reply = f"{STEPS * 10}So \\boxed{{{5 if wrong else 4}}}."
    read = sum(len(message.text) for message in solve_prompt(state)) // 4
    written = len(reply) // 4
    usage = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    return {"messages": [AIMessage(reply, usage_metadata=usage)]}


def store_with_lessons() -> InMemoryStore:
    store = InMemoryStore(index={"dims": 64, "embed": HashEmbeddings(), "fields": ["$"]})
    lesson = {"title": "check the sum", "description": "when adding", "content": "add in another order" * 10}
    item = MemoryItem(**lesson, outcome="success", task="add some plums", experience_id="e")
    MemoryBank(store, "reasoningbank").add([item])
    return store


def tokens(tasks: int, share: float, memory: Any) -> tuple[int, int]:
    """Return the tokens of all attempts, and how many tasks came out right."""
    app = create_matts(solve, k=5, memory=memory, select="majority", learn=False).compile(store=store_with_lessons())
    used = right = 0
    for number in range(tasks):
        kind = "hard" if number < share * tasks else "easy"
        result = app.invoke({"task": f"add {number} {kind} apples"})
        used += result["selection"]["tokens"]["used"]
        right += "\\boxed{4}" in result["answer"]
    return used, right


def main(tasks: int) -> None:
    for share in SHARES:
        every, gated = tokens(tasks, share, "all"), tokens(tasks, share, "on_disagreement")
        print(
            f"disagreement on {share:4.0%} of {tasks} tasks: {gated[0] / every[0]:.2f} of the tokens "
            f"({gated[0]:,} against {every[0]:,}), right {gated[1]} against {every[1]}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)

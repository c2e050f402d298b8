"""Wall time of k = 5 parallel rollouts against k = 1, with a model that takes 200 ms a call, and memory over 200 runs.

python -m tests.benchmarks.matts [runs]
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph import create_matts
from reasoningbank_langgraph.math_solver import solve_step
from reasoningbank_langgraph.testing import HashEmbeddings, ScriptedChatModel

SECONDS = 0.2
TIMED = 7


class SlowModel(ScriptedChatModel):
    """Takes its time without holding the event loop, as a client of a server does."""

    async def _agenerate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        await asyncio.sleep(self.delay)
        self.calls.append(messages)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(self.script(messages)))])


def reply(messages: list[Any]) -> str:
    if "You check whether" in messages[0].text:
        return json.dumps({"rationale": "checked", "status": "success", "confidence": 0.9})
    if "You teach" in messages[0].text:
        lesson = {"title": "check the sum", "description": "when adding", "content": "add in another order"}
        return json.dumps({"items": [lesson]})
    return "\\boxed{4}"


def builder(k: int, model: SlowModel) -> Any:
    return create_matts(solve_step(model, 64), model=model, k=k)


def compiled(built: Any) -> Any:
    store = InMemoryStore(index={"dims": 64, "embed": HashEmbeddings(), "fields": ["$"]})
    return built.compile(checkpointer=InMemorySaver(), store=store)


def config(number: int) -> dict[str, Any]:
    return {"configurable": {"thread_id": f"t{number}"}}


def seconds_sync(k: int) -> float:
    app = compiled(builder(k, SlowModel(reply, delay=SECONDS)))
    app.invoke({"task": "warm up"}, config(-1))
    taken = []
    for number in range(TIMED):
        start = time.perf_counter()
        app.invoke({"task": f"add {number} apples"}, config(number))
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def seconds_async(k: int) -> float:
    async def timed() -> float:
        app = compiled(builder(k, SlowModel(reply, delay=SECONDS)))
        await app.ainvoke({"task": "warm up"}, config(-1))
        taken = []
        for number in range(TIMED):
            start = time.perf_counter()
            await app.ainvoke({"task": f"add {number} apples"}, config(number))
            taken.append(time.perf_counter() - start)
        return statistics.median(taken)

    return asyncio.run(timed())


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def memory(runs: int) -> list[float]:
    """Resident megabytes after each fifth of the runs of one graph; threads and bank are new each time."""
    taken, model = [], SlowModel(reply)
    built = builder(5, model)
    for number in range(runs):
        compiled(built).invoke({"task": f"add {number} apples"}, config(number))
        model.calls.clear()
        if (number + 1) % (runs // 5) == 0:
            gc.collect()
            taken.append(round(resident_mb(), 1))
    return taken


def main(runs: int) -> None:
    for name, timed in (("sync", seconds_sync), ("async", seconds_async)):
        one, five = timed(1), timed(5)
        print(
            f"{name}: k=1 {one:.3f} s, k=5 {five:.3f} s, ratio {five / one:.2f} (median of {TIMED}, 3 calls in a row)"
        )
    print(f"memory after each fifth of {runs} runs of k=5: {memory(runs)} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)

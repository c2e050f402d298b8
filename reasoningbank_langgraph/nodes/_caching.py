"""Whether LangGraph keeps what a node does in a cache: then the memory of one tenant would be handed to another.

No public interface tells. The function that starts further tasks from the running one stands in its config, and knows
the task and the graph that runs it; the config of that graph holds the same of the task around it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig

logger = logging.getLogger(__name__)


class Watch:
    """Looks for caches, and says once where it cannot see."""

    def __init__(self) -> None:
        self._blind = False

    def sees_cache(self, config: RunnableConfig) -> bool:
        """Say whether the running task, or one around it, has a cache policy."""
        try:
            return any(task.cache_key is not None for task in _tasks(config))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            if not self._blind:
                self._blind = True
                logger.warning(
                    "whether a node of the memory is cached cannot be seen with this version of LangGraph (%r): give "
                    "no cache_policy to these nodes nor to one that holds them, or one tenant sees another's memory",
                    error,
                )
            return False


def _tasks(config: RunnableConfig) -> Iterator[Any]:
    """The task that runs, those that called it, and those whose node is the graph in which it runs."""
    while (call := config.get("configurable", {}).get("__pregel_call")) is not None:
        while not isinstance(call, partial):  # wrapped, in a node with a timeout
            call = call.__closure__[call.__code__.co_freevars.index("call")].cell_contents
        loop, task = call.keywords["schedule_task"].__self__, call.args[0]()
        yield task
        path = task.path
        while isinstance(path[1], tuple):  # called by another task of the functional API
            path = path[1]
            yield from (caller for caller in list(loop.tasks.values()) if caller.path == path)
        config = loop.config

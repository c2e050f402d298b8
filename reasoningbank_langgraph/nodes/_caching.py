"""Whether LangGraph caches the updates of a node. A cache would hand the memory of one tenant to another.

No public interface says so. The config of a running task holds the function that starts further tasks from it. That
function knows the task and the graph that runs it, and the config of that graph leads to the task around it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig

logger = logging.getLogger(__name__)


class Watch:
    """Looks for caches, and warns once if it cannot tell."""

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
                    "with this version of LangGraph it cannot be seen whether a memory node is cached (%r): give no "
                    "cache_policy to these nodes or to a node that holds them, or one tenant sees another's memory",
                    error,
                )
            return False


def _tasks(config: RunnableConfig) -> Iterator[Any]:
    """Yield the running task, the tasks that called it, and those whose node is the graph it runs in."""
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

"""Expressions with roots, functions and symbols, compared in a worker process that can be killed.

A worker starts when one is first needed (about 0.1 s), is used again, and is replaced when it had to be killed. It is
a fresh interpreter, never a fork of this one, so it is safe beside threads, event loops and native libraries.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import logging
import os
import queue
import subprocess
import sys
import threading
import time
from collections import deque
from functools import cache
from pathlib import Path

from reasoningbank_langgraph.math_answers.nodes import Node, encode

MAX_WORKERS = min(4, os.cpu_count() or 1)
_LEAST_SECONDS = 0.2
"""With less time than this left a worker is not asked: it would be killed for a question it could answer."""
logger = logging.getLogger(__name__)
_SCRIPT = Path(__file__).with_name("worker.py")


@cache
def is_available() -> bool:
    """Whether the extra `math` is installed."""
    return importlib.util.find_spec("mpmath") is not None


def ask_worker(question: str, left: Node, right: Node, *, deadline: float, rounded: bool = False) -> bool | None:
    """Ask a worker about two expressions.

    Args:
        question: `equal`; `multiple` (one is a constant times the other) or `positive` (a positive constant).
        left: The first expression.
        right: The second one.
        deadline: `time.monotonic()` at which the worker is killed.
        rounded: Whether a relative difference below 1e-12 is a rounding of the last digits.

    Returns:
        The worker's answer, or None when it found none in time or there is no worker. Where none can be started, for
        want of processes or memory, a warning says so once.
    """
    if not is_available():
        return None
    line = json.dumps([question, encode(left), encode(right), rounded]) + "\n"
    return _pool.ask(line, deadline)


class _Worker:
    """One process. A thread moves its replies into a queue, so waiting for them can end."""

    def __init__(self) -> None:
        path = os.pathsep.join(filter(None, sys.path))
        command = [sys.executable, "-P", "-S", "-X", "utf8", str(_SCRIPT)]
        environment = {name: os.environ[name] for name in ("SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ}
        self._process = subprocess.Popen(  # noqa: S603  our own script
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**environment, "PYTHONPATH": path},
            text=True,
            encoding="utf-8",
        )
        self._replies: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._collect, name="math-answers", daemon=True)
        self._is_ready = False
        try:
            self._reader.start()
        except RuntimeError:
            with self._process:
                self._process.kill()
            raise

    def _collect(self) -> None:
        if self._process.stdout is not None:
            for line in self._process.stdout:
                self._replies.put(line)
        self._replies.put("")

    def is_ready(self, deadline: float) -> bool:
        """Wait until the process has started; one that has not yet may be asked again later."""
        self._is_ready = self._is_ready or self._reply(deadline) is not None
        return self._is_ready

    def ask(self, line: str, deadline: float) -> str | None:
        """Return the reply, blank if the process died, None if it has not replied in time."""
        if self._process.stdin is None:
            return ""
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except OSError:
            return ""
        return self._reply(deadline)

    def _reply(self, deadline: float) -> str | None:
        try:
            return self._replies.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            return None

    def close(self) -> None:
        """End the process, wait for it, and close the pipes."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _started() -> _Worker | None:
    try:
        return _Worker()
    except (OSError, RuntimeError) as error:  # RuntimeError: no thread to read its replies
        _warn(f"{type(error).__name__}: {error}")
        return None


@cache
def _warn(reason: str) -> None:
    logger.warning(
        "no process could be started to compare answers with roots, functions or variables (%s): "
        "they are equal only where they are written alike; raise the limits on processes and memory",
        reason,
    )


class _FairSemaphore:
    """A semaphore that serves in order: the one of `threading` lets a busy thread overtake those that wait."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._lock = threading.Lock()
        self._waiting: deque[threading.Event] = deque()

    def acquire(self, timeout: float) -> bool:
        served = threading.Event()
        with self._lock:
            if self._count:
                self._count -= 1
                return True
            self._waiting.append(served)
        if served.wait(timeout):
            return True
        with self._lock:
            if not served.is_set():
                self._waiting.remove(served)
            return served.is_set()

    def release(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._count += 1


class _Pool:
    def __init__(self) -> None:
        self._idle: list[_Worker] = []
        self._lock = threading.Lock()
        self._free = _FairSemaphore(MAX_WORKERS)

    def ask(self, line: str, deadline: float) -> bool | None:
        seconds = deadline - _LEAST_SECONDS - time.monotonic()
        if seconds <= 0 or not self._free.acquire(timeout=seconds):
            return None
        try:
            return self._ask(line, deadline)
        finally:
            self._free.release()

    def _ask(self, line: str, deadline: float) -> bool | None:
        with self._lock:
            worker = self._idle.pop() if self._idle else None
        worker = worker or _started()
        if worker is None:
            return None
        reply = worker.ask(line, deadline) if worker.is_ready(deadline - _LEAST_SECONDS) else "null\n"
        if not reply:
            worker.close()
            return None
        with self._lock:
            self._idle.append(worker)
        answer = json.loads(reply)
        return answer if isinstance(answer, bool) else None

    def close(self) -> None:
        with self._lock:
            workers, self._idle = self._idle, []
        for worker in workers:
            worker.close()


_pool = _Pool()
_inherited: list[_Pool] = []


def _after_fork() -> None:
    """Leave the workers to the parent: a forked child must not talk over the same pipes."""
    global _pool  # noqa: PLW0603  one pool a process
    _inherited.append(_pool)
    _pool = _Pool()


def _close() -> None:
    _pool.close()


atexit.register(_close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

"""A server program as a child process: it ends with this one, and the end of its log is kept."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_LOG_TAIL = 2000
_LLAMA_SETTINGS = ("LLAMA", "GGML", "MTMD", "HF_", "AIP_")
"""Prefixes of environment variables that llama.cpp takes for settings: a plugin, a port, the token of a hub."""


class ServerProcess:
    """A running server program; stopped by `close()`.

    Args:
        program: a Python file. It gets one line of JSON on stdin, writes one line with its address to stdout when it
            is ready, and ends when stdin does.
        settings: the JSON; `parent`, the number of this process, is added.
    """

    def __init__(self, program: Path, settings: dict[str, Any]) -> None:
        self._owner, self._log = os.getpid(), b""
        self._first_line: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, our own file
            [sys.executable, "-P", str(program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
            # Ctrl-C is for the program that uses the model.
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        stdin, stdout, stderr = self._pipes()
        self._readers = [
            threading.Thread(target=lambda: self._first_line.put(stdout.readline()), daemon=True),
            threading.Thread(target=self._keep_log, args=(stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        # Through stdin, because other users can read the arguments of a process.
        with contextlib.suppress(BrokenPipeError):
            stdin.write(json.dumps(settings | {"parent": self._owner}).encode() + b"\n")
            stdin.flush()

    @property
    def pid(self) -> int:
        """The number of the child process."""
        return self._process.pid

    def address(self, timeout: float) -> str | None:
        """Return what the program wrote when it was ready: None after `timeout` seconds, empty where it ended."""
        try:
            line = self._first_line.get(timeout=timeout)
        except queue.Empty:
            return None
        if not line:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(5.0)  # its pipes close before it is gone
        return line.decode().strip()

    def exit_reason(self) -> str | None:
        """Say how the program ended; None while it runs, and in a fork, which cannot know."""
        if os.getpid() != self._owner or (code := self._process.poll()) is None:
            return None
        self._join_readers()
        if code == -9:
            return "was killed, as happens where memory runs out (a smaller model or `n_ctx` needs less)"
        return f"ended with exit code {code}"

    def log_tail(self) -> str:
        """Return the end of what the program wrote to stderr."""
        return self._log.decode("utf-8", "replace").strip()

    def close(self) -> None:
        """Stop the program; may be called twice, and does nothing in a fork, whose parent's program this is."""
        if os.getpid() != self._owner:
            return
        self._process.kill()
        self._process.wait()
        self._join_readers()
        for pipe in self._pipes():
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def _pipes(self) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        process = self._process
        assert process.stdin and process.stdout and process.stderr  # noqa: S101, PT018 - asked for above
        return process.stdin, process.stdout, process.stderr

    def _keep_log(self, stderr: IO[bytes]) -> None:
        for line in stderr:
            self._log = (self._log + line)[-_LOG_TAIL:]

    def _join_readers(self) -> None:
        for reader in self._readers:
            reader.join(1.0)


def _environment() -> dict[str, str]:
    """Return the environment of the program: without settings, and so that waiting threads sleep.

    OpenMP's threads spin while they wait for each other: two of them on a machine of two CPUs that had other work
    wrote 1 token a second, and 8 to 12 when they slept.
    """
    environment = {name: value for name, value in os.environ.items() if not name.upper().startswith(_LLAMA_SETTINGS)}
    return environment | {"OMP_WAIT_POLICY": "passive"}

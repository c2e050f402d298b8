"""The two servers of a fleet, on this machine and for as long as they are needed: Postgres and Chroma."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

POSTGRES_FOLDERS = "/usr/lib/postgresql/*/bin"
SETTINGS = "-c listen_addresses='' -c fsync=off"
"""Reached through a socket file only. It ends with the fleet, so it need not survive a power cut."""


class ServerError(RuntimeError):
    """A server cannot be started here; the message says why and what helps."""


@contextmanager
def private_postgres() -> Iterator[str]:
    """Start a Postgres of its own in a temporary folder; yield its URL and remove all of it at the end.

    Only this user can reach it: it listens on a socket file in a folder of mode 0700. Postgres refuses to run as
    root; started by root it runs as the user `postgres` or `nobody`.

    Raises:
        ServerError: Postgres is not installed or does not start.
    """
    programs, user = _postgres_programs(), _postgres_user()
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # a short path: those of sockets may have 107 characters
    try:
        if user:
            shutil.chown(folder, user["user"], user["group"])
        data, socket_options = folder / "data", f"{SETTINGS} -k {folder}"
        _done([programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"], user)
        control = [programs / "pg_ctl", "-D", data, "-s", "-w"]
        _done([*control, "-l", folder / "log", "-o", socket_options, "start"], user, log=folder / "log")
        try:
            yield f"postgresql://postgres@/postgres?host={quote(str(folder), safe='')}"
        finally:
            _done([*control, "-m", "immediate", "stop"], user)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _postgres_programs() -> Path:
    """The folder with `initdb` and `pg_ctl`: that of the search path, else the newest of Debian's."""
    initdb = shutil.which("initdb")
    if initdb:
        return Path(initdb).resolve().parent
    programs = sorted(Path("/").glob(f"{POSTGRES_FOLDERS[1:]}/initdb"), key=lambda path: float(path.parts[-3]))
    if not programs:
        raise ServerError(
            f"no Postgres here: no `initdb` on the PATH or in {POSTGRES_FOLDERS}; install it (Debian: "
            "`apt-get install postgresql`) or name a server with --postgres URL"
        )
    return programs[-1].parent


def _postgres_user() -> dict[str, Any]:
    """The user to run Postgres as, in the words of `subprocess`; nothing where the own user will do."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            entry = pwd.getpwnam(name)
            return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise ServerError(
        "Postgres does not run as root, and there is no user `postgres` or `nobody`: start as another one"
    )


def _done(command: list[Any], user: dict[str, Any], log: Path | None = None) -> None:
    """Run a program to its end. It writes to a file: a server it leaves behind would keep a pipe open."""
    with tempfile.TemporaryFile() as output:
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
        result = subprocess.run([str(part) for part in command], check=False, cwd="/", **streams, **user)  # noqa: S603 - own programs
        output.seek(0)
        words = output.read().decode(errors="replace")
    if result.returncode:
        if log is not None and log.exists():
            words += log.read_text(encoding="utf-8", errors="replace")
        raise ServerError(f"{Path(command[0]).name} failed: {words.strip()[-600:]}")


@contextmanager
def chroma_server(folder: Path, seconds: float = 60.0) -> Iterator[int]:
    """Serve the bank in a folder to this machine; yield the port and stop at the end.

    Raises:
        ServerError: the server ended at once, or did not answer within `seconds`.
    """
    beside = str(Path(sys.executable).parent)
    program = shutil.which("chroma", path=beside) or shutil.which("chroma") or "chroma"
    port = _free_port()
    command = [program, "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:  # noqa: S603 - own
        try:
            _wait_for(server, port, seconds)
            yield port
        finally:
            server.terminate()


def _free_port() -> int:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def _wait_for(server: subprocess.Popen[bytes], port: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    while server.poll() is None and time.monotonic() < end:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise ServerError(f"the Chroma server on port {port} did not answer within {seconds:g} s")

"""`langgraph dev` in a process of its own, on loopback. It is told to call nobody outside."""

import os
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager

from tests.conftest import REPOSITORY
from tests.store.chroma_server import free_port, wait_until

QUIET = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGGRAPH_NO_VERSION_CHECK": "true", "LANGSMITH_TRACING": "false"}


@contextmanager
def langgraph_dev(folder, **environment):
    """Serve what the `langgraph.json` of a folder names; yield the URL. What the server says is in `server.log`.

    Calls that block its event loop raise there, which fails the run.
    """
    port, log = free_port(), folder / "server.log"
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--port", str(port)]
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("LANGSMITH_", "LANGCHAIN_"))}
    ours |= {**QUIET, "PYTHONPATH": str(REPOSITORY), **environment}
    with log.open("w") as said:
        process = subprocess.Popen(command, cwd=folder, env=ours, stdout=said, stderr=subprocess.STDOUT)
        try:
            wait_until(lambda: process.poll() is not None or answers(port), seconds=300)
            assert process.poll() is None, log.read_text()[-3000:]
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(60)


def answers(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ok", timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False

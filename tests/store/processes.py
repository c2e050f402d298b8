"""Programs in processes of their own, beside the test."""

import os
import subprocess
import sys

import pytest

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")

PREAMBLE = """
import json, os, signal, sys, time
from langgraph.store.base import PutOp
from reasoningbank_langgraph.errors import StoreError
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.testing import HashEmbeddings
def say(*words):
    # In one piece, which the words of another process do not come between.
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())
"""
"""What every program begins with."""


def start(program, *arguments):
    """Start a program; it is spoken to through its pipes."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", PREAMBLE + program, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def run(program, *arguments, seconds=120):
    """Run a program to its end and return the lines it said; it has to end well."""
    with start(program, *arguments) as process:
        try:
            said, _ = process.communicate(timeout=seconds)
        finally:
            process.kill()
    assert process.returncode == 0, said
    return said.splitlines()

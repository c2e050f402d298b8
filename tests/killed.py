"""Programs that kill themselves, or processes of their own, and what they found.

They are forked from a process that has made the imports, which take longer than most of them.
"""

import json
import multiprocessing
import os
import sys
import tempfile
from pathlib import Path

from tests.conftest import REPOSITORY

FORKED = multiprocessing.get_context("forkserver")
FORKED.set_forkserver_preload(["chromadb.api.rust", "reasoningbank_langgraph.testing", "tests.dying", "tests.flows"])


def run_forked(program, *arguments, timeout=120):
    """Run a program to its end, without what an interpreter does at its own.

    Args:
        program: lines of Python.
        arguments: of the program, from `sys.argv[1]`.
        timeout: seconds that it may take.

    Returns:
        Its exit code, and what it printed.
    """
    with tempfile.NamedTemporaryFile() as said:
        process = FORKED.Process(target=_become, args=(program, said.name, [*map(str, arguments)]))
        process.start()
        process.join(timeout)
        process.kill()
        process.join()
        return process.exitcode, Path(said.name).read_text()


def _become(program, said, arguments):
    os.chdir(REPOSITORY)
    os.dup2(os.open(said, os.O_WRONLY), 1)
    sys.argv[1:] = arguments
    exec(program, {"__name__": "__main__"})
    sys.stdout.flush()


def found_by(module, *arguments, timeout=600):
    """Return what a module of the tests printed as JSON."""
    program = f"import runpy; runpy.run_module('tests.{module}', run_name='__main__')"
    code, said = run_forked(program, *arguments, timeout=timeout)
    assert code == 0, said
    return json.loads(said)

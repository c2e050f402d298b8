"""Runs a program that kills processes of its own, and reads what it found."""

import json
import subprocess
import sys

from tests.conftest import REPOSITORY


def found_by(module, *arguments, timeout=600):
    """Return what a module of the tests printed as JSON."""
    command = [sys.executable, "-m", f"tests.{module}", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=REPOSITORY, timeout=timeout)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)

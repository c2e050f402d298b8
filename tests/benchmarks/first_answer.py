"""How long a newcomer waits: a fresh clone, no package cache, `make demo`; seconds to set up and seconds to work.

The seconds of processor time are those of the demo and its model server together. They grow less than the others where
other programs use the machine. The demo itself prints how long each pass took.

    python -m tests.benchmarks.first_answer

The clone is made of the last commit, in a temporary folder, and is deleted afterwards.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
# A program that is installed, its caches and its settings of Python must not help.
CLEAN = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
ENVIRONMENT = CLEAN | {"PIP_NO_CACHE_DIR": "1", "UV_NO_CACHE": "1"}


def timed(*command: str, folder: Path) -> float:
    began = time.perf_counter()
    subprocess.run(command, cwd=folder, env=ENVIRONMENT, check=True)
    return time.perf_counter() - began


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    with tempfile.TemporaryDirectory() as parent:
        clone = Path(parent) / "clone"
        subprocess.run(["git", "clone", "--quiet", "--depth=1", REPOSITORY.as_uri(), str(clone)], check=True)
        python = f"PYTHON={sys.executable}"
        setup = timed("make", python, ".venv/.demo", folder=clone)
        before = processor_seconds()
        work = timed("make", python, "demo", folder=clone)
        busy = processor_seconds() - before
    print(f"set-up {setup:.0f} s, demo {work:.0f} s ({busy:.0f} s of processor time), together {setup + work:.0f} s")


if __name__ == "__main__":
    main()

"""Tries the mutants of one file, in the copy of the project that `mutation.py` makes.

The tests are collected once. Each mutant has a child of that process to itself, where the tests that reach the changed
function run, the fastest first, until one fails. Chroma stands still in a child of a process that has used it, so the
process that collects runs no test; it imports what they import, so that no child has to.
"""

import json
import os
import random
import signal
import sys
import time
import warnings
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest
from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.mutation.file_mutation import mutate_file_contents
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.state import state
from mutmut.utils.format_utils import get_mutant_name, mangled_name_from_mutant_name

UNCHANGED = "stats"
"""With this for the name of a mutant, mutmut changes nothing and notes the functions that are called."""
REACHED = Path("reached.json")
OWN = ("reasoningbank_langgraph", "tests")


class Mutants:
    """A plugin of pytest that has the tests run for each mutant, each time in a child."""

    def __init__(self, folder, names):
        self.folder, self.names = ".".join(folder.parts), names
        self.mutant, self.reached, self.codes = None, {}, {}

    def pytest_runtestloop(self, session):
        """Fork for each mutant. A child returns None: pytest's own loop then runs what `fork` left in `items`."""
        if session.testsfailed or self.is_child(session, UNCHANGED, session.items, 3600):
            return None
        if self.codes.pop(UNCHANGED):
            pytest.exit("a test fails without a change", returncode=1)
        reached, imported = json.loads(REACHED.read_text(encoding="utf-8"))
        self.import_all(imported)
        for name in self.names:
            function = mangled_name_from_mutant_name(name)
            items = [item for item in session.items if function in reached[item.nodeid][1]]
            items.sort(key=lambda item: reached[item.nodeid][0])
            seconds = sum(reached[item.nodeid][0] for item in items)
            if self.is_child(session, name, items, 30 + 10 * int(seconds)):
                return None
        return True

    def import_all(self, names):
        """Import what others than this project have written: its own modules may hold what they compute at import."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in names:
                if not name.startswith(OWN):
                    with suppress(Exception):
                        import_module(name)

    def is_child(self, session, mutant, items, seconds):
        """Fork and tell the child so; note in the parent how the child ended, and end what it left running."""
        if child := os.fork():
            self.codes[mutant] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            return False
        os.setpgid(0, 0)
        signal.alarm(seconds)
        set_mutant_under_test(mutant)
        self.mutant, session.items[:] = mutant, items
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        """Note how long a test takes and which functions it reaches."""
        self.forget()
        state()._stats.clear()
        began = time.perf_counter()
        result = yield
        self.reached[item.nodeid] = (time.perf_counter() - began, sorted(state()._stats))
        return result

    def forget(self):
        """Empty the caches of the folder: a test reaches what it would call had no other test run before."""
        modules = [module for name, module in sys.modules.items() if name.startswith(self.folder)]
        for value in [value for module in modules for value in vars(module).values()]:
            if clear := getattr(value, "cache_clear", None):
                clear()


def main():
    """Change a file for all its mutants at once, try them, and write down how they ended."""
    path, sample, *arguments = sys.argv[1:]
    source = Path(path)
    mutated = mutate_file_contents(path, source.read_text(encoding="utf-8"))
    source.write_text(mutated.code, encoding="utf-8")
    made = sorted(get_mutant_name(source, name) for name in mutated.mutant_names)
    plugin = Mutants(source.parent, random.Random(path).sample(made, min(int(sample) or len(made), len(made))))
    set_mutant_under_test("")
    code = pytest.main(["-x", "-p", "no:cacheprovider", *arguments], plugins=[plugin])
    if plugin.mutant == UNCHANGED:
        REACHED.write_text(json.dumps([plugin.reached, [*sys.modules]]), encoding="utf-8")
    if plugin.mutant or code:
        os._exit(code)
    diffs = [get_diff_for_mutant(name, mutated.code, path) for name, code in plugin.codes.items() if not code]
    Path("result.json").write_text(json.dumps([len(made), list(plugin.codes.values()), diffs]), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Which small changes to the code no test notices: mutmut, module by module, over those that carry the promises.

    python -m tests.benchmarks.mutation store/writing.py judges/ensemble.py

Without a name every module is tried. Each is changed in a copy of the project, and the tests named here for it run
after every change. One line a module says how many changes there were and how many the tests noticed; what they did not
notice and `mutants.md` does not argue away follows. A change of nothing but prose between quotes counts as wording.
"""

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).parents[2]
ARGUED = Path(__file__).with_name("mutants.md")
COPIED = ("reasoningbank_langgraph", "tests", "examples", "pyproject.toml", "README.md", "SECURITY.md")
BRANCHES = ("bank/branches", "bank/snapshots", "bank/unknown_branches")
FENCE = ("text/fence",)
TESTS = {
    "driver.py": ("driver",),
    "bank/adding.py": ("loop/exactly_once", "bank/bank"),
    "bank/forgetting.py": ("bank/forgetting", "bank/snapshots"),
    "bank/branches.py": BRANCHES,
    "bank/snapshots.py": BRANCHES,
    "bank/searching.py": ("bank/bank", "bank/snapshots", "bank/branches", "bank/unknown_branches"),
    "bank/operations.py": ("bank/bank", "loop/exactly_once"),
    "bank/writer_lock.py": ("bank/bank", "loop/exactly_once"),
    "bank/importing.py": ("bank/jsonl", "bank/item_values"),
    "bank/jsonl.py": ("bank/jsonl",),
    "bank": ("bank/*",),
    "state/attempts.py": ("state/attempts", "bank/turns", "state/finished"),
    "state/lineage.py": ("state/lineage",),
    "extraction/acceptance.py": ("extraction/extractor", "parsing/forgery", "extraction/small_models"),
    "extraction/asking.py": ("extraction/extractor", "extraction/small_models"),
    "extraction/extractor.py": ("extraction/extractor", "extraction/small_models"),
    "extraction/quotations.py": ("parsing/forgery",),
    "nodes/consolidate.py": ("loop/nodes", "loop/node_context", "loop/outage", "loop/parallel_loops", "loop/loop"),
    "nodes/_outage.py": ("loop/outage",),
    "nodes/_base.py": ("loop/nodes", "loop/node_context", "loop/tenants", "state/states"),
    "nodes/_caching.py": ("loop/tenants",),
    "nodes": ("loop/nodes", "loop/node_context", "loop/loop", "loop/outage"),
    "judges": ("judges/*",),
    "store/writing.py": ("store/writing", "store/ttl"),
    "matts/select_node.py": ("matts/select",),
    "text/fencing.py": FENCE,
    "text/markers.py": FENCE,
    "text/roles.py": FENCE,
    "text/sanitise.py": FENCE,
    "text/visible.py": ("text/visible", "text/fence"),
    "text/folding.py": ("text/redaction", "text/fence"),
    "text/redaction.py": ("text/redaction",),
    "text/secret_shapes.py": ("text/redaction",),
    "parsing": ("parsing/*", "loop/odd_replies"),
    "math_answers/matching.py": ("math_answers/*",),
}
"""The tests of each file, or of those of a folder that have no line of their own, without what starts a server."""
SETTINGS = """
[tool.mutmut]
source_paths = ["reasoningbank_langgraph"]
only_mutate = ["reasoningbank_langgraph/{module}"]
pytest_add_cli_args_test_selection = {tests}
pytest_add_cli_args = [
    "-p", "no:cacheprovider", "-m", "not slow and not real_model and not network", "-k", "not {left_out}"
]
also_copy = {copied}
process_isolation = "forkserver"
"""
"""Chroma stands still in a child of a process that has used it: children come of one that has not."""


UNNOTICED = ("survived", "no tests")


class Change(NamedTuple):
    """One small change: the lines it takes out, and those it puts in their place."""

    before: str
    after: str

    @property
    def is_wording(self):
        """Say whether it changes nothing but prose: a text between quotes that has a blank in it."""
        prose = re.compile(r"(?:XX)?\"[^\"]* [^\"]*\"|'[^']* [^']*'")
        return prose.sub("", self.before) == prose.sub("", self.after)


def modules(names):
    """Return each file to try with its tests, in the order of the table."""
    package, tried = REPOSITORY / "reasoningbank_langgraph", set()
    for place, names_of_tests in TESTS.items():
        tests = [path for name in names_of_tests for path in test_files(name)]
        for path in sorted((package / place).glob("*.py")) or [package / place]:
            module = path.relative_to(package).as_posix()
            wanted = not names or module in names or place in names or path.parent.name in names
            if wanted and module not in tried and path.name != "__init__.py":
                yield module, list(dict.fromkeys(tests))
            tried.add(module)


def test_files(name):
    folder, _, stem = name.rpartition("/")
    found = sorted((REPOSITORY / "tests" / folder).glob(f"test_{stem}.py"))
    if not found:
        sys.exit(f"there are no tests {name!r}")
    return [path.relative_to(REPOSITORY).as_posix() for path in found]


def mutmut(folder, *words):
    """Run a command of mutmut in a folder and return what it says."""
    command = [sys.executable, "-m", "mutmut", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def run(module, tests, options):
    """Try a module in a copy; return how each change ended, how many there are, and those that no test noticed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in COPIED:
            whole = REPOSITORY / part
            shutil.copytree(whole, folder / part) if whole.is_dir() else shutil.copy(whole, folder)
        left_out = (
            "[postgres" if module.startswith("store") else "[postgres and not [chroma and not chroma] and not matts]"
        )
        copied = [part for part in COPIED if part != "tests"]
        settings = SETTINGS.format(module=module, tests=tests, copied=copied, left_out=left_out)
        with (folder / "pyproject.toml").open("a", encoding="utf-8") as project:
            project.write(settings.replace("'", '"'))
        mutmut(folder, "run", "none of them")  # makes them, and sees which tests reach which
        every = sorted(endings(folder))
        tried = every
        if options.sample and len(every) > options.sample:
            tried = random.Random(module).sample(every, options.sample)
        said = mutmut(folder, "run", "--max-children", str(options.children), *tried)
        ended = {mutant: how for mutant, how in endings(folder).items() if mutant in tried}
        if not ended or "not checked" in ended.values():
            sys.exit(f"{module}: mutmut did not try them all:\n{said[-3000:]}")
        return ended, len(every), [change(mutmut(folder, "show", one)) for one in ended if ended[one] in UNNOTICED]


def endings(folder):
    """Return how each change of the copy ended."""
    lines = mutmut(folder, "results", "--all", "true").splitlines()
    return dict(line.strip().split(": ") for line in lines if ": " in line)


def change(diff):
    lines = [line for line in diff.splitlines() if not line.startswith(("---", "+++"))]
    return Change(*(" ".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+"))


def argued():
    """Return the changes that make no difference, as `mutants.md` lists them."""
    lines = re.findall(r"^- `([^`]+)` → ((?:`[^`]+`,? ?)+): ", ARGUED.read_text(encoding="utf-8"), re.MULTILINE)
    return {Change(before, after) for before, some in lines for after in re.findall(r"`([^`]+)`", some)}


def main():
    """Print a line a module and what is left, and end with 1 where anything is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--children", type=int, default=2, help="processes at the same time")
    parser.add_argument("--sample", type=int, help="how many to try of a module that has more, always the same ones")
    options = parser.parse_args()
    known, left = argued(), 0
    for module, tests in modules(options.modules):
        ended, made, survived = run(module, tests, options)
        open_ = [one for one in survived if not one.is_wording and one not in known]
        wording = sum(one.is_wording for one in survived)
        print(
            f"{module}: {made} mutants, {len(ended)} tried, {len(ended) - len(survived)} killed, "
            f"{len(survived)} survived: {wording} wording, {len(survived) - wording - len(open_)} argued, "
            f"{len(open_)} left",
            flush=True,
        )
        for one in open_:
            print(f"- `{one.before}` → `{one.after}`", flush=True)
        left += len(open_)
    sys.exit(left > 0)


if __name__ == "__main__":
    main()

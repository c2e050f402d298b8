"""Which small changes to the code no test notices: mutmut, module by module, over those that carry the promises.

    python -m tests.benchmarks.mutation store/writing.py judges/ensemble.py

Without a name every module is tried. Each is changed in a copy of the project, and the tests named here for it run
after every change. One line a module says how many changes there were and how many the tests noticed; what they did not
notice and `mutants.md` does not argue away follows. A change of nothing but prose between quotes counts as wording.
"""

import argparse
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
FENCE = ["tests/test_text_fence.py"]
TESTS = {
    "bank": ["tests/test_bank*.py", "tests/test_exactly_once.py", "tests/test_exactly_once_branches.py"],
    "nodes": ["tests/test_loop.py", "tests/test_dialogue.py", "tests/test_outage.py", "tests/test_small_models.py"],
    "judges": ["tests/test_judge*.py"],
    "store/writing.py": [f"tests/store/test_{name}.py" for name in ("values", "ttl", "embedding", "view")],
    "matts/selection.py": ["tests/test_matts_select.py"],
    "text/fencing.py": FENCE,
    "text/markers.py": FENCE,
    "text/roles.py": FENCE,
    "text/sanitise.py": FENCE,
    "text/redaction.py": ["tests/test_text_redaction.py"],
    "text/secret_shapes.py": ["tests/test_text_redaction.py"],
    "parsing": ["tests/test_parsing*.py"],
    "math_answers/matching.py": ["tests/test_math_answers*.py"],
}
"""The tests of each file or folder; what a process or a network has to be started for is left out."""
SETTINGS = """
[tool.mutmut]
source_paths = ["reasoningbank_langgraph"]
only_mutate = ["reasoningbank_langgraph/{module}"]
pytest_add_cli_args_test_selection = {tests}
pytest_add_cli_args = ["-p", "no:cacheprovider", "-m", "not slow and not real_model and not network"]
also_copy = {copied}
"""


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
    for place, tests in TESTS.items():
        found = REPOSITORY / "reasoningbank_langgraph" / place
        for path in sorted(found.glob("*.py")) if found.is_dir() else [found]:
            module = f"{place}/{path.name}" if found.is_dir() else place
            if path.name != "__init__.py" and (not names or module in names or place in names):
                yield (
                    module,
                    sorted(str(test.relative_to(REPOSITORY)) for one in tests for test in REPOSITORY.glob(one)),
                )


def mutmut(folder, *words):
    """Run a command of mutmut in a folder and return what it says."""
    command = [sys.executable, "-m", "mutmut", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def run(module, tests, children):
    """Try a module in a copy; return how each change ended, and those that no test noticed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in COPIED:
            whole = REPOSITORY / part
            shutil.copytree(whole, folder / part) if whole.is_dir() else shutil.copy(whole, folder)
        settings = SETTINGS.format(module=module, tests=tests, copied=[part for part in COPIED if part != "tests"])
        with (folder / "pyproject.toml").open("a", encoding="utf-8") as project:
            project.write(settings.replace("'", '"'))
        said = mutmut(folder, "run", "--max-children", str(children))
        ended = dict(
            line.strip().split(": ") for line in mutmut(folder, "results", "--all", "true").splitlines() if ": " in line
        )
        if not ended:
            sys.exit(f"{module}: mutmut tried nothing:\n{said[-3000:]}")
        return ended, [change(mutmut(folder, "show", mutant)) for mutant, how in ended.items() if how == "survived"]


def change(diff):
    lines = [line for line in diff.splitlines() if not line.startswith(("---", "+++"))]
    return Change(*(" ".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+"))


def argued():
    """Return the changes that make no difference, as `mutants.md` lists them."""
    return {
        Change(*found)
        for found in re.findall(r"^- `(.+)` → `(.+)`: ", ARGUED.read_text(encoding="utf-8"), re.MULTILINE)
    }


def main():
    """Print a line a module and what is left, and end with 1 where anything is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--children", type=int, default=2, help="processes at the same time")
    options = parser.parse_args()
    known, left = argued(), 0
    for module, tests in modules(options.modules):
        ended, survived = run(module, tests, options.children)
        open_ = [one for one in survived if not one.is_wording and one not in known]
        wording = sum(one.is_wording for one in survived)
        print(
            f"{module}: {len(ended)} changes, {len(ended) - len(survived)} noticed, {wording} of wording, "
            f"{len(survived) - wording - len(open_)} argued, {len(open_)} left",
            flush=True,
        )
        for one in open_:
            print(f"- `{one.before}` → `{one.after}`: ", flush=True)
        left += len(open_)
    sys.exit(left > 0)


if __name__ == "__main__":
    main()

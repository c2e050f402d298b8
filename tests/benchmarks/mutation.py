"""Which small changes to the code no test notices, module by module, over those that carry the promises.

    python -m tests.benchmarks.mutation store/writing.py judges

Without a name every module is tried. mutmut changes each in a copy of the project, and the tests named here for it run
after every change. One line a module says how many changes there were and how many the tests noticed; what they did not
notice and `mutants.md` does not argue away follows. A change of nothing but prose between quotes counts as wording.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).parents[2]
ARGUED = Path(__file__).with_name("mutants.md")
COPIED = ("reasoningbank_langgraph", "tests", "examples", "pyproject.toml", "README.md", "SECURITY.md")
TESTS = {
    "driver.py": "test_driver.py",
    "bank": "bank loop/test_exactly_once.py",
    "state": "state bank/test_turns.py",
    "extraction": "extraction parsing/test_forgery.py",
    "nodes": "loop state",
    "judges": "judges",
    "store/writing.py": "store/test_writing.py store/maintenance/test_ttl.py",
    "matts": "matts/test_select.py matts/test_choosing.py matts/test_selecting_graph.py loop/test_streams.py",
    "text": "text",
    "parsing": "parsing loop/test_odd_replies.py",
    "math_answers/matching.py": "math_answers",
    "experiments/stats.py": "experiments/test_stats.py",
    "experiments/wording.py": "experiments/test_wording.py experiments/test_summary.py",
    "experiments/banks.py": "experiments/test_banks.py",
    "experiments/memories.py": "experiments/test_memories.py",
    "experiments/tries.py": "experiments/test_solving.py",
    "experiments/solving.py": "experiments/test_solving.py",
    "experiments/results.py": "experiments/test_results.py",
    "experiments/terciles.py": "experiments/test_terciles.py",
    "experiments/guarded.py": "experiments/test_guarded.py",
    "experiments/report/differences.py": "experiments/test_differences.py",
    "experiments/leaks": "experiments/test_leaks.py experiments/test_near_copies.py experiments/test_summary_leaks.py",
}
"""The tests of each file, or of each file of a folder."""
CHOICE = ("-m", "not slow and not real_model and not network", "-k", "not [postgres")


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
    package = REPOSITORY / "reasoningbank_langgraph"
    for place, tests in TESTS.items():
        for path in sorted((package / place).glob("*.py")) or [package / place]:
            module = path.relative_to(package).as_posix()
            if path.name != "__init__.py" and (not names or module in names or path.parent.name in names):
                yield module, [f"tests/{name}" for name in tests.split()]


def run(module, sample, tests):
    """Try a module in a copy; return how many mutants it has, the exit code of each, and the changes unnoticed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in COPIED:
            whole = REPOSITORY / part
            shutil.copytree(whole, folder / part) if whole.is_dir() else shutil.copy(whole, folder)
        command = (sys.executable, "-m", "tests.benchmarks.mutants", f"reasoningbank_langgraph/{module}", str(sample))
        output, result = folder / "output.txt", folder / "result.json"
        environment = {**os.environ, "PYTEST_DEBUG_TEMPROOT": name}
        with output.open("w", encoding="utf-8") as file:
            subprocess.run(
                [*command, *CHOICE, *tests], cwd=folder, env=environment, stdout=file, stderr=file, check=False
            )
        if not result.exists():
            sys.exit(f"{module}: the mutants were not tried:\n{output.read_text(encoding='utf-8')[-3000:]}")
        made, codes, diffs = json.loads(result.read_text(encoding="utf-8"))
        return made, codes, [change(diff) for diff in diffs]


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
    parser.add_argument("--sample", type=int, default=0, help="how many to try of a module, always the same ones")
    options = parser.parse_args()
    known, left = argued(), 0
    for module, tests in modules(options.modules):
        made, codes, unnoticed = run(module, options.sample, tests)
        rest = [one for one in unnoticed if not one.is_wording and one not in known]
        wording = sum(one.is_wording for one in unnoticed)
        print(
            f"{module}: {made} mutants, {len(codes)} tried, {len(codes) - len(unnoticed)} killed "
            f"({codes.count(-signal.SIGALRM)} by time), {len(unnoticed)} survived: {wording} wording, "
            f"{len(unnoticed) - wording - len(rest)} argued, {len(rest)} left",
            *(f"- `{one.before}` → `{one.after}`" for one in rest),
            sep="\n",
            flush=True,
        )
        left += len(rest)
    sys.exit(left > 0)


if __name__ == "__main__":
    main()

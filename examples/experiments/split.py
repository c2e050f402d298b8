"""Split a file of problems into one to learn from and one to compare on, by a seed.

python examples/experiments/split.py --problems multiarith.jsonl --train 60 --test 100 --seed 0 --out .

Writes NAME-train.jsonl and NAME-test.jsonl; the lines are copied as they are. With `--apart-from FILE` none is drawn
that is one of FILE's, a near copy of one, or gives one away by its answer: a harvest would leave it out.
"""

import argparse
import random
from pathlib import Path


def main() -> None:
    """Write the two files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=Path, required=True)
    parser.add_argument("--train", type=int, default=60, help="lines to learn from")
    parser.add_argument("--test", type=int, default=100, help="lines to compare on")
    parser.add_argument("--apart-from", type=Path, metavar="FILE", help="problems that no line may give away")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path(), help="folder of the two files")
    options = parser.parse_args()
    lines = [line for line in options.problems.read_bytes().split(b"\n") if line.strip()]
    if options.apart_from:
        leaks = leaking(options.problems, options.apart_from)
        lines = [line for number, line in enumerate(lines) if number not in leaks]
    if len(lines) < options.train + options.test:
        parser.error(f"{options.problems} has {len(lines)} problems, {options.train + options.test} are asked for")
    random.Random(options.seed).shuffle(lines)  # noqa: S311 - no secret
    parts = {"train": lines[: options.train], "test": lines[options.train : options.train + options.test]}
    options.out.mkdir(parents=True, exist_ok=True)
    for name, part in parts.items():
        path = options.out / f"{options.problems.stem}-{name}.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in part))
        print(f"{path}: {len(part)} problems")


def leaking(problems: Path, held_out: Path) -> dict[int, str]:
    """Return which problems of a file, by their place, give away one of those held out, and why."""
    from reasoningbank_langgraph.embeddings import default_embeddings
    from reasoningbank_langgraph.math_solver.problems import read_problems
    from reasoningbank_langgraph.train.harvest.held_out import HeldOut

    told = [(problem.text, problem.answer or "") for problem in read_problems(problems)]
    return HeldOut.in_files([held_out], default_embeddings()).leaks_of(told)


if __name__ == "__main__":
    main()

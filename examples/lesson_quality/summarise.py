"""Print how two readers rated lessons: a table of each wording, and how far the readers agree.

python examples/lesson_quality/summarise.py
"""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
MARKS = ("whole", "general", "true", "says_what")


def main() -> None:
    """Print the tables."""
    lessons = {row["id"]: row for row in _rows("lessons.jsonl")}
    ratings = _rows("ratings.jsonl")
    by_wording: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for rating in ratings:
        by_wording[lessons[rating["id"]]["wording"], rating["reader"]].append(rating)
    print("| wording | reader | lessons | whole and true | " + " | ".join(MARKS) + " |")
    print("|---|---|---:|---:|" + "---:|" * len(MARKS))
    for (wording, reader), rows in sorted(by_wording.items()):
        means = " | ".join(f"{sum(row[mark] for row in rows) / len(rows):.2f}" for mark in MARKS)
        print(f"| {wording} | {reader} | {len(rows)} | {sum(map(whole_and_true, rows))} | {means} |")
    for wording in sorted({row["wording"] for row in lessons.values()}):
        print(f"\n{wording}: {_agreement(wording, lessons, ratings)}")


def whole_and_true(rating: dict[str, Any]) -> bool:
    """Both marks are full."""
    return bool(rating["whole"] == 2 and rating["true"] == 2)


def _agreement(wording: str, lessons: dict[str, Any], ratings: list[dict[str, Any]]) -> str:
    opinions: dict[str, list[bool]] = defaultdict(list)
    for rating in ratings:
        if lessons[rating["id"]]["wording"] == wording:
            opinions[rating["id"]].append(whole_and_true(rating))
    both, either = sum(map(all, opinions.values())), sum(map(any, opinions.values()))
    return f"of {len(opinions)} lessons {both} are whole and true to both readers, {either} to one at least"


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()

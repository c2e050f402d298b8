"""Which pairs of lessons say the same, and what tells them: the embedder's similarity, the words they share, or both.

    python -m tests.benchmarks.near_copies LESSONS.jsonl [MORE.jsonl ...] --sheet sheet.jsonl
    python -m tests.benchmarks.near_copies LESSONS.jsonl [MORE.jsonl ...] --read sheet.jsonl

LESSONS are JSON lines: a lesson with `title, description, content`, or an attempt with several in `items`. The first
form writes the pairs worth reading, in random order and without their figures; a person adds `"same": true` where both
say the same of the same situation, and false elsewhere. The second form prints, for each similarity and each share of
words, how many pairs are above both and how many of these say the same. `Policy(similarity=...)` takes the first.
"""

import argparse
import hashlib
import json
import random
from itertools import combinations
from pathlib import Path

import numpy as np

from reasoningbank_langgraph import MemoryItem, default_embeddings
from reasoningbank_langgraph.bank.item_values import lesson_text
from reasoningbank_langgraph.policies import word_overlap, words_of

FIELDS = ("title", "description", "content")
SIMILARITIES = (0.7, 0.75, 0.8, 0.85, 0.9)
OVERLAPS = (0.0, 0.4, 0.5, 0.55, 0.6, 0.7)
WORTH_READING = (0.75, 0.5)
"""Pairs at least this similar, or with at least this share of words, are read."""


def read(paths):
    """Return the different lessons of some files."""
    found = {}
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            for lesson in row.get("items", [row] if "title" in row else []):
                texts = {field: lesson[field] for field in FIELDS}
                item = MemoryItem(**texts, outcome=row.get("status", "success"), task="any")
                found.setdefault((item.outcome, *texts.values()), item)
    return list(found.values())


def pairs_of(items, embedder):
    """Return (similarity, share of words, name, one, other) for each two lessons of the same outcome."""
    vectors = np.asarray(embedder.embed_documents([lesson_text(item) for item in items]))
    similar = vectors @ vectors.T
    words = [words_of(*(getattr(item, field) for field in FIELDS)) for item in items]
    return [
        (float(similar[i, j]), word_overlap(words[i], words[j]), name(items[i], items[j]), items[i], items[j])
        for i, j in combinations(range(len(items)), 2)
        if items[i].outcome == items[j].outcome
    ]


def name(one, other):
    """Return a name of a pair that does not depend on the order."""
    texts = sorted(json.dumps([getattr(item, field) for field in FIELDS]) for item in (one, other))
    return hashlib.sha256("".join(texts).encode()).hexdigest()[:16]


def write_sheet(pairs, path):
    """Write the pairs to be read."""
    near = [pair for pair in pairs if pair[0] >= WORTH_READING[0] or pair[1] >= WORTH_READING[1]]
    random.Random(0).shuffle(near)
    with path.open("w", encoding="utf-8") as file:
        for *_, pair, one, other in near:
            texts = [[getattr(item, field) for field in FIELDS] for item in (one, other)]
            file.write(json.dumps({"pair": pair, "one": texts[0], "other": texts[1], "same": None}) + "\n")
    print(f"{len(near)} of {len(pairs)} pairs written to {path}")


def print_table(pairs, path):
    """Print how many of the pairs that were read are above both figures, and how many of these say the same."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    said = {row["pair"]: row["same"] for row in rows if row["same"] is not None}
    known = [(similarity, share, said[pair]) for similarity, share, pair, *_ in pairs if pair in said]
    print(f"{len(known)} pairs were read; {sum(same for *_, same in known)} say the same")
    print("similarity \\ words" + "".join(f"{share:>10}" for share in OVERLAPS))
    for similarity in SIMILARITIES:
        cells = []
        for share in OVERLAPS:
            above = [same for one, other, same in known if one >= similarity and other >= share]
            cells.append(f"{sum(above)}/{len(above)}")
        print(f"{similarity:<18}" + "".join(f"{cell:>10}" for cell in cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lessons", type=Path, nargs="+")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--sheet", type=Path)
    what.add_argument("--read", type=Path)
    options = parser.parse_args()
    items = read(options.lessons)
    print(f"{len(items)} different lessons")
    pairs = pairs_of(items, default_embeddings())
    if options.sheet:
        write_sheet(pairs, options.sheet)
    else:
        print_table(pairs, options.read)


if __name__ == "__main__":
    main()

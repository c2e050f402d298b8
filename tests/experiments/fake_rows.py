"""Rows of experiments that never ran: the same ones every time."""

import random
from importlib.util import find_spec

import pytest

from reasoningbank_langgraph import MemoryItem
from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.results import ResultRow
from reasoningbank_langgraph.text import render_memories

EXTRA = ("matplotlib", "scipy")
needs_extra = pytest.mark.skipif(not all(map(find_spec, EXTRA)), reason="needs the extra `experiments`")

LESSON = MemoryItem(
    title="Convert units before adding",
    description="When a problem mixes units such as minutes and hours.",
    content="Write every quantity in the same unit first, then add. Check the unit the question asks for at the end.",
    outcome="success",
    task="A train leaves at 3 and ...",
)
MEMORY = render_memories([LESSON])


def config(**changes):
    given = {"protocol": "phase1", "test": "test.jsonl", "train": "train.jsonl", "arms": ("baseline", "memory")}
    return ExperimentConfig.model_validate({**given, **changes})


def row(arm="memory", id="p0", right=True, seed=0, **changes):
    given = {
        "arm": arm,
        "seed": seed,
        "id": id,
        "position": int(id.strip("p") or 0) if id.strip("p").isdigit() else 0,
        "problem": f"Problem {id}: a baker sells 48 rolls in the morning and half as many after noon. How many in all?",
        "reference": "72",
        "answer": "72" if right else "96",
        "reply": "After noon 24, so \\boxed{72}." if right else "After noon 48 again,\nso the answer is \\boxed{96}.",
        "right": right,
        "tokens_in": 210,
        "tokens_out": 120,
        "seconds": 4.2,
        "prompt_hash": "0123456789abcdef",
    }
    if "memory" in arm or "matts" in arm:
        given |= {
            "memory": MEMORY,
            "shown": ("m1",),
            "scores": (0.71,),
            "sources": ("t1",),
            "tokens_in": 390,
            "bank": 24,
        }
    return ResultRow.model_validate({**given, **changes})


def rows(chances, problems=60, seeds=(0,), **changes):
    """Rows of several arms: `chances` gives the share that is right by arm; arms agree on what is hard."""
    made = []
    for number in range(problems):
        hard = random.Random(f"hard {number}").random()
        for seed in seeds:
            for arm, chance in chances.items():
                luck = random.Random(f"{arm} {number} {seed}").gauss(0, 0.15)
                right = hard + luck < chance
                more = {"pass_at_k": right or hard - 0.2 < chance, "attempts": 3} if "-3" in arm or "-2" in arm else {}
                made.append(row(arm, f"p{number}", right, seed, **{**more, **changes}))
    return made


def stream_rows(chances, problems=40, seeds=(0, 1)):
    """Rows of a stream: every seed has an order of its own, the bank grows with memory, errors get fewer."""
    made = []
    for seed in seeds:
        order = list(range(problems))
        random.Random(seed).shuffle(order)
        for arm, chance in chances.items():
            bank = 0
            for position, number in enumerate(order):
                better = 0.25 * position / problems if "memory" in arm else 0.0
                right = random.Random(f"{arm} {seed} {number}").random() < chance + better
                learned = 2 if "memory" in arm and number % 3 else 0
                made.append(
                    row(arm, f"p{number}", right, seed, position=position, bank=bank, learned=learned, sources=())
                )
                bank += learned
    return made


def two_arms(fixed, broken, alike, **changes):
    """Baseline and memory that differ on so many problems."""
    made = []
    for number in range(fixed + broken + alike):
        before = fixed <= number < fixed + broken or number >= fixed + broken + alike // 2
        after = not before if number < fixed + broken else before
        made += [row("baseline", f"p{number}", before, **changes), row("memory", f"p{number}", after, **changes)]
    return made


def only(found):
    (one,) = found.comparisons
    return one

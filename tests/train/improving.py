"""A model whose solutions differ by seed, and a workshop whose adapters make it always right or always wrong."""

import io
import json
import random
import re
from contextlib import contextmanager
from dataclasses import asdict

from langchain_core.messages import AIMessage
from rich.console import Console

from reasoningbank_langgraph.experiments.calls import Models
from reasoningbank_langgraph.experiments.config import IMPROVING, ExperimentConfig
from reasoningbank_langgraph.experiments.run import Run
from reasoningbank_langgraph.local.adapters import AdapterTrial, Decision, RivalComparison
from reasoningbank_langgraph.testing import HashEmbeddings
from reasoningbank_langgraph.train import Card, Point
from reasoningbank_langgraph.train.improvement.adapters import Adapters
from reasoningbank_langgraph.train.improvement.compound import Compound
from reasoningbank_langgraph.train.rows import read_rows
from tests.experiments import worlds


def problems(path, count, *, start):
    """Write problems of `worlds`, each with words of its own, so that none is nearly another."""
    rows = [json.loads(line) for line in worlds.problems(path, count, start=start).read_text().splitlines()]
    for place, one in enumerate(rows, start):
        draw = random.Random(place)
        words = ["".join(draw.choices("abdegiklmnoprstu", k=6)) for _ in range(24)]
        one["problem"] += f" {' '.join(words[:12]).capitalize()}. {' '.join(words[12:]).capitalize()}."
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


def config(tmp_path, **changes):
    """Problems with words of their own: eight to learn from, six to compare on, and eight others."""
    values = {
        "protocol": "self-improve",
        "train": problems(tmp_path / "train.jsonl", 8, start=0),
        "test": problems(tmp_path / "test.jsonl", 6, start=100),
        "other_train": problems(tmp_path / "other.jsonl", 8, start=250),
        "train_limit": 8,
        "arms": IMPROVING,
        "samples": 4,
        "model": "base.gguf",
    }
    return ExperimentConfig(**{**values, **changes})


def without_others(tmp_path, **changes):
    """The same without problems for the control of right solutions."""
    arms = tuple(arm for arm in IMPROVING if arm != "adapter-other")
    return config(tmp_path, arms=arms, other_train=None, **changes)


def told(messages, is_right, more=0):
    """A solution with its way, right or wrong; whatever else is asked, `worlds` answers."""
    if not worlds.is_solving(messages):
        return worlds.reply(messages)
    task = next(message.text for message in reversed(messages) if message.text.startswith("Someone has"))
    a, b = (int(number) for number in re.findall(r"\d+", task))
    answer = a + b if is_right(a) else a + b + 1 + more
    text = f"First there are {a}. Then {b} more come, {more} ways to count, so \\boxed{{{answer}}}."
    return AIMessage(text, usage_metadata=worlds.usage(20, 5), response_metadata=worlds.named())


def base():
    """Right on every second problem; on the others with every second seed."""
    return worlds.seeded(lambda messages, seed: told(messages, lambda a: a % 2 == 0 or seed % 2, (seed or 0) % 5))


def dying(call):
    """The base, stopped in this call."""
    calls, solve = [], base().script

    def failing(messages, seed):
        calls.append(1)
        if len(calls) == call:
            raise KeyboardInterrupt
        return solve(messages, seed)

    return worlds.seeded(failing)


class Bench:
    """A workshop that notes what it was asked for; the adapter of right solutions makes the model right."""

    def __init__(self, before=lambda step, name: None, better=()):
        self.before, self.better, self.trained, self.served, self.models = before, better, {}, [], {}

    def tune(self, data, *, base, out, settings):
        self.before("tune", out.name)
        rows = read_rows(data)
        self.trained[out.name] = rows
        given = {"base": str(base), "base_sha256": "b", "settings": asdict(settings), "data_sha256": rows.sha256}
        given |= {"train": len(rows.train), "validation": len(rows.validation), "left_out": 0, "versions": {}}
        curve = [Point(0, None, 2.0), Point(4, 1.0, 1.5)]
        return Card(name=out.name, adapter="a.gguf", curve=curve, best_step=4, steps=4, seconds=1.0, peak_bytes=1,
                    device="CPU", **given)  # fmt: skip

    @contextmanager
    def serve(self, folder, temperature):
        name = self.in_use(folder) or folder.name
        self.before("serve", name)
        self.served.append(name)
        right = name == "adapter" or name in self.better
        model = worlds.model(lambda messages: told(messages, lambda _: right))
        self.models[name] = model
        yield model

    def accept(self, folder, problems, *, max_tokens):
        """Accept the adapters that are called better; what is in use is on the disk, as in earnest."""
        self.before("accept", folder.name)
        is_better = folder.name in self.better
        won = 6 if is_better or self.in_use(folder.parent) else 0
        if is_better:
            folder.parent.mkdir(exist_ok=True)
            (folder.parent / "in-use").write_text(folder.name)
        counts = {"rival_sha256": "b", "problems": 9, "right": 3 + won, "rival_right": 3, "fixed": won, "broken": 0}
        base = RivalComparison(**counts, p=0.03 if won else 1)
        given = {"problems": problems.name, "problems_sha256": "p", "alpha": 0.05, "level": 0.05}
        trial = AdapterTrial(comparisons=(base,), **given)
        outcome = "accepted" if is_better else "not better"
        return Decision(adapter=folder.name, sha256=folder.name, base_sha256="b", outcome=outcome, trial=trial)

    def in_use(self, folder):
        """Name the adapter that was accepted last."""
        path = folder / "in-use"
        return path.read_text() if path.exists() else None


def compound(tmp_path, **changes):
    """Settings of protocol `compound`: four problems to learn from, three to compare on."""
    given = {"validation": problems(tmp_path / "validation.jsonl", 6, start=400), "cycles": 3, "samples": 2}
    given |= {"protocol": "compound", "train_limit": 4, "limit": 3, "arms": ("baseline",), "other_train": None}
    return config(tmp_path, **{**given, **changes})


def go_through(settings, out, bench, chat=None):
    """Run protocol `compound` with these fakes."""
    chat = chat or base()
    models = Models(chat, chat, HashEmbeddings())
    made = Compound(settings, out, models, out / "base.gguf", bench, Console(file=io.StringIO()))
    made.carry_out()
    return made.run


def carry_out(settings, out, bench=None, chat=None):
    """Run protocol `self-improve` with these fakes."""
    chat, bench = chat or base(), bench or Bench()
    adapters = Adapters(settings, out, out / "base.gguf", HashEmbeddings(), bench)
    models = Models(chat, chat, HashEmbeddings(), tuned=adapters.model)
    run = Run(settings, out, models, Console(file=io.StringIO()))
    run.carry_out()
    return run

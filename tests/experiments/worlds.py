"""A model that solves problems of the form "What is A + B?" unless a lesson spoils or helps it, and runs with it."""

import io
import json
import re

from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from rich.console import Console

from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.run import Models, Run
from reasoningbank_langgraph.testing import HashEmbeddings, ScriptedChatModel

from ..loop_fakes import lessons, verdict  # noqa: TID252 - the fakes of the tests

KIND = {"apples": 0, "pears": 1, "plums": 2, "figs": 3}
PLACES = (
    "market by the old harbour", "shed behind a yellow barn", "kitchen of my uncle Bernd", "hall of the new school",
    "garden with seven beehives", "van that drives to Lisbon", "tent on a windy meadow", "shop below the clock tower",
)  # fmt: skip


def problems(path, count, *, start=0):
    """Write problems: only every second one is solved without help."""
    rows = []
    for number in range(start, start + count):
        fruit = list(KIND)[number % len(KIND)]
        text = f"Someone has {number + 20} {fruit} and gets {number + 40} {fruit}. How many {fruit} is that?"
        rows.append({"id": f"p{number}", "problem": text, "answer": str(2 * number + 60)})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def unlike_problems(path, count, *, start=0):
    """Write such problems, each with words of its own, so that none is a copy of another with other numbers."""
    problems(path, count, start=start)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for place, one in enumerate(rows):
        words = PLACES[(start // 10 + place) % len(PLACES)], PLACES[(3 * place + start + 1) % len(PLACES)]
        one["problem"] += f" They lie in the {words[0]}, and before that they were in the {words[1]}."
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


def reply(messages):
    """Solve, judge or distil; with a lesson about the fruit of the problem everything is right."""
    system = messages[0].text
    if "You check whether" in system:
        return AIMessage(verdict("success"), usage_metadata=usage(7, 3), response_metadata=named())
    if "teach problem solving" in system:
        fruit = next(name for name in KIND if name in messages[-1].text)
        return AIMessage(lessons(f"counting {fruit}"), usage_metadata=usage(9, 4), response_metadata=named())
    task = next(message.text for message in reversed(messages) if message.text.startswith("Someone has"))
    memory = "".join(message.text for message in messages[1:-1])
    a, b = (int(number) for number in re.findall(r"\d+", task))
    fruit = next(name for name in KIND if name in task)
    helped = f"counting {fruit}" in memory
    answer = a + b if helped or a % 2 == 0 else a + b + 1
    return AIMessage(f"so \\boxed{{{answer}}}", usage_metadata=usage(20, 5), response_metadata=named())


def usage(given, made):
    return {"input_tokens": given, "output_tokens": made, "total_tokens": given + made}


def named():
    return {"model_name": "fruit"}


def model(script=reply):
    return ScriptedChatModel(script)


def config(tmp_path, protocol="phase1", **changes):
    values = {
        "protocol": protocol,
        "train": problems(tmp_path / "train.jsonl", 8),
        "test": problems(tmp_path / "test.jsonl", 8, start=100),
        "train_limit": 8,
        "limit": 6,
    }
    return ExperimentConfig(**{**values, **changes})


def carry_out(settings, out, chat=None):
    chat = chat or model()
    run = Run(settings, out, Models(chat, chat, HashEmbeddings()), Console(file=io.StringIO()))
    run.carry_out()
    return run


def by_arm(run):
    arms = {}
    for row in run.results.rows:
        arms.setdefault(row.arm, []).append(row)
    return arms


class SeededModel(ScriptedChatModel):
    """Its script is told the seed of a call; what each call was told is kept."""

    seed: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    sampled: list = []

    def _generate(self, messages, stop=None, run_manager=None, **sampling):
        self.sampled.append((messages, {**sampling, "max_tokens": self.max_tokens}))
        said = self.script(messages, sampling.get("seed"))
        if isinstance(said, Exception):
            raise said
        return ChatResult(generations=[ChatGeneration(message=said)])


def seeded(script):
    return SeededModel(script, sampled=[])


def is_solving(messages):
    return "You check whether" not in messages[0].text and "teach problem solving" not in messages[0].text

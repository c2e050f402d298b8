"""What makes a comparison fair: nobody is shown the answer, controls show what they say, and all draw alike."""

import io
import json
import re
from collections import Counter

import pytest
from langchain_core.messages import AIMessage
from rich.console import Console

from reasoningbank_langgraph.chat.models import sampling_seed
from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.run import Models, Run
from reasoningbank_langgraph.testing import HashEmbeddings

from . import worlds

pytestmark = pytest.mark.slow

ALL = (
    "baseline",
    "memory",
    "long",
    "shuffled",
    "random",
    "filler",
    "guarded",
    "vote",
    "vote+memory",
    "vote+matts",
    "half",
    "gated",
)


def carry_out(tmp_path, chat, protocol="phase1", **changes):
    values = {"train": worlds.problems(tmp_path / "train.jsonl", 8), "train_limit": 8, "limit": 4}
    test = worlds.problems(tmp_path / "test.jsonl", 4, start=100)
    settings = ExperimentConfig(protocol=protocol, test=test, **{**values, **changes})
    run = Run(settings, tmp_path / "out", Models(chat, chat, HashEmbeddings()), Console(file=io.StringIO()))
    run.carry_out()
    arms = {}
    for row in run.results.rows:
        arms.setdefault(row.arm, []).append(row)
    return arms


def outvoted(messages, seed):
    """The first attempt at a problem is right, the others agree on a wrong answer."""
    if not worlds.is_solving(messages):
        return worlds.reply(messages)
    task = messages[-1].text
    first = seed == sampling_seed(sampling_seed(0, task), task, 0)
    a, b = (int(number) for number in re.findall(r"\d+", task))
    return AIMessage(f"\\boxed{{{a + b if first else 7}}}")


@pytest.mark.parametrize(
    ("protocol", "names"),
    [
        ("phase1", ("vote-3", "vote-3+memory", "vote-3+matts", "half-3", "gated-3")),
        ("stream", ("vote-3", "vote-3+matts")),
    ],
)
def test_the_reference_has_no_say_in_a_vote(protocol, names, tmp_path):
    more = ("vote+memory", "half", "gated") if protocol == "phase1" else ()
    wanted = ("vote", "vote+matts", *more)
    arms = carry_out(tmp_path, worlds.seeded(outvoted), protocol, arms=wanted)
    for name in names:
        assert [row.answer for row in arms[name]] == ["7"] * 4, name
        assert not any(row.right for row in arms[name])
    assert all(row.pass_at_k for name in names for row in arms[name] if protocol == "phase1" or name == "vote-3")


ANSWERS = {str(2 * number + 60) for number in range(100, 104)}


def telling(messages):
    """Distils lessons that state the answers of the other test problems: its own would be masked."""
    if worlds.is_solving(messages) or "You check whether" in messages[0].text:
        return worlds.reply(messages)
    others = sorted(ANSWERS - {*re.findall(r"\d+", messages[-1].text)})
    told = {"title": "Count", "description": "When counting", "content": f"Known sums are {', '.join(others)}."}
    return AIMessage(json.dumps({"items": [told]}))


@pytest.mark.parametrize("protocol", ["phase1", "stream"])
def test_no_arm_is_shown_a_lesson_that_states_the_answer(protocol, tmp_path):
    chat = worlds.model(telling)
    wanted = ALL if protocol == "phase1" else ("memory", "vote+matts")
    arms = carry_out(tmp_path, chat, protocol, arms=wanted)
    for messages in filter(worlds.is_solving, chat.calls):
        task = next(message.text for message in reversed(messages) if message.text.startswith("Someone has"))
        answer = sum(int(number) for number in re.findall(r"\d+", task))
        assert str(answer) not in re.findall(r"\d+", "".join(message.text for message in messages))
    dropping = [name for name, rows in arms.items() if any(row.dropped for row in rows)]
    assert "memory" in dropping
    if protocol == "phase1":
        assert {"vote-3+memory", "vote-3+matts", "half-3"} <= {*dropping}


def with_tips(messages):
    """A weak model is asked for a tip in plain words."""
    if "help students" in messages[0].text:
        return AIMessage("When a problem asks for the sum of two quantities, you add them together.")
    return worlds.reply(messages)


@pytest.mark.parametrize(("parameters", "asked"), [(1_500_000_000, False), (7_000_000_000, True)])
@pytest.mark.parametrize("protocol", ["phase1", "stream"])
def test_a_weak_solver_is_shown_memory_and_controls_as_the_loop_shows_them(protocol, parameters, asked, tmp_path):
    chat = worlds.model(with_tips)
    chat.metadata = {"parameters": parameters}
    wanted = ("memory", "shuffled", "random", "filler", "vote+memory") if protocol == "phase1" else ("memory",)
    carry_out(tmp_path, chat, protocol, arms=wanted)
    sent = ["".join(message.text for message in messages) for messages in filter(worlds.is_solving, chat.calls)]
    blocks = [text for text in sent if "=== begin notes" in text]
    assert len(blocks) >= len(wanted)
    assert {"whether it applies" in text for text in blocks} == {asked}


def test_controls_never_show_what_is_retrieved_for_the_problem_itself(tmp_path):
    arms = carry_out(tmp_path, worlds.model(), arms=("memory", "shuffled", "random"), seeds=(0, 1))
    own = {(row.seed, row.id): row for row in arms["memory"]}
    retrieved = {name for row in arms["memory"] for name in row.shown}
    for control in ("shuffled", "random"):
        for row in arms[control]:
            memory = own[row.seed, row.id]
            assert memory.shown
            assert len(row.shown) == len(memory.shown)
            assert not {*row.shown} & {*memory.shown}
            assert not {*row.sources} & {*memory.sources}
    assert {name for row in arms["shuffled"] for name in row.shown} <= retrieved


@pytest.mark.parametrize("protocol", ["phase1", "stream"])
def test_all_arms_draw_with_the_seed_of_the_problem_and_may_write_as_much(protocol, tmp_path):
    chat = worlds.seeded(lambda messages, _: worlds.reply(messages))
    wanted = ALL if protocol == "phase1" else ("baseline", "memory", "vote", "vote+matts")
    carry_out(tmp_path, chat, protocol, arms=wanted, seeds=(5,), temperature=0.4, max_tokens=77)
    seeds = {}
    for messages, sampling in [call for call in chat.sampled if worlds.is_solving(call[0])]:
        assert sampling["max_tokens"] == 77
        task = next(message.text for message in reversed(messages) if message.text.startswith("Someone has"))
        seeds.setdefault(task, []).append((sampling["seed"], sampling["temperature"]))
    for task, drawn in seeds.items():
        single = sampling_seed(5, task)
        first, second, third = (sampling_seed(single, task, number) for number in range(3))
        # of 8 train problems each is solved once for the ordinary bank and three times for that of MaTTS
        singles, votes = (1, 1) if len(drawn) == 4 else (6, 3) if protocol == "phase1" else (2, 2)
        expected = {(single, 0.4): singles, (first, 0.4): votes, (second, 0.7): votes, (third, 0.7): votes}
        assert Counter(drawn) == expected, task
    assert len(seeds) == (12 if protocol == "phase1" else 4)

"""The arms of an experiment differ in the memory and in nothing else."""

import json
from datetime import UTC, datetime

import pytest
from langchain_core.messages import AIMessage

from reasoningbank_langgraph.experiments.arms import Arm
from reasoningbank_langgraph.experiments.memories import guard
from reasoningbank_langgraph.experiments.solving import solve_several_times
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.records import MemoryItem, RetrievedMemory

from . import worlds

pytestmark = pytest.mark.slow

ARMS = ("baseline", "memory", "shuffled", "random", "filler", "vote", "vote+memory", "vote+matts")


def test_every_arm_meets_every_problem_and_only_its_memory_differs(tmp_path):
    run = worlds.carry_out(worlds.config(tmp_path, arms=ARMS, bank_sizes=(2,)), tmp_path / "out")
    arms = worlds.by_arm(run)
    assert {name: len(rows) for name, rows in arms.items()} == {
        "learning": 8,
        **dict.fromkeys(("baseline", "memory", "shuffled", "random", "filler", "memory-2"), 6),
        "learning-vote-3": 8,
        "vote-3": 6,
        "vote-3+memory": 6,
        "vote-3+matts": 6,
    }
    assert [sum(row.right for row in arms[name]) for name in ("baseline", "filler", "memory")] == [3, 3, 6]
    assert all(row.memory == "" for row in arms["baseline"])
    assert all("counting" in row.memory for row in arms["memory"])
    assert all("counting" not in row.memory for row in arms["filler"])
    for memory, filler in zip(arms["memory"], arms["filler"], strict=True):
        assert abs(len(memory.memory) - len(filler.memory)) < 60
    prompts = {entry["hash"]: entry["messages"] for entry in map(json.loads, run.prompts.path.read_text().splitlines())}
    for rows in zip(arms["baseline"], arms["memory"], arms["filler"], arms["shuffled"], strict=True):
        bare = [[message for message in prompts[row.prompt_hash] if message[1] != row.memory] for row in rows]
        assert all(one == bare[0] for one in bare)


def test_the_bank_of_a_part_knows_the_lessons_of_that_part_only(tmp_path):
    run = worlds.carry_out(worlds.config(tmp_path, arms=("baseline", "memory"), bank_sizes=(2,)), tmp_path / "out")
    arms = worlds.by_arm(run)
    assert {source for row in arms["memory-2"] for source in row.sources} <= {"p0", "p1"}
    assert {row.bank for row in arms["memory-2"]} == {2}
    assert {row.bank for row in arms["memory"]} == {8}


@pytest.mark.parametrize("outcome", ["success", "failure"])
def test_only_lessons_of_the_wanted_outcome_are_shown(outcome, tmp_path):
    run = worlds.carry_out(worlds.config(tmp_path, arms=("baseline", "memory"), outcome=outcome), tmp_path / "out")
    arms = worlds.by_arm(run)
    right = {row.id: row.right for row in arms["learning"]}
    sources = {source for row in arms["memory"] for source in row.sources}
    assert sources
    assert {right[source] for source in sources} == {outcome == "success"}


def test_an_oracle_teaches_by_the_reference_and_a_self_judge_by_its_opinion(tmp_path):
    oracle = worlds.by_arm(worlds.carry_out(worlds.config(tmp_path, arms=("memory",)), tmp_path / "oracle"))["learning"]
    own = worlds.by_arm(worlds.carry_out(worlds.config(tmp_path, arms=("memory",), judge="self"), tmp_path / "self"))[
        "learning"
    ]
    assert all((row.verdict == "success") is row.right for row in oracle)
    assert {row.verdict for row in own} == {"success"}
    assert {row.right for row in own} == {True, False}


def test_a_stream_learns_as_it_goes_in_the_order_of_its_seed(tmp_path):
    run = worlds.carry_out(
        worlds.config(tmp_path, "stream", arms=("baseline", "memory"), seeds=(1, 2)), tmp_path / "out"
    )
    arms = worlds.by_arm(run)
    for seed in (1, 2):
        rows = sorted((row for row in arms["memory"] if row.seed == seed), key=lambda row: row.position)
        assert rows[0].bank == 0
        assert rows[0].memory == ""
        assert rows[-1].bank == 4
        assert [row.id for row in rows] == [row.id for row in arms["baseline"] if row.seed == seed]
    assert len({tuple(row.id for row in arms["baseline"] if row.seed == seed) for seed in (1, 2)}) == 2
    assert all(row.id not in row.sources for row in arms["memory"])


def test_a_stream_names_the_near_copies_among_its_own_problems_and_phase1_those_among_the_learned(tmp_path):
    def named(protocol):
        worlds.carry_out(
            worlds.config(tmp_path, protocol, arms=("baseline",), train_limit=4, limit=5), tmp_path / protocol
        )
        pairs = json.loads((tmp_path / protocol / "duplicates.json").read_text())
        return {(pair["train_id"], pair["test_id"]) for pair in pairs}

    fruit = {number: number % 4 for number in (0, 1, 2, 3, 100, 101, 102, 103, 104)}
    same = {(one, two) for one in fruit for two in fruit if one < two and fruit[one] == fruit[two]}
    assert named("stream") >= {(f"p{one}", f"p{two}") for one, two in same if one >= 100}
    assert all(one < two for one, two in named("stream"))
    assert named("phase1") >= {(f"p{one}", f"p{two}") for one, two in same if one < 100 <= two}
    assert all(int(one[1:]) < 100 <= int(two[1:]) for one, two in named("phase1"))


def test_scaling_crosses_memory_with_attempts_and_modes(tmp_path):
    settings = worlds.config(tmp_path, "scaling", attempts=(1, 2, 3), modes=("parallel", "sequential"), limit=2)
    assert sorted(worlds.by_arm(worlds.carry_out(settings, tmp_path / "out"))) == sorted(
        ["baseline", "memory", "learning"]
        + [f"{name}-{k}{bank}" for name in ("vote", "checked") for k in (2, 3) for bank in ("", "+memory", "+matts")]
        + [f"learning-{name}-{k}" for name in ("vote", "checked") for k in (2, 3)]
    )


@pytest.mark.parametrize(("fixed", "made"), [(False, 3), (True, 5)])
def test_a_sequential_arm_makes_all_its_attempts_where_k_is_fixed_and_else_ends_with_an_answer_that_stands(
    fixed, made, tmp_path
):
    def standing(messages):
        asked = any(words in messages[0].text for words in ("You check whether", "teach problem solving"))
        return worlds.reply(messages) if asked else AIMessage("so \\boxed{1}")

    settings = worlds.config(tmp_path, "scaling", attempts=(5,), modes=("sequential",), limit=2, fixed_k=fixed)
    run = worlds.carry_out(settings, tmp_path / "out", worlds.model(standing))
    several = [row for row in run.results.rows if "-5" in row.arm]
    assert {row.attempts for row in several} == {made}


def test_several_attempts_see_the_same_memory_as_one(tmp_path):
    arms = worlds.by_arm(worlds.carry_out(worlds.config(tmp_path, arms=("memory", "vote+memory")), tmp_path / "out"))
    memory, scaled = arms["memory"], arms["vote-3+memory"]
    assert [row.memory for row in memory] == [row.memory for row in scaled]
    assert all(row.right and row.pass_at_k for row in scaled)
    assert {row.tokens_out for row in scaled} == {15}


def test_the_solver_of_several_attempts_is_shown_the_memory_in_the_order_of_its_arm(tmp_path):
    learned = {"one": 2, "two": 9, "three": 5}  # hours: neither the oldest nor the newest is the first
    items = [
        MemoryItem(
            title=title,
            description=f"when {title}",
            content=f"do {title}",
            outcome="success",
            task=f"task {title}",
            created_at=datetime(2026, 1, 1, hour, tzinfo=UTC),
        )
        for title, hour in learned.items()
    ]
    shown = guard(Problem("q", "another", "no such answer"), [RetrievedMemory(item=item, why="near") for item in items])
    chat, arm = worlds.model(), Arm("vote-2+memory", "retrieved", 2)
    problem = Problem("p", "Someone has 2 figs and gets 3 figs. How many figs is that?", "5")
    solve_several_times(chat, worlds.config(tmp_path), arm)(problem, shown, 0)
    assert len(chat.calls) >= 2
    for messages in chat.calls:
        prompt = "".join(message.text for message in messages)
        assert sorted(learned, key=lambda title: prompt.index(f"do {title}")) == list(learned)

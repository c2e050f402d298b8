"""An experiment writes every row once, whatever stops it, and its arms differ in the memory and in nothing else."""

import io
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from langchain_core.messages import AIMessage
from rich.console import Console

from reasoningbank_langgraph.errors import ExperimentError, InvalidRecordError
from reasoningbank_langgraph.experiments import run as running
from reasoningbank_langgraph.experiments.arms import Arm
from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.memories import guard
from reasoningbank_langgraph.experiments.results import Results
from reasoningbank_langgraph.experiments.run import Models, Run
from reasoningbank_langgraph.experiments.solving import solve_several_times
from reasoningbank_langgraph.local import model_choice
from reasoningbank_langgraph.local.model_choice import ResolvedModel
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.records import MemoryItem, RetrievedMemory
from reasoningbank_langgraph.testing import HashEmbeddings, ScriptedChatModel

from . import worlds

pytestmark = pytest.mark.slow


def config(tmp_path, protocol="phase1", **changes):
    values = {
        "protocol": protocol,
        "train": worlds.problems(tmp_path / "train.jsonl", 8),
        "test": worlds.problems(tmp_path / "test.jsonl", 8, start=100),
        "train_limit": 8,
        "limit": 6,
    }
    return ExperimentConfig(**{**values, **changes})


def carry_out(settings, out, chat=None):
    chat = chat or worlds.model()
    run = Run(settings, out, Models(chat, chat, HashEmbeddings()), Console(file=io.StringIO()))
    run.carry_out()
    return run


def by_arm(run):
    arms = {}
    for row in run.results.rows:
        arms.setdefault(row.arm, []).append(row)
    return arms


ARMS = ("baseline", "memory", "shuffled", "random", "filler", "vote", "vote+memory", "vote+matts")


def test_every_arm_meets_every_problem_and_only_its_memory_differs(tmp_path):
    run = carry_out(config(tmp_path, arms=ARMS, bank_sizes=(2,)), tmp_path / "out")
    arms = by_arm(run)
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
    run = carry_out(config(tmp_path, arms=("baseline", "memory"), bank_sizes=(2,)), tmp_path / "out")
    arms = by_arm(run)
    assert {source for row in arms["memory-2"] for source in row.sources} <= {"p0", "p1"}
    assert {row.bank for row in arms["memory-2"]} == {2}
    assert {row.bank for row in arms["memory"]} == {8}


@pytest.mark.parametrize("outcome", ["success", "failure"])
def test_only_lessons_of_the_wanted_outcome_are_shown(outcome, tmp_path):
    run = carry_out(config(tmp_path, arms=("baseline", "memory"), outcome=outcome), tmp_path / "out")
    arms = by_arm(run)
    right = {row.id: row.right for row in arms["learning"]}
    sources = {source for row in arms["memory"] for source in row.sources}
    assert sources
    assert {right[source] for source in sources} == {outcome == "success"}


def test_an_oracle_teaches_by_the_reference_and_a_self_judge_by_its_opinion(tmp_path):
    oracle = by_arm(carry_out(config(tmp_path, arms=("memory",)), tmp_path / "oracle"))["learning"]
    own = by_arm(carry_out(config(tmp_path, arms=("memory",), judge="self"), tmp_path / "self"))["learning"]
    assert all((row.verdict == "success") is row.right for row in oracle)
    assert {row.verdict for row in own} == {"success"}
    assert {row.right for row in own} == {True, False}


@pytest.mark.parametrize("protocol", ["phase1", "stream", "scaling"])
@pytest.mark.parametrize("after", [1, 6, 11])
def test_a_run_that_was_stopped_goes_on_and_ends_like_one_that_was_not(protocol, after, tmp_path):
    arms = ("baseline", "memory") if protocol == "stream" else ("baseline", "memory", "shuffled")
    settings = config(tmp_path, protocol, arms=arms, limit=4, train_limit=4)
    whole = carry_out(settings, tmp_path / "whole")
    calls = []

    def failing(messages):
        calls.append(1)
        if len(calls) == after:
            raise KeyboardInterrupt
        return worlds.reply(messages)

    with pytest.raises(KeyboardInterrupt):
        carry_out(settings, tmp_path / "cut", worlds.model(failing))
    resumed = worlds.model()
    again = carry_out(settings, tmp_path / "cut", resumed)
    strip = {"seconds", "shown", "tokens_in", "tokens_out"}
    told = [
        sorted(
            (row.model_dump_json(exclude=strip) for row in run.results.rows),
        )
        for run in (whole, again)
    ]
    assert told[0] == told[1]
    lines = [json.loads(line) for line in again.results.path.read_text().splitlines()]
    assert len({(row["arm"], row["seed"], row["id"]) for row in lines}) == len(lines)


def test_a_problem_that_fails_is_noted_and_run_again_on_resume(tmp_path):
    settings = config(tmp_path, arms=("baseline",))
    down = carry_out(settings, tmp_path / "out", worlds.model(lambda _: ConnectionError("gone")))
    assert [row.error for row in down.results.rows] == ["ConnectionError: gone"] * 6
    up = carry_out(settings, tmp_path / "out")
    assert [row.error for row in up.results.rows] == [None] * 6
    assert sum(row.right for row in up.results.rows) == 3


def test_a_line_that_a_kill_cut_off_is_dropped(tmp_path):
    settings = config(tmp_path, arms=("baseline",))
    run = carry_out(settings, tmp_path / "out")
    whole = run.results.path.read_bytes()
    run.results.path.write_bytes(whole[:-20])
    again = carry_out(settings, tmp_path / "out")
    assert len(again.results.rows) == 6
    assert len(again.results.path.read_bytes().splitlines()) == 6


def test_a_stream_learns_as_it_goes_in_the_order_of_its_seed(tmp_path):
    run = carry_out(config(tmp_path, "stream", arms=("baseline", "memory"), seeds=(1, 2)), tmp_path / "out")
    arms = by_arm(run)
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
        carry_out(config(tmp_path, protocol, arms=("baseline",), train_limit=4, limit=5), tmp_path / protocol)
        pairs = json.loads((tmp_path / protocol / "duplicates.json").read_text())
        return {(pair["train_id"], pair["test_id"]) for pair in pairs}

    fruit = {number: number % 4 for number in (0, 1, 2, 3, 100, 101, 102, 103, 104)}
    same = {(one, two) for one in fruit for two in fruit if one < two and fruit[one] == fruit[two]}
    assert named("stream") >= {(f"p{one}", f"p{two}") for one, two in same if one >= 100}
    assert all(one < two for one, two in named("stream"))
    assert named("phase1") >= {(f"p{one}", f"p{two}") for one, two in same if one < 100 <= two}
    assert all(int(one[1:]) < 100 <= int(two[1:]) for one, two in named("phase1"))


def test_scaling_crosses_memory_with_attempts_and_modes(tmp_path):
    settings = config(tmp_path, "scaling", attempts=(1, 2, 3), modes=("parallel", "sequential"), limit=2)
    assert sorted(by_arm(carry_out(settings, tmp_path / "out"))) == sorted(
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

    settings = config(tmp_path, "scaling", attempts=(5,), modes=("sequential",), limit=2, fixed_k=fixed)
    run = carry_out(settings, tmp_path / "out", worlds.model(standing))
    several = [row for row in run.results.rows if "-5" in row.arm]
    assert {row.attempts for row in several} == {made}


def test_several_attempts_see_the_same_memory_as_one(tmp_path):
    arms = by_arm(carry_out(config(tmp_path, arms=("memory", "vote+memory")), tmp_path / "out"))
    memory, scaled = arms["memory"], arms["vote-3+memory"]
    assert [row.memory for row in memory] == [row.memory for row in scaled]
    assert all(row.right and row.pass_at_k for row in scaled)
    assert {row.tokens_out for row in scaled} == {15}


def test_workers_at_the_same_time_write_the_same_rows(tmp_path):
    settings = config(tmp_path, arms=("baseline", "memory", "random"))
    one = carry_out(settings, tmp_path / "one")
    many = carry_out(settings.model_copy(update={"concurrency": 4}), tmp_path / "many")
    rows = [{row.key: (row.answer, row.memory) for row in run.results.rows} for run in (one, many)]
    assert rows[0] == rows[1]


@pytest.mark.parametrize(("slots", "wanted", "at_once"), [(4, None, 4), (4, 2, 2), (None, None, 1)])
def test_a_model_on_this_machine_is_given_as_many_problems_as_it_works_on_at_once(
    slots, wanted, at_once, tmp_path, monkeypatch
):
    server = slots and SimpleNamespace(slots=slots, close=lambda: None)
    chosen = ResolvedModel(worlds.model(), "a model", server)
    pools = []
    monkeypatch.setattr(model_choice, "resolve_model", lambda *_, **__: chosen)
    monkeypatch.setattr(running, "default_embeddings", HashEmbeddings)
    monkeypatch.setattr(running, "ThreadPoolExecutor", lambda count: pools.append(count) or ThreadPoolExecutor(count))
    settings = config(tmp_path, arms=("baseline",), concurrency=wanted)
    running.run_experiment(settings, tmp_path / "out", console=Console(file=io.StringIO()))
    assert pools == [at_once]


def test_a_folder_belongs_to_one_configuration(tmp_path):
    settings = config(tmp_path, arms=("baseline",))
    carry_out(settings, tmp_path / "out")
    with pytest.raises(ExperimentError, match=r"max_tokens \(512 there, 64 here\)"):
        carry_out(settings.model_copy(update={"max_tokens": 64}), tmp_path / "out")
    carry_out(settings.model_copy(update={"concurrency": 2}), tmp_path / "out")
    saved = ExperimentConfig.model_validate_json((tmp_path / "out" / "config.json").read_text())
    assert saved == settings.model_copy(update={"concurrency": 2})


def test_a_folder_belongs_to_its_models_and_problems(tmp_path):
    settings = config(tmp_path, arms=("baseline",))
    carry_out(settings, tmp_path / "out")
    with pytest.raises(
        ExperimentError, match=r"other models or problems: solver \('ScriptedChatModel' there, 'M' here"
    ):
        carry_out(settings, tmp_path / "out", Named(worlds.reply, model_name="M"))
    worlds.problems(tmp_path / "test.jsonl", 8, start=101)
    with pytest.raises(ExperimentError, match=r"other models or problems: problems \("):
        carry_out(settings, tmp_path / "out")


class Named(ScriptedChatModel):
    model_name: str


def test_train_problems_are_taken_out_of_the_test(tmp_path):
    same = worlds.problems(tmp_path / "all.jsonl", 8)
    run = carry_out(config(tmp_path, train=same, test=same, train_limit=5, arms=("baseline",)), tmp_path / "out")
    assert [row.id for row in run.results.rows] == ["p5", "p6", "p7"]
    with pytest.raises(ExperimentError, match="nothing is left"):
        carry_out(config(tmp_path, train=same, test=same, train_limit=8, arms=("baseline",)), tmp_path / "none")


def test_a_problem_without_an_answer_is_refused(tmp_path):
    path = tmp_path / "open.jsonl"
    path.write_text('{"id": "q", "problem": "What is 1 + 1?"}\n')
    with pytest.raises(ExperimentError, match="'q' has no answer"):
        carry_out(config(tmp_path, test=path), tmp_path / "out")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"arms": ("baseline", "magic")}, "no arm is called 'magic'"),
        ({"arms": ()}, "at least one arm"),
        ({"arms": ("memory", "memory")}, "once only"),
        ({"seeds": ()}, "at least one arm and one seed"),
        ({"train": None}, "give train="),
        ({"protocol": "stream", "arms": ("baseline", "random")}, "controls need a bank"),
        ({"bank_sizes": (8,)}, "parts of train_limit"),
        ({"limit": 0}, "limit"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, problem, tmp_path):
    with pytest.raises(InvalidRecordError, match=problem):
        config(tmp_path, **changes)


def test_reading_rows_leaves_a_line_that_is_being_written_alone(tmp_path):
    settings = config(tmp_path, arms=("baseline",))
    run = carry_out(settings, tmp_path / "out")
    whole = run.results.path.read_bytes()
    run.results.path.write_bytes(whole[:-20])
    assert len(Results(tmp_path / "out").rows) == 5
    with run.results.path.open("ab") as file:
        file.write(whole[-20:])
    assert len(Results(tmp_path / "out").rows) == 6


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
    solve_several_times(chat, config(tmp_path), arm)(problem, shown, 0)
    assert len(chat.calls) >= 2
    for messages in chat.calls:
        prompt = "".join(message.text for message in messages)
        assert sorted(learned, key=lambda title: prompt.index(f"do {title}")) == list(learned)

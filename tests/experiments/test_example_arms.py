"""Arms that show an attempt as a worked example: the nearest success, and as its control one drawn by chance."""

import json
import re
from collections import Counter

import pytest

from reasoningbank_langgraph.bank import EXAMPLE_FLOOR, MemoryBank
from reasoningbank_langgraph.errors import ExperimentError, FrozenBankError
from reasoningbank_langgraph.experiments.leaks import gives_away
from reasoningbank_langgraph.experiments.leaks.audit import audit_leaks
from reasoningbank_langgraph.experiments.leaks.near_copies import text_similarity
from reasoningbank_langgraph.experiments.learning import Learner
from reasoningbank_langgraph.experiments.memories import nearest_example, random_example, written_example
from reasoningbank_langgraph.experiments.report.plots import draw
from reasoningbank_langgraph.experiments.summarise import summarise
from reasoningbank_langgraph.experiments.summary import NEAR_TEXT
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.records import Episode
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.testing import HashEmbeddings

from . import worlds
from .fake_rows import needs_extra, row

pytestmark = pytest.mark.slow

ARMS = ("baseline", "memory", "examples", "examples-random")


def settings(folder, **changes):
    values = {"train": worlds.unlike_problems(folder / "train.jsonl", 8)}
    values["test"] = worlds.unlike_problems(folder / "test.jsonl", 6, start=100)
    return worlds.config(folder, **{**values, "arms": ARMS, **changes})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("examples")


@pytest.fixture(scope="module")
def done(folder):
    chat = worlds.model()
    return chat, worlds.carry_out(settings(folder), folder / "out", chat)


def open_bank(run):
    return ChromaStore.from_path(run.out / "banks", embeddings=HashEmbeddings())


def test_the_nearest_success_is_shown_as_two_turns_before_the_problem_as_in_the_loop(done):
    chat, run = done
    right = {row.id for row in worlds.by_arm(run)["learning"] if row.right}
    with open_bank(run) as store:
        bank = MemoryBank(store, ("experiment", "learning-all"))
        for row in worlds.by_arm(run)["examples"]:
            every = bank.search_examples(row.problem, task_id=row.id, k=10)
            found = every[len(row.dropped)]
            assert row.dropped == tuple(one.episode.id for one in every[: len(row.dropped)])
            assert row.shown == (found.episode.id,)
            assert row.sources == (found.episode.task_id,)
            assert row.scores == (found.score,)
            assert found.score >= EXAMPLE_FLOOR
            assert found.episode.task_id in right
            prompts = [messages for messages in chat.calls if messages[-1].text == row.problem and len(messages) == 4]
            (sent,) = [messages for messages in prompts if messages[1].text == found.episode.task]
            assert [message.type for message in sent] == ["system", "human", "ai", "human"]
            assert sent[2].text == found.episode.solution
            assert row.memory == f"user: {found.episode.task}\n\nassistant: {found.episode.solution}"


def test_the_control_shows_another_success_of_the_bank_and_never_the_nearest_one(done):
    arms = worlds.by_arm(done[1])
    right = {row.id for row in arms["learning"] if row.right}
    for nearest, other in zip(arms["examples"], arms["examples-random"], strict=True):
        assert len(other.shown) == len(nearest.shown) == 1
        assert not {*other.sources} & {*nearest.sources, other.id}
        assert {*other.sources} <= right
        assert other.scores == ()
    assert len({row.sources for row in arms["examples-random"]}) > 1


def test_a_frozen_bank_holds_every_judged_attempt_and_its_lessons_are_named_as_before(done):
    run = done[1]
    arms = worlds.by_arm(run)
    with open_bank(run) as store:
        kept = MemoryBank(store, ("experiment", "learning-all")).episodes()
    assert Counter(one.outcome for one in kept) == Counter(row.verdict for row in arms["learning"])
    assert [one.task_id for one in kept] == [row.id for row in arms["learning"]]
    digests = {name: {row.bank_digest for row in arms[name]} for name in ARMS[1:]}
    assert digests["examples"] == digests["examples-random"] != digests["memory"]
    assert {row.bank for row in arms["examples"]} == {sum(row.right for row in arms["learning"])}


def episode(name, task, solution, **more):
    return Episode(id=name, task=task, task_id=name, solution=solution, outcome="success", **more)


FIGS = "Someone has 102 figs and gets 110 figs. How many figs is that? They lie on the table of the small kitchen."
HARMLESS = episode("far", "Ann counts 3 figs on a small table and gets 4 figs more. How many?", "It is \\boxed{7}")


@pytest.mark.parametrize(
    "leak",
    [
        episode("same", FIGS.upper(), "so \\boxed{5}"),
        episode("copy", FIGS.replace("102", "7").replace("110", "8"), "so \\boxed{15}"),
        episode("answer", "Bob has 2 figs on the table and gets 3 figs. How many figs?", "so \\boxed{212}"),
        episode("step", "Bob has 2 figs on the table and gets 3 figs. How many figs?", "200 + 12 = 212, so \\boxed{5}"),
    ],
    ids=lambda one: one.id,
)  # fmt: skip
def test_an_example_that_gives_the_answer_away_is_not_shown_and_the_next_one_is(leak, tmp_path):
    problem = Problem("own", FIGS, "212")
    assert gives_away(leak, problem)
    assert not gives_away(HARMLESS, problem)
    with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings()) as store:
        bank = MemoryBank(store, ("experiment", "all"))
        for one in (leak, HARMLESS):
            bank.add([], episodes=[one])
        nearest = nearest_example(bank)
        shown = nearest(problem, 0)
        assert [one.episode.id for one in shown.examples] == ["far"]
        assert shown.dropped == (() if leak.id == "same" else (leak.id,))
        assert random_example(bank, nearest)(problem, 0).examples == ()  # nothing is left to draw from


def test_where_tasks_recur_a_near_copy_is_shown_and_neither_the_problem_itself_nor_its_answer(tmp_path):
    problem, copied = Problem("own", FIGS, "212"), FIGS.replace("102", "7").replace("110", "8")
    with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings()) as store:
        bank = MemoryBank(store, ("experiment", "all"))
        same, answer = episode("same", FIGS, "so \\boxed{5}"), episode("answer", copied, "212 - 7 = 205, so \\boxed{5}")
        for one in (same, answer, episode("copy", f"{copied} ", "so \\boxed{15}"), HARMLESS):
            bank.add([], episodes=[one])
        recurring = nearest_example(bank, copies=True)
        shown, other = recurring(problem, 0), random_example(bank, recurring)(problem, 0)
        assert [one.episode.id for one in shown.examples] == ["copy"]
        assert {*shown.dropped} <= {"answer"}
        assert [one.episode.id for one in other.examples] == ["far"]


@needs_extra
def test_near_copies_are_shown_in_the_arms_of_recurring_tasks_alone(tmp_path):
    arms = ("baseline", "vote", "examples", "recurring", "recurring-random", "written", "vote+recurring")
    run = worlds.carry_out(worlds.config(tmp_path, arms=arms), tmp_path / "out")
    rows = worlds.by_arm(run)
    problems = {row.id: row.problem for row in run.results.rows}
    copies = {
        name: [text_similarity(problems[row.sources[0]], row.problem) > NEAR_TEXT for row in rows[name] if row.sources]
        for name in arms[2:5]
    }
    assert not any(copies["examples"])
    assert not any(copies["recurring-random"])
    assert len(copies["recurring"]) == len(rows["recurring"])
    assert any(copies["recurring"])
    summary = summarise(run.results.rows, run.config)
    compared = {(one.arm, one.against): one.group for one in summary.comparisons}
    assert {compared["recurring", other] for other in ("recurring-random", "written")} == {"control"}
    assert compared["examples", "written"] == "control"
    assert (compared["written", "baseline"], compared["vote-3+recurring", "vote-3"]) == ("placebo", "same attempts")
    assert any("Near copies could be shown in recurring, recur" in said for said in summary.notes)
    assert {"scaling.png", "tokens.png"} <= {*draw(run.results.rows, summary)}


@needs_extra
def test_a_vote_of_recurring_tasks_shows_each_attempt_what_a_single_one_is_shown(tmp_path):
    chat = worlds.model()
    run = worlds.carry_out(
        worlds.config(tmp_path, arms=("baseline", "recurring", "vote+recurring")), tmp_path / "out", chat
    )
    rows = worlds.by_arm(run)
    assert [row.memory for row in rows["vote-3+recurring"]] == [row.memory for row in rows["recurring"]]
    one = rows["recurring"][0]
    sent = [messages for messages in chat.calls if messages[-1].text == one.problem and len(messages) == 4]
    assert len({tuple(message.text for message in messages) for messages in sent}) == 1


def test_the_solution_written_by_hand_is_the_same_for_every_problem_and_left_out_where_it_states_the_answer():
    problems = [Problem(f"p{answer}", FIGS, answer) for answer in ("212", "7", "34750")]
    first, second, leaking = (written_example(problem, 0) for problem in problems)
    assert first == second
    assert first.examples[0].episode.solution.endswith("\\boxed{34750}\\).")
    assert (leaking.text, leaking.dropped) == ("", ("written",))


def test_where_no_example_is_near_the_control_shows_none_either(tmp_path):
    with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings()) as store:
        bank = MemoryBank(store, ("experiment", "all"))
        bank.add([], episodes=[HARMLESS])
        problem = Problem("own", "Quadratic reciprocity: prove it.", "none")
        nearest = nearest_example(bank)
        assert nearest(problem, 0) == random_example(bank, nearest)(problem, 0)
        assert nearest(problem, 0).text == ""


def test_the_audit_reads_examples_too():
    shown = "user: Bob has 2 figs.\n\nassistant: first 200 + 12 = 212, so \\boxed{5}"
    rows = [
        row("examples", "p1", memory=shown, reference="212", sources=("p7",)),
        row("examples", "p2", memory=shown, reference="40", sources=("p2",)),
    ]
    found = audit_leaks(rows, [], ["examples"])
    assert ([leak.id for leak in found.with_gold], found.gold_items) == (["p1"], 1)
    assert [leak.id for leak in found.self_retrieved] == ["p2"]
    assert found.flagged == ("p1", "p2")


@needs_extra
def test_examples_are_compared_with_the_first_arm_and_with_their_control(done):
    run = done[1]
    summary = summarise(run.results.rows, run.config)
    groups = {(found.arm, found.against): found.group for found in summary.comparisons}
    assert groups == {
        ("memory", "baseline"): "arm",
        ("examples", "baseline"): "arm",
        ("examples-random", "baseline"): "placebo",
        ("examples", "examples-random"): "control",
    }
    assert summary.leaks.flagged == ()


def rows_of(run, *arms):
    return sorted(row.model_dump_json() for row in run.results.rows if row.arm in arms)


def test_arms_are_added_to_a_run_and_nothing_that_is_there_is_made_again(done, folder, tmp_path):
    few, out = ("baseline", "memory", "vote"), tmp_path / "out"
    first = worlds.carry_out(settings(folder, arms=few), out)
    chat = worlds.model()
    again = worlds.carry_out(settings(folder, arms=(*few, "gated", "half", "examples", "examples-random")), out, chat)
    there = ("learning", "baseline", "memory", "vote-3")
    assert rows_of(again, *there) == rows_of(first, *there)
    # two arms of one example, and the tries with a memory of gated and half: those without are tries of the vote
    assert len(chat.calls) == 6 + 6 + len(again.tries.path.read_text().splitlines()) - 3 * 6
    figures = {"seconds", "reply_length", "memory_length"}
    made = [[row.model_dump(exclude=figures) for row in worlds.by_arm(run)["examples"]] for run in (again, done[1])]
    assert made[0] == made[1]
    with pytest.raises(ExperimentError, match="holds rows of gated-3, half-3, memory, vote-3: name these arms as well"):
        worlds.carry_out(settings(folder, arms=("baseline", "examples", "examples-random")), out)
    with pytest.raises(ExperimentError, match=r"other settings: k \(1 there, 2 here\); choose another folder"):
        worlds.carry_out(settings(folder, arms=(*few, "gated", "half", *ARMS[2:]), k=2), out)


def test_a_run_learned_before_attempts_were_kept_goes_on_and_is_refused_examples(folder, tmp_path, monkeypatch):
    out, few = tmp_path / "out", ("baseline", "memory")
    taught = Learner.taught
    with monkeypatch.context() as earlier:
        earlier.setattr(Learner, "taught", lambda *told: taught(*told)._replace(episodes=()))
        whole = worlds.carry_out(settings(folder, arms=few), out)
        lines = whole.results.path.read_text().splitlines()
        whole.results.path.write_text("\n".join(lines[:-3]) + "\n")
        again = worlds.carry_out(settings(folder, arms=few), out)
        assert len(again.results.rows) == len(lines)
        with pytest.raises(FrozenBankError, match="lacks the attempts at 8 of 8 problems, which an earlier version"):
            worlds.carry_out(settings(folder, arms=(*few, "examples")), out)
    whole.results.path.write_text("\n".join(lines[:-3]) + "\n")
    (*_, last) = worlds.by_arm(worlds.carry_out(settings(folder, arms=few), out))["memory"]
    assert {last.bank_digest} == {row.bank_digest for row in worlds.by_arm(whole)["memory"]}


def test_a_bank_that_was_broken_off_while_it_was_frozen_is_completed(done, folder, tmp_path, monkeypatch):
    write, written = MemoryBank.add, []

    def broken_off(bank, items, **more):
        if len(written) == 3:
            raise KeyboardInterrupt
        written.append(write(bank, items, **more))
        return written[-1]

    with monkeypatch.context() as killed:
        killed.setattr(MemoryBank, "add", broken_off)
        with pytest.raises(KeyboardInterrupt):
            worlds.carry_out(settings(folder), tmp_path / "out")
    again = worlds.by_arm(worlds.carry_out(settings(folder), tmp_path / "out"))
    for name, rows in worlds.by_arm(done[1]).items():
        assert [(row.bank_digest, row.shown, row.right) for row in again[name]] == [
            (row.bank_digest, row.shown, row.right) for row in rows
        ]


def test_prompts_of_examples_are_written_down_as_they_were_sent(done):
    run = done[1]
    prompts = {one["hash"]: one["messages"] for one in map(json.loads, run.prompts.path.read_text().splitlines())}
    for sent in worlds.by_arm(run)["examples"]:
        assert [role for role, _ in prompts[sent.prompt_hash]] == ["system", "human", "ai", "human"]
        assert re.search(r"boxed", prompts[sent.prompt_hash][2][1])

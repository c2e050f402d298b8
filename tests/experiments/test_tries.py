"""Arms of which some attempts see the memory: what they share, what they cost, and how they go on after a stop."""

import json
import re
import shutil
from collections import Counter

import pytest
from langchain_core.messages import AIMessage
from tenacity import wait_none

from reasoningbank_langgraph.chat.models import sampling_seed
from reasoningbank_langgraph.experiments import calls
from reasoningbank_langgraph.experiments.tries import Try, answer_of
from reasoningbank_langgraph.matts.with_and_without import without_memory

from . import worlds

pytestmark = pytest.mark.slow

ARMS = ("baseline", "memory", "vote", "vote+memory", "half", "gated")


def wavering(messages, seed):
    """With a lesson right. Without, the first try is right, the second where a is even, and the third never."""
    if not worlds.is_solving(messages):
        return worlds.reply(messages)
    task = messages[-1].text
    a, b = (int(number) for number in re.findall(r"\d+", task))
    drawn = [sampling_seed(sampling_seed(0, task), task, number) for number in range(3)]
    number = drawn.index(seed) if seed in drawn else 0
    right = len(messages) > 2 or number == 0 or (number == 1 and a % 2 == 0)
    reply = f"so \\boxed{{{a + b + (not right)}}}"
    return AIMessage(reply, usage_metadata=worlds.usage(20 * len(messages), 5), response_metadata=worlds.named())


def settings(tmp_path, **changes):
    return worlds.config(tmp_path, **{"arms": ARMS, **changes})


def of_tests(chat):
    """The requests for test problems: the prompt, the temperature and the seed of each."""
    found = []
    for messages, sampled in chat.sampled:
        texts = tuple(message.text for message in messages)
        if worlds.is_solving(messages) and re.search(r"has 1[2-9]\d ", texts[-1]):
            found.append((texts, sampled["temperature"], sampled["seed"]))
    return found


def figures(rows):
    kept = {"arm", "seed", "id", "answer", "reply", "right", "memory", "shown", "attempts", "pass_at_k", "tokens_out"}
    return sorted(json.dumps(row.model_dump(mode="json", include=kept), sort_keys=True) for row in rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tries")


@pytest.fixture(scope="module")
def shared(folder):
    chat = worlds.seeded(wavering)
    return chat, worlds.carry_out(settings(folder), folder / "out", chat)


def test_what_several_arms_ask_is_asked_once(shared):
    asked = Counter(of_tests(shared[0]))
    assert set(asked.values()) == {1}
    assert len(asked) == 6 * (1 + 1 + 3 + 3)  # baseline, memory, the votes; half and gated ask nothing new


@pytest.mark.parametrize("arm", ["vote", "half", "gated"])
def test_each_arm_has_the_rows_it_would_have_alone(arm, shared, tmp_path):
    alone = worlds.carry_out(settings(tmp_path, arms=(arm,)), tmp_path / "alone", worlds.seeded(wavering))
    told = [figures(row for row in run.results.rows if row.arm == f"{arm}-3") for run in (shared[1], alone)]
    assert told[0] == told[1]
    assert len(told[0]) == 6


def test_the_gated_arm_shows_the_memory_only_where_the_first_tries_disagree(shared):
    arms = worlds.by_arm(shared[1])
    memory = {row.id: row for row in arms["memory"]}
    for row in arms["gated-3"]:
        agreed = int(row.reference) % 4 == 0  # a is even
        assert (row.attempts, row.right) == (2 if agreed else 3, True)
        assert row.memory == ("" if agreed else memory[row.id].memory)
        assert bool(row.shown) is bool(row.scores) is not agreed
    assert {row.right for row in arms["gated-3"]} == {True}
    assert [row.right for row in arms["vote-3"]] == [int(row.reference) % 4 == 0 for row in arms["vote-3"]]


def test_the_half_that_is_shown_the_memory_is_that_of_the_loop(shared):
    chat, run = shared
    (row, *_) = worlds.by_arm(run)["half-3"]
    tries = [json.loads(line) for line in run.tries.path.read_text().splitlines()]
    requests = {(texts, seed) for texts, _, seed in of_tests(chat) if texts[-1] == row.problem}
    unaided = without_memory(row.problem, 3)
    assert len(unaided) == 2
    single = sampling_seed(0, row.problem)
    for number in range(3):
        seed = sampling_seed(single, row.problem, number)
        shown = [texts[1] for texts, drawn in requests if drawn == seed and len(texts) == 3]
        assert shown == [row.memory]  # by the vote with memory, letter by letter the same
        assert len([one for one in tries if (one["id"], one["number"]) == (row.id, number)]) == 2
    expected = sum(20 * (2 if number in unaided else 3) for number in range(3))
    assert row.tokens_in == expected


def test_an_arm_costs_what_its_tries_took_whoever_made_them(shared):
    arms = worlds.by_arm(shared[1])
    assert {row.tokens_in for row in arms["vote-3"]} == {3 * 40}
    assert {row.tokens_in for row in arms["vote-3+memory"]} == {3 * 60}
    assert {(row.attempts, row.tokens_in) for row in arms["gated-3"]} == {(2, 80), (3, 140)}


def test_tries_hold_answers_and_no_texts(shared):
    run = shared[1]
    lines = run.tries.path.read_text()
    assert "Someone" not in lines
    assert "so " not in lines
    for entry in map(json.loads, lines.splitlines()):
        assert re.fullmatch(r"\d+", entry["answer"])
        assert entry["reply_length"] == len(f"so \\boxed{{{entry['answer']}}}")
    assert "/try_texts.jsonl" in (run.out / ".gitignore").read_text()


@pytest.fixture(scope="module")
def cut(folder):
    """A run in which the model was away for every request with a memory among several attempts."""
    away = []

    def without_lessons(messages, seed):
        single = sampling_seed(0, messages[-1].text)
        if worlds.is_solving(messages) and len(messages) == 3 and seed != single:
            away.append(messages)
            return ConnectionError("gone")
        return wavering(messages, seed)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calls, "WAIT", wait_none())
        return worlds.carry_out(settings(folder), folder / "cut", worlds.seeded(without_lessons)), away


def test_a_try_that_fails_is_begun_three_times_and_fails_the_row_while_the_others_are_kept(cut):
    run, away = cut
    arms = worlds.by_arm(run)
    assert all(row.error is None for row in arms["vote-3"])
    assert all(row.error and "ConnectionError: gone" in row.error for row in arms["half-3"])
    assert [row.error is None for row in arms["gated-3"]] == [int(row.reference) % 4 == 0 for row in arms["gated-3"]]
    per_problem = Counter(messages[-1].text for messages in away)
    # three tries of the vote with memory, one of half, and one of gated where it needs it; each begun three times
    assert set(per_problem.values()) == {3 * (3 + 1), 3 * (3 + 1 + 1)}


@pytest.mark.parametrize("texts", [True, False])
def test_a_resume_makes_the_tries_that_are_missing_and_no_other(texts, cut, shared, folder, tmp_path):
    made = len(cut[0].tries.path.read_text().splitlines())
    copied = shutil.copytree(cut[0].out, tmp_path / "cut")
    if not texts:
        (copied / "try_texts.jsonl").unlink()
        (copied / "texts.jsonl").unlink()
    chat = worlds.seeded(wavering)
    again = worlds.carry_out(settings(folder), copied, chat)
    assert (made, len(of_tests(chat))) == (18, 18)
    assert all(len(messages) == 3 for messages, *_ in of_tests(chat))
    if texts:
        assert figures(again.results.rows) == figures(shared[1].results.rows)
    kept = {(row.key, row.right, row.attempts, row.tokens_out, row.reply_length) for row in again.results.rows}
    assert kept == {
        (row.key, row.right, row.attempts, row.tokens_out, row.reply_length) for row in shared[1].results.rows
    }


@pytest.fixture(scope="module")
def exemplary(tmp_path_factory):
    """The gate with lessons and with an example, on problems that are no copies of each other."""
    folder, chat = tmp_path_factory.mktemp("exemplary"), worlds.seeded(wavering)
    sets = {
        name: worlds.unlike_problems(folder / name, 8, start=start) for name, start in (("train", 0), ("test", 100))
    }
    arms = ("vote", "gated", "gated+examples", "examples")
    return chat, worlds.carry_out(settings(folder, arms=arms, **sets), folder / "out", chat)


def test_the_gate_shows_an_example_where_the_first_tries_disagree_and_shares_them_with_the_vote(exemplary):
    chat, run = exemplary
    arms = worlds.by_arm(run)
    nearest = {row.id: row for row in arms["examples"]}
    for gated, with_example in zip(arms["gated-3"], arms["gated-3+examples"], strict=True):
        agreed = int(with_example.reference) % 4 == 0
        assert with_example.attempts == gated.attempts == (2 if agreed else 3)
        assert with_example.memory == ("" if agreed else nearest[with_example.id].memory)
        assert with_example.shown == (() if agreed else nearest[with_example.id].shown)
        assert agreed or with_example.memory.startswith("user: Someone has")
    disagreed = sum(row.attempts == 3 for row in arms["gated-3+examples"])
    asked = Counter(of_tests(chat))
    assert set(asked.values()) == {1}
    assert len(asked) == 6 * (3 + 1) + 2 * disagreed  # the votes, a single example, and a third try of each gate


def test_a_floor_holds_for_lessons_and_for_examples_and_for_what_the_gate_shows(exemplary, tmp_path):
    above = {row.id: max(row.scores) for row in worlds.by_arm(exemplary[1])["examples"]}
    floor = sorted(above.values())[3]
    sets = {"train": exemplary[1].config.train, "test": exemplary[1].config.test}
    arms = ("baseline", "memory", "vote", "gated", "gated+examples", "examples")
    run = worlds.carry_out(
        settings(tmp_path, arms=arms, min_score=floor, **sets), tmp_path / "out", worlds.seeded(wavering)
    )
    for rows in worlds.by_arm(run).values():
        assert all(score >= floor for row in rows for score in row.scores)
    shown = {row.id: bool(row.shown) for row in worlds.by_arm(run)["examples"]}
    assert shown == {name: score >= floor for name, score in above.items()}
    assert set(shown.values()) == {True, False}


def test_many_at_once_make_no_try_twice(tmp_path):
    chat = worlds.seeded(wavering)
    worlds.carry_out(settings(tmp_path, concurrency=6), tmp_path / "out", chat)
    assert set(Counter(of_tests(chat)).values()) == {1}


def test_the_threshold_of_agreement_is_a_setting_of_the_run(tmp_path):
    chat = worlds.seeded(wavering)
    run = worlds.carry_out(settings(tmp_path, arms=("gated",), agreement=0.5), tmp_path / "out", chat)
    assert {row.attempts for row in worlds.by_arm(run)["gated-3"]} == {2, 3}  # two different answers are no agreement
    saved = json.loads((run.out / "config.json").read_text())
    (run.out / "config.json").write_text(json.dumps({k: v for k, v in saved.items() if k != "agreement"}))
    with pytest.raises(Exception, match=r"agreement \(None there, 0.5 here\)"):
        worlds.carry_out(settings(tmp_path, arms=("gated",), agreement=0.5), tmp_path / "out", chat)


@pytest.mark.parametrize(
    ("reply", "kept", "read"),
    [
        ("so \\boxed{7}", ("7", True), "\\boxed{7}"),
        ("7", ("7", False), "7"),
        ("", ("", False), ""),
        ("Someone has some apples. " * 9, ("", False), ""),
        ("\\boxed{" + "apples " * 30 + "}", ("", True), ""),
    ],
)
def test_of_a_reply_its_short_answer_is_kept(reply, kept, read):
    assert answer_of(reply) == kept
    answer, marked = kept
    made = Try(id="p", seed=0, number=0, request="r", answer=answer, marked=marked, right=True, reply_length=9)
    assert made.text == read
    assert made.model_copy(update={"reply": reply}).text == (reply or read)


def test_a_folder_of_an_earlier_version_keeps_its_texts_to_itself_too(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".gitignore").write_text("/texts.jsonl\n")
    worlds.carry_out(settings(tmp_path, arms=("vote",), limit=1), tmp_path / "out")
    assert "/try_texts.jsonl" in (tmp_path / "out" / ".gitignore").read_text().splitlines()

"""From what is shown to a graded row; of several attempts a majority selects, and each is made once and kept."""

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from langchain_core.messages import AIMessage

from reasoningbank_langgraph.chat.models import sampling_seed
from reasoningbank_langgraph.experiments.arms import Arm
from reasoningbank_langgraph.experiments.memories import ShownMemory, guard
from reasoningbank_langgraph.experiments.solving import (
    Job,
    Solution,
    prompt_of,
    solve_and_grade,
    solve_once,
    solve_several_times,
)
from reasoningbank_langgraph.experiments.tries import Tries, Try, TryKey
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.prompts import prompt_hash
from reasoningbank_langgraph.records import RetrievedMemory

from . import worlds
from .fake_rows import LESSON, config

PROBLEM = Problem("p0", "What is 2 + 3?", "5")
SHOWN = guard(PROBLEM, [RetrievedMemory(item=LESSON, score=0.7)])
DROPPED = SHOWN._replace(dropped=("m9",))
KEY = TryKey("p0", 0, 1, "r")


def a_try(key=KEY, reply="so \\boxed{5}", **more):
    figures = {"right": True, "reply_length": len(reply), "tokens_in": 7, "tokens_out": 3, "seconds": 1.5}
    return Try(**{**key._asdict(), **figures, "answer": "5", "reply": reply, **more})


def test_a_try_is_made_once_and_read_again_with_its_text_or_without(tmp_path):
    tries, made = Tries(tmp_path), a_try()
    assert tries.take(KEY, lambda: made) is tries.take(KEY, lambda: pytest.fail("made twice")) is made
    assert Tries(tmp_path).take(KEY, lambda: pytest.fail("made again")) == made
    assert "so" not in tries.path.read_text()
    tries.texts.unlink()
    read = Tries(tmp_path).take(KEY, lambda: pytest.fail("made again"))
    assert (read.reply, read.text, read.right, read.reply_length) == ("", "\\boxed{5}", True, 12)


def test_tries_are_told_apart_by_all_that_names_them_and_one_that_fails_is_made_again(tmp_path):
    tries = Tries(tmp_path)
    keys = [KEY, *(KEY._replace(**{name: value}) for name, value in (("id", "p1"), ("seed", 1), ("number", 2)))]
    for key in (*keys, KEY._replace(request="s")):
        with pytest.raises(TimeoutError):
            tries.take(key, lambda: exec("raise TimeoutError"))
        assert tries.take(key, lambda key=key: a_try(key)).key == key
    assert len(tries.path.read_text().splitlines()) == 5


def test_a_text_without_its_try_is_that_of_no_try(tmp_path):
    tries = Tries(tmp_path)
    tries.texts.write_text(json.dumps({"request": "r", "reply": "killed"}) + "\n")
    Tries(tmp_path).take(KEY, a_try)
    assert Tries(tmp_path).take(KEY, lambda: pytest.fail("made again")).reply == "so \\boxed{5}"


def test_of_several_that_want_a_try_one_makes_it_and_others_are_made_meanwhile(tmp_path):
    tries, together, made = Tries(tmp_path), Barrier(2, timeout=30), []

    def make(key):
        made.append(key)
        together.wait()  # until the other key is being made as well
        return a_try(key)

    keys = [KEY, KEY, KEY._replace(number=2), KEY._replace(number=2)]
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda key: tries.take(key, lambda: make(key)), keys))
    assert [one.key for one in taken] == keys
    assert len(made) == 2


def graded(solve, arm="memory", **more):
    return solve_and_grade(Job(Arm(arm, "retrieved"), 4, 2, PROBLEM), DROPPED, solve, **more)


def test_a_row_tells_what_was_asked_shown_and_answered():
    row = graded(lambda problem, shown, seed: Solution(f"{problem.text} {seed}: \\boxed{{5}}"), bank=9)
    assert (row.arm, row.seed, row.id, row.position, row.bank) == ("memory", 4, "p0", 2, 9)
    assert (row.problem, row.reference, row.answer, row.right) == (PROBLEM.text, "5", "5", True)
    assert (row.reply, row.attempts, row.pass_at_k, row.error) == ("What is 2 + 3? 4: \\boxed{5}", 1, None, None)
    assert (row.memory, row.dropped, row.shown, row.scores) == (SHOWN.text, ("m9",), (LESSON.id,), (0.7,))
    assert row.prompt_hash == prompt_hash(*(text for _, text in prompt_of(PROBLEM, SHOWN)))
    assert not graded(lambda *_: Solution("so \\boxed{6}")).right


def test_a_row_that_failed_has_no_answer_and_was_shown_what_the_others_were():
    row = graded(lambda *_: exec("raise ValueError('no')"))
    assert (row.error, row.right, row.answer, row.reply, row.tokens_out) == ("ValueError: no", False, "", "", 0)
    assert (row.memory, row.attempts, row.pass_at_k) == (SHOWN.text, 1, None)


def test_an_arm_that_needed_no_memory_is_a_row_without_one():
    row = graded(lambda *_: Solution("5", aided=False))
    assert (row.memory, row.shown, row.dropped, row.scores) == ("", (), (), ())
    assert row.prompt_hash == prompt_hash(*(text for _, text in prompt_of(PROBLEM, ShownMemory())))


def test_a_row_of_tries_costs_what_they_took_and_is_graded_as_the_selected_one():
    tries = [a_try(tokens_in=70), a_try(KEY._replace(number=2), "so \\boxed{6}", right=False, answer="6")]
    row = graded(lambda *_: Solution("so \\boxed{6}", 2, pass_at_k=True, tries=tries, selected=tries[1]))
    assert (row.tokens_in, row.tokens_out, row.seconds, row.attempts) == (77, 6, 3.0, 2)
    assert (row.right, row.pass_at_k, row.answer, row.reply) == (False, True, "6", "so \\boxed{6}")
    bare = tries[0].model_copy(update={"reply": ""})
    row = graded(lambda *_: Solution(bare.text, 2, tries=tries, selected=bare))
    assert (row.right, row.answer, row.reply, row.reply_length) == (True, "5", "", 12)


def test_one_attempt_is_sent_the_memory_and_the_rules_of_its_arm_with_the_seed_of_the_problem():
    chat = worlds.seeded(lambda *_: AIMessage("so \\boxed{5}"))
    solve = solve_once(chat, config(temperature=0.4, max_tokens=77), Arm("long", more="Be long."))
    assert solve(PROBLEM, SHOWN, 4).reply == "so \\boxed{5}"
    ((messages, sampled),) = chat.sampled
    assert [message.text for message in messages] == [text for _, text in prompt_of(PROBLEM, SHOWN, "Be long.")]
    assert (len(messages), messages[1].text, messages[0].text.endswith(" Be long.")) == (3, SHOWN.prompt, True)
    assert sampled == {"seed": sampling_seed(4, PROBLEM.text), "temperature": 0.4, "max_tokens": 77}


def outvoted(_, seed):
    """The first attempt is right, and two others agree on a wrong answer."""
    first = seed == sampling_seed(sampling_seed(4, PROBLEM.text), PROBLEM.text, 0)
    return AIMessage(f"so \\boxed{{{5 if first else 7}}}", usage_metadata=worlds.usage(20, 5))


def test_of_several_attempts_the_majority_is_the_answer_and_what_was_asked_before_is_not_asked_again(tmp_path):
    chat, arm, tries = worlds.seeded(outvoted), Arm("vote-3+memory", "retrieved", 3), Tries(tmp_path)
    found = solve_several_times(chat, config(), arm, tries)(PROBLEM, SHOWN, 4)
    assert (found.reply, found.attempts, found.pass_at_k, found.aided) == ("so \\boxed{7}", 3, True, True)
    assert (found.selected.answer, found.selected.right) == ("7", False)
    assert [one.right for one in sorted(found.tries, key=lambda one: one.number)] == [True, False, False]
    assert {(one.tokens_in, one.tokens_out, one.memory) for one in found.tries} == {(20, 5, prompt_hash(SHOWN.text))}
    again = solve_several_times(worlds.model(lambda _: pytest.fail("asked")), config(), arm, tries)(PROBLEM, SHOWN, 4)
    assert again == found
    for changed, seed in ((config(max_tokens=9), 4), (config(temperature=0.3), 4), (config(), 5)):
        asked = len(chat.sampled)
        solve_several_times(chat, changed, arm, tries)(PROBLEM, SHOWN, seed)
        assert len(chat.sampled) > asked


@pytest.mark.parametrize("right", [True, False])
def test_checks_one_after_the_other_are_counted_and_kept_nowhere(right, tmp_path):
    chat, tries = worlds.seeded(lambda *_: AIMessage(f"so \\boxed{{{5 if right else 6}}}")), Tries(tmp_path)
    arm = Arm("checked-3", attempts=3, mode="sequential", fixed_k=True)
    found = solve_several_times(chat, config(), arm, tries)(PROBLEM, ShownMemory(), 4)
    assert (found.attempts, found.pass_at_k, found.tries, found.selected) == (3, right, [], None)
    assert (len(chat.sampled), tries.path.exists()) == (3, False)

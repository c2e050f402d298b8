"""An adapter is used only if it is better than its base, and than what is in use."""

import json
import random

import pytest

from reasoningbank_langgraph.errors import ProblemFileError, TrialError
from reasoningbank_langgraph.local.adapters import HISTORY, read_history
from reasoningbank_langgraph.records import task_key
from reasoningbank_langgraph.train.adapters import accept, decisions, rollback
from reasoningbank_langgraph.train.rows import read_rows
from tests.train.adapted import ALL, adapter_in, problem, problems_in, sha256_of, states, used


def test_an_adapter_that_is_better_than_its_base_is_used_from_then_on(adapters, validation, served):
    servers = served(base={0, 1, 2, 3}, sums=ALL - {0})
    sums = adapter_in(adapters, "sums")
    assert used(adapters) is None
    seen = []
    decision = accept(sums, validation, progress=seen.append)
    (against,) = decision.trial.comparisons
    assert (against.rival, against.right, against.rival_right) == ("", 19, 4)
    assert (against.problems, against.fixed, against.broken) == (20, 16, 1)
    assert against.p == pytest.approx(2 * 18 / 2**17)
    assert (decision.outcome, decision.adapter, decision.sha256) == ("accepted", "sums", sha256_of("sums"))
    assert read_history(adapters) == [decision]
    assert used(adapters) == "sums"
    assert (seen[-1].done, seen[-1].total, len(servers.asked)) == (40, 40, 40)


@pytest.mark.parametrize("right", [{0, 1, 2, 3, 4, 5, 6, 7, 8}, {0, 1, 2, 3}, set()])
def test_an_adapter_that_chance_may_explain_or_that_is_worse_is_kept_and_not_used(adapters, validation, served, right):
    served(base={0, 1, 2, 3}, sums=right)
    sums = adapter_in(adapters, "sums")
    assert accept(sums, validation).outcome == "not better"
    assert used(adapters) is None
    assert states(adapters) == {"sums": "not better"}
    assert (sums / "sums.gguf").exists()


def test_the_threshold_is_a_setting(adapters, validation, served):
    served(base=set(), sums={0, 1, 2, 3, 4})
    sums = adapter_in(adapters, "sums")
    assert accept(sums, validation).outcome == "not better"
    assert accept(sums, validation, alpha=0.1).outcome == "accepted"


def test_a_newcomer_has_to_beat_what_is_in_use_too_and_what_is_known_is_not_asked_again(adapters, validation, served):
    servers = served(base=set(), sums=set(range(10)), best=set(range(18)), like=set(range(11)))
    assert accept(adapter_in(adapters, "sums"), validation).outcome == "accepted"
    servers.asked.clear()
    decision = accept(adapter_in(adapters, "like"), validation)
    assert decision.outcome == "not better"
    assert [(one.rival, one.fixed, one.broken) for one in decision.trial.comparisons] == [("", 11, 0), ("sums", 1, 0)]
    assert {weights for weights, _ in servers.asked} == {"like"}
    assert accept(adapter_in(adapters, "best"), validation).outcome == "accepted"
    assert states(adapters) == {"sums": "accepted earlier", "like": "not better", "best": "in use"}


def test_other_problems_are_asked_of_what_is_in_use_too(adapters, validation, served, tmp_path):
    servers = served(base=set(), sums=ALL, more=set(range(40)))
    accept(adapter_in(adapters, "sums"), validation)
    servers.asked.clear()
    decision = accept(adapter_in(adapters, "more"), problems_in(tmp_path / "others.jsonl", range(20, 40)))
    assert decision.outcome == "accepted"
    assert sorted(servers.asked) == [
        (weights, number) for weights in ("base", "more", "sums") for number in range(20, 40)
    ]


def test_the_adapter_in_use_is_not_tried_against_itself(adapters, validation, served):
    servers = served(base=set(), sums=ALL)
    sums = adapter_in(adapters, "sums")
    decision = accept(sums, validation)
    servers.asked.clear()
    assert accept(sums, validation) == decision
    assert read_history(adapters) == [decision]
    assert servers.asked == []


def test_a_trial_on_further_problems_counts_all_so_far_at_half_the_level(adapters, validation, served, tmp_path):
    served(base=set(), sums={0, 1, 2, 3, 20, 21})
    sums, others = adapter_in(adapters, "sums"), problems_in(tmp_path / "others.jsonl", range(20, 40))
    assert accept(sums, validation).outcome == "not better"
    for file, problems, level in ((others, 40, 0.025), (others, 40, 0.025), (validation, 40, 0.025)):
        decision = accept(sums, file)
        assert decision.outcome == "not better"
        assert (decision.trial.comparisons[0].problems, decision.trial.level) == (problems, level)
        assert decision.trial.comparisons[0].p == 2 / 2**6


def test_a_trial_with_another_token_limit_is_another_one_at_half_the_level(adapters, validation, served):
    served(base=set(), sums={0, 1, 2, 3, 4})
    sums = adapter_in(adapters, "sums")
    levels = [accept(sums, validation, max_tokens=tokens).trial.level for tokens in (512, 256, 512, 128)]
    assert levels == [0.05, 0.025, 0.025, 0.0125]


def test_a_problem_whose_answer_was_corrected_is_graded_anew_for_all(adapters, validation, served):
    servers = served(base=set(), sums={0, 1, 2, 3, 4, 5}, more={0, 1, 2, 3, 4, 5})
    sums = adapter_in(adapters, "sums")
    mistaken = {**problem(5), "answer": "17"}
    lines = validation.read_text().splitlines()
    validation.write_text("\n".join([*lines[:5], json.dumps(mistaken), *lines[6:]]))
    assert accept(sums, validation).outcome == "not better"
    validation.write_text("\n".join(lines))
    servers.asked.clear()
    trial = accept(sums, validation).trial
    assert sorted(servers.asked) == [("base", 5), ("sums", 5)]
    assert (trial.comparisons[0].problems, trial.comparisons[0].right, trial.level) == (20, 6, 0.025)


def unlike(number):
    """A problem with words of its own."""
    draw = random.Random(number)
    words = ["".join(draw.choices("abdegiklmnoprstu", k=6)) for _ in range(12)]
    return {"problem": f"Problem {number}: {' '.join(words)}?", "answer": str(number)}


def test_what_an_earlier_trial_asked_counts_no_longer_once_the_data_is_seen_to_hold_it(adapters, tmp_path, served):
    served(base=set(), sums=ALL)
    data, asked = tmp_path / "data.jsonl", tmp_path / "asked.jsonl"
    asked.write_text("".join(f"{json.dumps(unlike(number))}\n" for number in range(20)))
    told = [[unlike(number)["problem"].replace("?", "!"), f"It is {number}."] for number in range(10)]
    roles = ("user", "assistant")
    rows = [
        {"messages": [{"role": role, "content": text} for role, text in zip(roles, pair, strict=True)]} for pair in told
    ]
    data.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    sums = adapter_in(adapters, "sums", data=data, data_sha256=read_rows(data).sha256)
    data.rename(tmp_path / "elsewhere")
    assert "cannot be read" in accept(sums, asked).trial.unchecked
    rollback(adapters)
    (tmp_path / "elsewhere").rename(data)
    trial = accept(sums, asked).trial
    assert (trial.left_out, trial.comparisons[0].problems, trial.level) == ({"near copy": 10}, 10, 0.025)


def test_a_trial_that_ended_before_it_was_decided_is_decided_without_asking_again(
    adapters, validation, served, monkeypatch
):
    def fail(*_):
        raise OSError("the disk is full")

    servers = served(base=set(), sums=ALL)
    sums = adapter_in(adapters, "sums")
    with monkeypatch.context() as patch:
        patch.setattr(decisions, "append_line", fail)
        with pytest.raises(OSError, match="disk is full"):
            accept(sums, validation)
    assert used(adapters) is None
    servers.asked.clear()
    assert accept(sums, validation).outcome == "accepted"
    assert servers.asked == []


def test_solutions_that_failed_decide_nothing_and_are_made_by_the_next_call(adapters, validation, served):
    servers = served(base=set(), sums=ALL)
    servers.before = lambda weights, number: (
        RuntimeError("no memory left") if (weights, number) == ("sums", 7) else None
    )
    sums = adapter_in(adapters, "sums")
    with pytest.raises(TrialError, match=r"1 of 40 solutions failed \(p7: .*no memory left.*\): run the same command"):
        accept(sums, validation)
    assert read_history(adapters) == []
    servers.asked.clear()
    servers.before = lambda weights, number: None
    assert accept(sums, validation).outcome == "accepted"
    assert servers.asked == [("sums", 7)]


def test_no_text_of_a_problem_or_of_an_answer_is_kept(adapters, validation, served):
    served(base=set(), sums=ALL)
    sums = adapter_in(adapters, "sums")
    accept(sums, validation)
    rows = (sums / "trial.jsonl").read_text() + (adapters / HISTORY).read_text()
    assert "how many" not in rows
    assert "boxed" not in rows
    assert set(json.loads(rows.splitlines()[0])) == {"weights", "task", "asked", "graded", "id", "right", "tokens"}


def test_problems_that_cannot_decide_are_refused_before_anything_is_asked(adapters, served, tmp_path):
    servers = served(base=set(), sums=ALL)
    sums = adapter_in(adapters, "sums", tasks=[task_key(problem(number)["problem"]) for number in range(20, 30)])
    few = problems_in(tmp_path / "few.jsonl", range(5))
    known = problems_in(tmp_path / "known.jsonl", range(20, 30))
    (tmp_path / "open.jsonl").write_text('{"problem": "How high is the sky?"}')
    for file, kind, reason in (
        (few, TrialError, "5 problems can show nothing at a level of 0.05: 6 or more are needed"),
        (known, TrialError, "sums knows every problem of .*known.jsonl from its data"),
        (tmp_path / "open.jsonl", TrialError, "'line-1-.*' of .* has no answer: a trial grades by known answers"),
        (tmp_path / "none.jsonl", ProblemFileError, "none.jsonl"),
    ):
        with pytest.raises(kind, match=reason):
            accept(sums, file)
    with pytest.raises(ValueError, match="alpha must be between 0 and 1, got 5"):
        accept(sums, few, alpha=5)
    assert servers.asked == []

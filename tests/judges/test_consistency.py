"""A judge that solves the task again: it decides by agreement, or says that there is none."""

import pytest
from langchain_core.messages import AIMessage

from reasoningbank_langgraph import Attempt, EnsembleJudge, ReferenceJudge, SelfConsistencyJudge
from reasoningbank_langgraph.judges.consistency import TEMPERATURE
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.loop_fakes import Capped, Sampling, Tracer

ATTEMPT = Attempt(task="1 / 2 + 1 / 4", messages=[("ai", "so 3/4")], answer="\\boxed{\\frac{3}{4}}", reference="0.5")


def answers(*values):
    return ScriptedChatModel([value if isinstance(value, Exception) else f"so \\boxed{{{value}}}" for value in values])


@pytest.mark.parametrize(
    ("replies", "status", "confidence", "asked"),
    [
        (["0.75", "3/4", "\\frac{3}{4}"], "success", 1.0, 3),
        (["0.75", "1", "3/4", "2", "75\\%"], "success", 0.6, 5),
        (["1", "1.0", "0.75", "\\frac{2}{2}"], "failure", 0.75, 4),
        (["1", "2", "3", "4"], "indeterminate", None, 4),
        (["0.75", "0.75", ConnectionError("gone"), "1", "1"], "indeterminate", None, 5),
        ([ConnectionError("gone"), "0.75", "0.75", "0.75"], "success", 0.75, 4),
    ],
)
def test_a_verdict_needs_a_share_of_equal_answers_and_no_more_calls_than_decide(replies, status, confidence, asked):
    model = answers(*replies)
    verdict = SelfConsistencyJudge(model, 5, 0.6)(ATTEMPT)
    assert (verdict.status, verdict.confidence, len(model.calls)) == (status, confidence, asked)
    assert verdict.reason == ("no_evidence" if status == "indeterminate" else None)


@pytest.mark.parametrize(
    ("replies", "status", "confidence", "told"),
    [
        (
            ["0.75", "1", "3/4", "2", "75\\%"],
            "success",
            0.6,
            "3 of 5 new solutions agree with the answer, 1 on another",
        ),
        (["1", "1.0", "0.75", "\\frac{2}{2}", "3"], "failure", 0.6, "1 of 5 new solutions agree with the answer, 3 on"),
        (["0.75", "3/4", "", "1", "1"], "indeterminate", None, "2 of 5 new solutions agree with the answer, 2 on"),
    ],
)
async def test_it_decides_the_same_asynchronously_and_says_how_many_agreed(replies, status, confidence, told):
    verdict = await SelfConsistencyJudge(answers(*replies), 5, 0.6).ainvoke(ATTEMPT)
    assert (verdict.status, verdict.confidence, verdict.judge) == (status, confidence, "self-consistency")
    assert verdict.rationale.startswith(told)


async def test_an_outage_of_all_calls_is_no_verdict():
    for verdict in (
        SelfConsistencyJudge(ScriptedChatModel(lambda _: ConnectionError("gone")), 3)(ATTEMPT),
        await SelfConsistencyJudge(ScriptedChatModel(lambda _: ConnectionError("gone")), 3).ainvoke(ATTEMPT),
    ):
        assert (verdict.status, verdict.reason) == ("indeterminate", "error")
        assert "gone" in verdict.rationale
        assert verdict.judge == "self-consistency"


async def test_a_model_that_is_too_slow_is_an_outage_that_names_the_limit():
    judge = SelfConsistencyJudge(ScriptedChatModel(lambda _: "\\boxed{0.75}", delay=0.3), 1, time_limit=0.01)
    for verdict in (judge(ATTEMPT), await judge.ainvoke(ATTEMPT)):
        assert (verdict.status, verdict.reason) == ("indeterminate", "error")
        assert verdict.rationale.startswith("ModelTimeoutError: self-consistency: no answer within 0.01 s")


async def test_an_attempt_without_an_answer_costs_no_call():
    model = answers()
    unanswered = Attempt(task="t", answer="so \\boxed{")
    every, one = SelfConsistencyJudge(model), SelfConsistencyJudge(model, 1, 1.0)
    for verdict in (every(unanswered), await every.ainvoke(unanswered), one(unanswered)):
        assert (verdict.status, verdict.reason, model.calls) == ("indeterminate", "no_evidence", [])
        assert verdict.rationale == "the attempt has no final answer"


@pytest.mark.parametrize("reply", ["", "so \\boxed{"])
def test_one_sample_that_answers_nothing_says_nothing_against_the_attempt(reply):
    verdict = SelfConsistencyJudge(ScriptedChatModel([reply]), 1, 1.0)(ATTEMPT)
    assert (verdict.status, verdict.reason) == ("indeterminate", "no_evidence")


async def test_samples_are_drawn_warm_and_no_two_of_one_or_two_tasks_share_a_seed():
    model = Sampling(lambda _: "so \\boxed{1}", bound=[])
    judge = SelfConsistencyJudge(model, 3, 1.0)
    for task in ("1 / 2 + 1 / 4", "another", "another"):
        judge(Attempt(task=task, answer="\\boxed{1}"))
    await judge.ainvoke(Attempt(task="another", answer="\\boxed{1}"))
    assert {told["temperature"] for told in model.bound} == {TEMPERATURE}
    bound = [told["seed"] for told in model.bound]
    first, second, again, awaited = (bound[start : start + 3] for start in (0, 3, 6, 9))
    assert second == again
    assert set(second) == set(awaited)
    assert len({*first, *second}) == 6


@pytest.mark.parametrize(("options", "cap"), [({}, 700), ({"max_tokens": 50}, 50)])
async def test_solutions_are_capped(options, cap):
    model = Capped(lambda _: "so \\boxed{1}", caps=[])
    judge = SelfConsistencyJudge(model, 1, **options)
    judge(ATTEMPT)
    await judge.ainvoke(ATTEMPT)
    assert model.caps == [cap, cap]


async def test_calls_are_traced_once_where_the_caller_traces():
    judge, tracer = SelfConsistencyJudge(ScriptedChatModel(lambda _: "so \\boxed{0.75}"), 1), Tracer()
    config = {"callbacks": [tracer], "tags": ["mine"]}
    judge.invoke(ATTEMPT, config)
    await judge.ainvoke(ATTEMPT, config)
    for name, tags in tracer.seen:
        assert name == "reasoningbank:self-consistency"
        assert {"mine", "reasoningbank:judge", "nostream"} <= set(tags)
    assert len(tracer.seen) == 2


def test_neither_attempt_nor_reference_is_shown():
    model = answers("1", "1", "1")
    SelfConsistencyJudge(model, 3)(ATTEMPT.model_copy(update={"reference": "secret-5"}))
    shown = "".join(message.text for call in model.calls for message in call)
    assert "secret-5" not in shown
    assert "so 3/4" not in shown
    assert "=== begin task" in shown


def test_verifiers_come_first_in_an_ensemble():
    model = answers()
    judge = EnsembleJudge([ReferenceJudge(), SelfConsistencyJudge(model)])
    assert judge(ATTEMPT).status == "failure"
    assert model.calls == []


@pytest.mark.parametrize("settings", [{"n": 0}, {"threshold": 0.5}, {"threshold": 1.1}])
def test_settings_that_decide_nothing_are_refused(settings):
    with pytest.raises(ValueError, match="must be"):
        SelfConsistencyJudge(answers(), **settings)


CUT = {"finish_reason": "length"}


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (AIMessage("I'm sorry, but I can't help with that."), "indeterminate"),
        (AIMessage(r"It is too hard. \boxed{\text{I don't know}}"), "indeterminate"),
        (AIMessage("The final answer is: I cannot determine it."), "indeterminate"),
        (AIMessage(r"I'm sorry, this took long. \boxed{0.75}"), "success"),
        (AIMessage("Let us see: 7 and", response_metadata=CUT), "indeterminate"),
        (AIMessage("", additional_kwargs={"refusal": "no"}), "indeterminate"),
        (AIMessage("so \\boxed{0.75}, and further", response_metadata=CUT), "success"),
        (AIMessage("7"), "failure"),
    ],
)
async def test_a_refusal_or_a_reply_that_breaks_off_is_no_answer_against_the_attempt(reply, status):
    judge = SelfConsistencyJudge(ScriptedChatModel(lambda _: reply), 3)
    assert judge(ATTEMPT).status == (await judge.ainvoke(ATTEMPT)).status == status

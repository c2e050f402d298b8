"""Selection: what a verifier accepts, else the majority by value, else a model that the order does not sway."""

import json
from functools import partial

import pytest

from reasoningbank_langgraph import ReferenceJudge, Verdict
from reasoningbank_langgraph.driver import drive
from reasoningbank_langgraph.errors import ModelError
from reasoningbank_langgraph.extraction import Judged
from reasoningbank_langgraph.math_answers import final_answer, same_answer
from reasoningbank_langgraph.matts.records import Failure, Rollout
from reasoningbank_langgraph.matts.scaling import Scaling
from reasoningbank_langgraph.matts.scores import score
from reasoningbank_langgraph.matts.select_node import create_select
from reasoningbank_langgraph.matts.selectors import (
    RolloutSelector,
    Selection,
    by_rank,
    chosen_by_function,
    settle,
    without_reference,
)
from reasoningbank_langgraph.matts.votes import group_answers
from reasoningbank_langgraph.state import ChannelNames
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.loop_fakes import Tracer, learner, lessons, verdict
from tests.matts_fakes import CONFIG, TASK, judged_by, matts, solving


def rollouts(*answers, statuses=(), judge="llm"):
    made = []
    for number, answer in enumerate(answers):
        status = statuses[number] if number < len(statuses) else "indeterminate"
        made.append(Rollout(number=number, answer=answer, verdict=Verdict(status=status, judge=judge, confidence=0.5)))
    return made


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1/2", "0.5", True),
        ("\\frac{1}{2}", "0.50", True),
        ("1,000", "1000", True),
        ("Paris", " paris ", True),
        ("Paris", "Rome", False),
        ("2", "3", False),
    ],
)
def test_answers_are_compared_by_value(one, other, same):
    assert same_answer(one, other) is same


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("so \\boxed{7}", "7"),
        ("The final answer is 7.", "7"),
        ("Paris", "Paris"),
        ("so \\boxed{7", None),
        ("", None),
        (None, None),
    ],
)
def test_a_reply_that_breaks_off_has_no_answer_and_one_without_a_mark_is_one(reply, answer):
    assert final_answer(reply) == answer


def test_votes_are_counted_over_equivalent_answers_and_failed_rollouts_have_none():
    made = rollouts("\\boxed{1/2}", "\\boxed{3}", "\\boxed{0.5}", "\\boxed{3", None)
    made.append(Rollout(number=5, answer="\\boxed{3}", error=Failure(type="E", message="")))
    groups = group_answers(made)
    assert [[member.number for member in group.members] for group in groups] == [[0, 2], [1]]


@pytest.mark.parametrize(
    ("answers", "votes"),
    [
        (["\\boxed{4}", "4", "and so on " * 20], [[0, 1]]),
        (["and so on " * 20, "\\boxed{4}"], [[1]]),
        (["and so on " * 20, "And so on " * 20, "4"], [[0, 1], [2]]),
        (["x" * 120, "\\boxed{4}"], [[0], [1]]),
        (["x" * 121, "\\boxed{4}"], [[1]]),
    ],
)
def test_where_answers_are_marked_a_long_reply_without_a_mark_has_no_vote(answers, votes):
    groups = group_answers(rollouts(*answers))
    assert [[member.number for member in group.members] for group in groups] == votes


SUCCESS, FAILURE, UNKNOWN = "success", "failure", "indeterminate"


@pytest.mark.parametrize(
    ("answers", "statuses", "judge", "start", "number", "by"),
    [
        (["1"], [], "llm", "verifier", 0, "only"),
        (["1", "2", "2"], [SUCCESS, FAILURE, FAILURE], "tests", "verifier", 0, "verifier"),
        (["1", "2", "2"], [UNKNOWN, UNKNOWN, UNKNOWN], "llm", "verifier", 1, "majority"),
        (["1", "2", "2"], [SUCCESS, FAILURE, FAILURE], "llm", "verifier", 0, "majority"),
        (["1", "2", "2"], [SUCCESS, FAILURE, FAILURE], "tests", "majority", 0, "majority"),
        (["1", "2", "2"], [SUCCESS, FAILURE, FAILURE], "reference", "majority", 1, "majority"),
        (["1", "2", "2", "3", "3"], [UNKNOWN, FAILURE, FAILURE, UNKNOWN, UNKNOWN], "tests", "verifier", 3, "majority"),
        (["1", "1"], [FAILURE, FAILURE], "tests", "verifier", 0, "majority"),
        (["1", "2", "2", "3", "3"], [FAILURE, FAILURE, SUCCESS, UNKNOWN, UNKNOWN], "llm", "verifier", 3, "majority"),
        (["1", "2", "2"], [FAILURE, FAILURE, FAILURE], "llm", "majority", 1, "majority"),
        (["1", None, None], [], "llm", "verifier", 0, "majority"),
    ],
)
def test_a_verifier_comes_before_the_majority(answers, statuses, judge, start, number, by):
    made = without_reference(start, rollouts(*answers, statuses=statuses, judge=judge))
    choice = settle(made, start, frozenset(["tests"]))
    assert isinstance(choice, Selection)
    assert (choice.number, choice.by) == (number, by)


NO = "I'm sorry, I can't help with that."
SHRUG = "\\boxed{\\text{I don't know}}"


@pytest.mark.parametrize("start", ["verifier", "majority"])
@pytest.mark.parametrize(
    ("answers", "statuses"),
    [
        ([NO, NO, "\\boxed{4}"], []),
        ([NO, NO, "4"], [SUCCESS, SUCCESS, FAILURE]),
        ([SHRUG, SHRUG, "\\boxed{4}"], []),
        (["I cannot solve this problem."] * 2 + ["4"], []),
        (["Final answer:", "\\boxed{}", "4"], []),
        (["\\boxed{5", "\\boxed{5", "4"], []),
        (["5", "5", "4"], [FAILURE, FAILURE, UNKNOWN]),
        ([NO, "5", "4"], [SUCCESS, FAILURE, SUCCESS]),
    ],
)
def test_what_is_no_answer_or_judged_wrong_has_no_vote_where_another_has_one(answers, statuses, start):
    choice = settle(rollouts(*answers, statuses=statuses), start, frozenset(["tests"]))
    assert isinstance(choice, Selection)
    assert (choice.number, choice.by, choice.why) == (2, "majority", "1 of 1 answers that have a vote are '4'")


@pytest.mark.parametrize("start", ["verifier", "majority", "model"])
def test_where_all_refuse_the_outcome_says_so(start):
    for answers in ((NO, SHRUG, NO, None), ("we count on and on " * 20 + SHRUG, None)):
        choice = settle(rollouts(*answers), start, frozenset())
        assert isinstance(choice, Selection)
        assert (choice.number, choice.by) == (0, "first")
        assert choice.why == "no rollout gives an answer: those that say anything refuse; it is the first"


def test_the_only_rollout_is_selected_whatever_it_says():
    assert settle(rollouts(NO), "verifier", frozenset()) == (0, "only", "no other rollout came to an end")


def test_refusals_that_a_judge_takes_for_right_are_voted_on_among_themselves():
    groups = group_answers(rollouts(NO, NO, SHRUG, statuses=[SUCCESS, SUCCESS, FAILURE]))
    assert [[member.number for member in group.members] for group in groups] == [[0, 1]]


def test_a_model_is_shown_no_answer_that_has_no_vote():
    made = rollouts(NO, "4", "5", "6", statuses=[SUCCESS, SUCCESS, FAILURE, UNKNOWN])
    assert [rollout.number for rollout in settle(made, "model", frozenset())] == [1, 3]


def test_two_refusals_do_not_outvote_the_only_answer_nor_end_the_rollouts():
    result = matts(solving(NO, NO, "4"), k=3, model=None, learn=False, select="majority", stop_after=1).invoke(
        TASK, CONFIG
    )
    assert (result["answer"], result["selection"]["by"]) == ("4", "majority")
    assert result["selection"]["votes"] == [{"answer": "4", "rollouts": [2]}]


def test_the_majority_that_is_scored_owes_the_reference_nothing():
    made = rollouts("\\boxed{4}", "\\boxed{5}", "\\boxed{5}", statuses=[SUCCESS, FAILURE, FAILURE], judge="reference")
    assert score(made, frozenset([0]), 0)["majority_at_k"] is False


@pytest.mark.parametrize(
    ("answers", "start", "numbers"),
    [
        (["1", "2"], "verifier", [0, 1]),
        (["1", "2", "1", "2", "3"], "majority", [0, 1]),
        (["1", "1", "2"], "model", [0, 2]),
        ([None, None], "verifier", [0, 1]),
        ([str(number) for number in range(9)], "majority", [0, 1, 2, 3, 4, 5]),
    ],
)
def test_what_they_do_not_settle_is_left_to_the_model_each_answer_once(answers, start, numbers):
    pool = settle(rollouts(*answers), start, frozenset())
    assert [rollout.number for rollout in pool] == numbers


def test_the_surer_success_comes_first_then_what_is_undecided_then_failures_each_by_number():
    made = rollouts(*"abcdefg", statuses=[FAILURE, UNKNOWN, SUCCESS, UNKNOWN, SUCCESS, SUCCESS, FAILURE])
    sureness = [0.1, 0.1, 0.4, 0.9, 0.8, None, 0.9]
    verdicts = [
        rollout.verdict.model_copy(update={"confidence": sure}) for rollout, sure in zip(made, sureness, strict=True)
    ]
    ranked = [rollout.model_copy(update={"verdict": given}) for rollout, given in zip(made, verdicts, strict=True)]
    ranked.append(Rollout(number=7, answer="h"))
    assert [rollout.number for rollout in sorted(ranked, key=by_rank)] == [4, 2, 5, 1, 3, 7, 0, 6]


def test_what_a_verifier_accepted_is_told_by_name_and_number():
    made = rollouts("1", "2", "3", statuses=[SUCCESS, FAILURE, SUCCESS], judge="tests")
    choice = settle(made, "verifier", frozenset(["tests"]))
    assert choice.why == "the verifier 'tests' accepted rollouts 0, 2"


STATE = {"attempt": {"task": "t", "task_id": "t", "reference": None}}


class Down:
    """Carries no question anywhere, and keeps the config it was asked with."""

    def __init__(self):
        self.asked = []

    def run(self, dialogue, config):
        self.asked.append(config)
        return drive(dialogue, self.fail)

    async def arun(self, dialogue, config):
        return self.run(dialogue, config)

    def fail(self, request):
        raise ModelError("down")


@pytest.mark.parametrize(
    ("answers", "statuses", "start", "chosen", "asked"),
    [
        (["1", "2", "2"], [SUCCESS, FAILURE, FAILURE], "verifier", (0, "verifier", "accepted"), 0),
        (["1", "2", "2"], [SUCCESS, FAILURE, FAILURE], "majority", (1, "majority", "2 of 3"), 0),
        (["2", "2"], [], "model", (0, "first", "no answer has more votes than the others"), 0),
        (["1", "2"], [], "majority", (0, "first", "down"), 1),
    ],
)
async def test_async_code_selects_as_sync_code_does(answers, statuses, start, chosen, asked):
    made = rollouts(*answers, statuses=statuses, judge="reference")
    caller = Down()
    selector = RolloutSelector(Scaling(), caller)
    for choice in (selector.choose(STATE, made, start, CONFIG), await selector.achoose(STATE, made, start, CONFIG)):
        assert (choice.number, choice.by) == chosen[:2]
        assert chosen[2] in choice.why
    assert caller.asked == 2 * asked * [CONFIG]


async def test_without_a_model_a_tie_goes_to_the_first_in_async_code_too():
    selector = RolloutSelector(Scaling(), None)
    why = "no answer has more votes than the others; it is the first"
    assert await selector.achoose(STATE, rollouts("1", "2"), "majority", {}) == (0, "first", why)
    assert selector.choose(STATE, rollouts("1", "2"), "majority", {}) == (0, "first", why)


def test_a_function_may_choose_the_first_and_have_no_name():
    made = rollouts("1", "2")
    assert chosen_by_function(partial(lambda judged: 0), STATE, made) == (0, "function", "select")


def chooser(choose):
    """A model that judges all right, and is asked to choose among the answers shown, in their order."""

    def reply(messages):
        if "You check whether" in messages[0].text:
            return verdict()
        if "You compare several attempts at one task and name" not in messages[0].text:
            return lessons("one")
        text = messages[1].text
        shown = sorted(("4", "5", "6"), key=lambda answer: text.find(f"so it is {answer}"))
        return choose([answer for answer in shown if f"so it is {answer}" in text])

    return ScriptedChatModel(reply)


def named(place, reason="cleaner"):
    return json.dumps({"reason": reason, "best": place})


def test_a_model_chooses_where_every_answer_is_another_one_and_says_why():
    model = chooser(lambda shown: named(shown.index("5") + 1))
    result = matts(solving("4", "5", "6"), k=3, model=model).invoke(TASK, CONFIG)
    assert result["answer"] == "5"
    assert {key: result["selection"][key] for key in ("number", "by", "why", "oracle")} == {
        "number": 1,
        "by": "model",
        "why": "cleaner",
        "oracle": False,
    }


async def test_a_model_chooses_in_async_code_too():
    model = chooser(lambda shown: named(shown.index("6") + 1))
    result = await matts(solving("4", "5", "6"), k=3, model=model).ainvoke(TASK, CONFIG)
    assert (result["answer"], result["selection"]["by"]) == ("6", "model")


@pytest.mark.parametrize(
    ("choose", "why"),
    [
        (lambda shown: named(1), "order was reversed"),
        (lambda shown: named(9), "named no attempt"),
        (lambda shown: "the second one", "named no attempt"),
        (lambda shown: ConnectionError("down"), "ConnectionError"),
    ],
)
def test_a_choice_that_moves_with_the_order_or_cannot_be_read_is_none(choose, why):
    result = matts(solving("4", "5", "6"), k=3, model=chooser(choose)).invoke(TASK, CONFIG)
    assert (result["selection"]["number"], result["selection"]["by"]) == (0, "judge")
    assert why in result["selection"]["why"]


def test_without_a_model_the_judge_breaks_the_tie_and_without_a_judge_the_first_wins():
    options = {"k": 2, "model": None, "learn": False, "verifiers": ()}
    result = matts(solving("4", "5"), judge=judged_by("4", "5"), **options).invoke(TASK, CONFIG)
    assert (result["answer"], result["selection"]["by"]) == ("4", "judge")
    result = matts(solving("4", "5"), **options).invoke(TASK, CONFIG)
    assert (result["answer"], result["selection"]["by"]) == ("4", "first")


def test_selection_may_start_with_the_model():
    model = chooser(lambda shown: named(shown.index("5") + 1))
    result = matts(solving("4", "4", "5"), k=3, model=model, select="model").invoke(TASK, CONFIG)
    assert (result["answer"], result["selection"]["by"]) == ("5", "model")


@pytest.mark.parametrize("chosen", [None, 3, -1, "0"])
def test_a_function_that_chooses_no_rollout_is_named(chosen):
    def pick(rollouts):
        return chosen

    graph = matts(solving("4"), k=3, select=pick)
    with pytest.raises(ValueError, match=r"pick chose .*one of the 3 rollouts"):
        graph.invoke(TASK, CONFIG)


def test_one_verifier_may_be_named_by_its_name_alone():
    result = matts(solving("4", "5", "5"), k=3, judge=judged_by("4"), verifiers="tests").invoke(TASK, CONFIG)
    assert (result["answer"], result["selection"]["by"]) == ("4", "verifier")


@pytest.fixture(params=["invoke", "ainvoke"])
def run(request):
    """Run a graph, in sync or in async code."""

    async def result(graph, task):
        return graph.invoke(task, CONFIG) if request.param == "invoke" else await graph.ainvoke(task, CONFIG)

    return result


async def test_a_function_of_ones_own_selects(run):
    seen = []

    def shortest(group):
        seen.extend(group)
        return min(range(len(group)), key=lambda index: len(group[index].attempt.answer))

    result = await run(matts(solving("four", ValueError("boom"), "4"), k=3, select=shortest), TASK)
    assert all(isinstance(judged, Judged) for judged in seen)
    assert (result["answer"], result["selection"]["by"], result["selection"]["why"]) == ("4", "function", "shortest")


def boxed(*numbers):
    return solving(*(f"\\boxed{{{number}}}" for number in numbers))


async def test_selection_by_the_reference_is_called_an_oracle_and_all_scores_come_out_of_one_run(run):
    graph = matts(boxed(4, 5, 5), k=3, judge=ReferenceJudge())
    selection = (await run(graph, {"task": "2 + 2", "reference": "4"}))["selection"]
    assert (selection["number"], selection["by"], selection["oracle"]) == (0, "verifier", True)
    assert selection["scores"] == {
        "rollouts": 3,
        "right": 1,
        "pass_at_1": pytest.approx(1 / 3),
        "pass_at_k": True,
        "majority_at_k": False,
        "best_of_k": False,
    }


@pytest.mark.parametrize("select", ["majority", "model"])
async def test_a_selection_that_starts_without_a_verifier_owes_the_reference_nothing(run, select):
    graph = matts(boxed(5, 4), k=2, judge=ReferenceJudge(), select=select, model=learner())
    selection = (await run(graph, {"task": "2 + 2", "reference": "4"}))["selection"]
    assert (selection["number"], selection["by"], selection["oracle"]) == (0, "first", False)
    assert (selection["scores"]["pass_at_k"], selection["scores"]["best_of_k"]) == (True, False)


@pytest.mark.parametrize(("select", "calls"), [("verifier", 2), ("majority", 2), ("model", 2)])
def test_the_model_is_asked_to_choose_once_in_each_order_and_not_again_for_the_scores(select, calls):
    asked = []

    def reply(messages):
        asked.append(messages[0].text)
        return named(1) if "name the best" in messages[0].text else lessons("one")

    graph = matts(boxed(5, 4), k=2, judge=ReferenceJudge(), select=select, model=ScriptedChatModel(reply))
    graph.invoke({"task": "2 + 2", "reference": "4"}, CONFIG)
    assert sum("name the best" in text for text in asked) == calls


def test_the_model_that_chooses_has_the_time_limit_of_the_graph():
    with pytest.raises(ValueError, match="time_limit"):
        create_select(Scaling(), model=learner(), time_limit=0, names=ChannelNames())


async def test_callbacks_of_the_run_see_the_model_choose_in_each_order_with_its_purpose(run):
    tracer = Tracer()
    graph = matts(boxed(5, 4), k=2, judge=ReferenceJudge(), model=learner()).with_config(callbacks=[tracer])
    await run(graph, {"task": "2 + 2", "reference": "4"})
    assert sum("reasoningbank:select" in tags for _, tags in tracer.seen) == 2


def test_scores_need_a_reference_and_not_a_judge_that_compares():
    assert matts(boxed(4), k=2).invoke(TASK, CONFIG)["selection"]["scores"] is None
    result = matts(boxed(5, 4, 4), k=3).invoke({"task": "2 + 2", "reference": "4"}, CONFIG)
    assert result["selection"]["oracle"] is False
    assert result["selection"]["scores"]["right"] == 2
    assert result["selection"]["scores"]["best_of_k"] is True


def test_a_failed_rollout_counts_as_wrong():
    made = [*rollouts("\\boxed{4}"), Rollout(number=1, error=Failure(type="E", message="boom"))]
    assert score(made, frozenset([0]), 0)["pass_at_1"] == 0.5


@pytest.mark.parametrize(
    ("answers", "options", "run", "ended"),
    [
        (("4", "4", "4"), {}, 5, "all"),
        (("4", "4", "4"), {"stop_after": 1}, 3, "majority"),
        (("4", "5", "4"), {"stop_after": 1}, 5, "all"),
        (("4", "5", "4"), {"stop_after": 1, "max_concurrency": 1}, 4, "majority"),
        (("4", "4", "4"), {"stop_after": 1, "max_concurrency": 2}, 4, "majority"),
        (("4", "4", "4"), {"stop_after": 1, "min_attempts": 4}, 5, "all"),
        (("4", "4", "4"), {"stop_after": 1, "select": "model"}, 5, "all"),
        (("5", "4"), {"stop_after": 1, "max_concurrency": 1, "judge": judged_by("4")}, 2, "accepted"),
        (("5", "4"), {"stop_after": 2, "max_concurrency": 1, "judge": judged_by("4")}, 4, "accepted"),
        (("5", "5", "5"), {"stop_after": 1, "judge": judged_by("4")}, 5, "all"),
    ],
)
def test_rollouts_end_early_when_the_rest_cannot_change_the_selection(answers, options, run, ended):
    result = matts(solving(*answers), k=5, **options).invoke(TASK, CONFIG)
    assert result["selection"]["rollouts"] == {"run": run, "failed": 0, "skipped": 5 - run, "ended": ended}


def test_tokens_are_counted_for_every_model_call_of_a_rollout_and_those_saved_are_told():
    from langchain_core.messages import AIMessage

    def reply(messages):
        text = verdict() if "You check whether" in messages[0].text else lessons("one")
        return AIMessage(text, usage_metadata={"input_tokens": 7, "output_tokens": 3, "total_tokens": 10})

    result = matts(solving("4"), k=5, stop_after=1, model=ScriptedChatModel(reply)).invoke(TASK, CONFIG)
    assert [rollout["usage"]["total_tokens"] for rollout in result["rollouts"]] == [10, 10, 10]
    assert result["selection"]["tokens"] == {"used": 30, "saved": 20}


def test_the_selection_tells_votes_failures_and_what_was_skipped_and_an_event_tells_the_choice():
    graph = matts(solving("4", ValueError("boom"), "4", "5" * 130), k=5, stop_after=1, max_concurrency=4)
    events = list(graph.stream(TASK, CONFIG, stream_mode="custom"))
    (event,) = [one for one in events if one["event"] == "selected"]
    assert {name: event[name] for name in ("number", "by", "oracle", "count", "ids")} == {
        "number": 0,
        "by": "majority",
        "oracle": False,
        "count": 1,
        "ids": [],
    }
    selection = graph.get_state(CONFIG).values["selection"]
    assert selection["votes"] == [
        {"answer": "4", "rollouts": [0, 2, 4]},
        {"answer": "5" * 120, "rollouts": [3]},
    ]
    assert selection["rollouts"] == {"run": 5, "failed": 1, "skipped": 0, "ended": "all"}
    assert selection["tokens"] == {"used": 0, "saved": 0}


async def test_what_is_selected_leaves_the_verdict_of_its_rollout_and_nothing_of_the_others(run):
    result = await run(matts(solving("4", "5"), k=2, judge=judged_by("5")), TASK)
    assert (result["answer"], result["verdict"]["status"], result["rollout_values"]) == ("5", "success", {})
    result = await run(matts(solving("4", "5"), k=2, model=None, learn=False), {**TASK, "task": "another"})
    assert (result["answer"], result["verdict"]) == ("4", None)

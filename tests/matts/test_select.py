"""Selection: what a verifier accepts, else the majority by value, else a model that the order does not sway."""

import json

import pytest

from reasoningbank_langgraph import Verdict
from reasoningbank_langgraph.driver import drive
from reasoningbank_langgraph.errors import ModelError
from reasoningbank_langgraph.math_answers import final_answer, same_answer
from reasoningbank_langgraph.matts.records import Failure, Rollout
from reasoningbank_langgraph.matts.scaling import Scaling
from reasoningbank_langgraph.matts.scores import score
from reasoningbank_langgraph.matts.selectors import RolloutSelector, Selection, by_rank, settle, without_reference
from reasoningbank_langgraph.matts.votes import group_answers
from tests.matts_fakes import CONFIG, TASK, matts, solving


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


def named(place, reason="cleaner"):
    return json.dumps({"reason": reason, "best": place})

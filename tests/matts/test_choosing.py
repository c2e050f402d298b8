"""A function, a model or a judge chooses where votes do not settle it."""

from functools import partial

import pytest

from reasoningbank_langgraph.matts.selectors import chosen_by_function
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.loop_fakes import lessons, verdict
from tests.matts.test_select import STATE, named, rollouts
from tests.matts_fakes import CONFIG, TASK, judged_by, matts, solving


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

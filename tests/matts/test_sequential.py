"""Sequential scaling: an answer is checked again until it stands, and every note is part of the attempt."""

import json
from typing import Annotated

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from reasoningbank_langgraph import Scaling
from reasoningbank_langgraph.chat.models import sampling_seed
from reasoningbank_langgraph.errors import TooFewAttemptsError
from reasoningbank_langgraph.math_solver import create_math_solver
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.loop_fakes import Sampling, indexed_memory, lessons, verdict
from tests.matts_fakes import CONFIG, TASK, bank, matts, solving


def checking(*answers, asked=None):
    """A refiner that gives these answers one after the other; it sees the conversation."""
    replies = iter(answers)

    def refine(state):
        if asked is not None:
            asked.append([message.text for message in state["messages"]])
        answer = next(replies)
        if isinstance(answer, Exception):
            raise answer
        return {"messages": [AIMessage(f"checked: {answer}")], "answer": answer}

    return refine


def sequential(*answers, first="4", k=9, asked=None, **options):
    refiner = checking(*answers, asked=asked)
    return matts(solving(first), k=k, mode="sequential", refiner=refiner, **options)


@pytest.mark.parametrize(
    ("k", "answers", "checks", "answer"),
    [
        (1, [], 0, "4"),
        (2, ["5"], 1, "5"),
        (3, ["4", "4"], 2, "4"),
        (9, ["4", "4"], 2, "4"),
        (9, ["5", "5", "5"], 3, "5"),
        (4, ["5", "4", "5"], 3, "5"),
        (9, ["5", "4", "4.0", "4"], 4, "4"),
    ],
)
def test_the_answer_is_checked_k_minus_one_times_or_until_two_checks_in_a_row_change_nothing(
    k, answers, checks, answer
):
    result = sequential(*answers, k=k).invoke(TASK, CONFIG)
    (rollout,) = result["rollouts"]
    assert (rollout["checks"], rollout["answer"], result["answer"]) == (checks, answer, answer)


def test_all_checks_are_made_where_that_is_wanted_also_of_an_answer_that_stands():
    (rollout,) = sequential("4", "4", "4", "5", k=5, all_checks=True).invoke(TASK, CONFIG)["rollouts"]
    assert (rollout["checks"], rollout["answer"]) == (4, "5")


def test_the_first_check_and_the_later_ones_are_asked_for_in_other_words():
    asked = []
    sequential("5", "6", k=3, asked=asked).invoke(TASK, CONFIG)
    assert "as if somebody else had written it" in asked[0][-1]
    assert asked[1][-1].startswith("Check once more")


def test_a_check_sees_the_attempt_so_far_and_every_note_reaches_judge_and_extractor():
    asked, shown = [], []

    def reply(messages):
        shown.append(messages[1].text)
        return verdict() if "You check whether" in messages[0].text else lessons("one")

    result = sequential("5", "6", k=3, asked=asked, model=ScriptedChatModel(reply)).invoke(TASK, CONFIG)
    assert asked[1][0] == "so it is 4"
    assert asked[1][2] == "checked: 5"
    assert len(shown) == 2
    assert all("checked: 5" in text and "checked: 6" in text for text in shown)
    assert result["messages"][-1].text == "checked: 6"


@pytest.mark.parametrize("subgraphs", [False, True])
def test_what_asks_for_a_check_is_neither_streamed_nor_left_in_the_conversation(subgraphs):
    graph = sequential("5", "6", k=3)
    parts = [
        part[-1] if subgraphs else part
        for part in graph.stream(TASK, CONFIG, stream_mode="messages", subgraphs=subgraphs)
    ]
    assert {message.type for message, _ in parts} == {"ai"}
    values = graph.get_state(CONFIG).values
    assert [message.text for message in values["messages"]] == ["so it is 4", "checked: 5", "checked: 6"]
    assert "as if somebody else" in values["rollouts"][0]["messages"][1]["content"]


def test_a_conversation_with_another_reducer_is_left_without_it_too():
    def solve(state):
        return {"answer": "4", "talk": [AIMessage("four")]}

    def refine(state):
        assert "as if somebody else" in state["talk"][-1].text
        return {"answer": "5", "talk": [AIMessage("five")]}

    names = {"messages": "talk", "state_schema": Listed}
    result = matts(solve, k=2, mode="sequential", refiner=refine, **names).invoke(TASK, CONFIG)
    assert [message.text for message in result["talk"]] == ["four", "five"]
    assert result["rollouts"][0]["check_error"] is None


def test_a_solver_that_gives_an_answer_only_is_quoted_to_the_check():
    asked = []

    def solve(state):
        return {"answer": "4"}

    refiner = checking("4", asked=asked)
    matts(solve, k=2, mode="sequential", refiner=refiner).invoke(TASK, CONFIG)
    assert asked[0][:2] == ["add two apples", "4"]


def test_a_check_that_only_approves_leaves_the_marked_answer_as_it_was():
    result = sequential("All is right.", "Yes.", first="\\boxed{4}", k=5).invoke(TASK, CONFIG)
    assert (result["answer"], result["rollouts"][0]["checks"]) == ("\\boxed{4}", 2)


def test_a_check_that_fails_ends_the_checks_and_what_was_solved_is_kept():
    store = indexed_memory()
    result = sequential("5", ConnectionError("down"), k=5, store=store).invoke(TASK, CONFIG)
    (rollout,) = result["rollouts"]
    assert (result["answer"], rollout["checks"], rollout["error"]) == ("5", 1, None)
    assert rollout["check_error"] == {"type": "ConnectionError", "message": "down", "kind": "unreachable"}
    assert bank(store).totals().experiences == 1


def test_a_solver_that_fails_is_not_checked():
    with pytest.raises(TooFewAttemptsError, match="boom"):
        sequential(first=ValueError("boom")).invoke(TASK, CONFIG)


def test_both_makes_k_rollouts_and_checks_each():
    def refine(state):
        return {"answer": state["drafts"][-1].replace("5", "4"), "messages": [AIMessage("checked")]}

    store = indexed_memory()
    result = matts(solving("5", "4", "6"), store, k=3, mode="both", refiner=refine).invoke(TASK, CONFIG)
    assert [rollout["answer"] for rollout in result["rollouts"]] == ["4", "4", "6"]
    assert [rollout["checks"] for rollout in result["rollouts"]] == [1, 1, 1]
    assert (result["answer"], result["selection"]["by"]) == ("4", "majority")
    assert {item.outcome for item in bank(store).items()} == {"contrast"}
    result = matts(solving("5"), k=2, mode="both", checks=3, refiner=checking(*"67896789")).invoke(TASK, CONFIG)
    assert [rollout["checks"] for rollout in result["rollouts"]] == [3, 3]


def model_that_checks(*replies):
    left = iter(replies)
    asked = []

    def reply(messages):
        if "You check whether" in messages[0].text:
            return verdict()
        if "You re-examine" in messages[0].text:
            asked.append(messages)
            return next(left)
        return lessons("one")

    return ScriptedChatModel(reply), asked


def test_without_a_refiner_the_model_is_asked_and_shown_task_attempt_and_lessons():
    store = indexed_memory()
    matts(solving("9"), store, k=1).invoke({"task": "add three apples"}, {"configurable": {"thread_id": "x"}})
    model, asked = model_that_checks(json.dumps({"note": "it is five", "answer": "5"}))
    result = matts(solving("4"), store, k=2, mode="sequential", model=model).invoke(TASK, CONFIG)
    (messages,) = asked
    assert "check the units" in messages[1].text
    assert all(text in messages[2].text for text in ("add two apples", "so it is 4", "as if somebody else"))
    assert result["answer"] == "5"
    assert result["messages"][-1].text == "it is five\n\n5"


async def test_the_model_checks_in_async_code():
    model, _ = model_that_checks(json.dumps({"note": "it is five", "answer": "5"}))
    result = await matts(solving("4"), k=2, mode="sequential", model=model).ainvoke(TASK, CONFIG)
    assert result["answer"] == "5"


def test_a_check_that_cannot_be_read_is_a_note_and_the_answer_stands():
    model, _ = model_that_checks("hm, I am not sure")
    result = matts(solving("4"), k=2, mode="sequential", model=model).invoke(TASK, CONFIG)
    assert (result["answer"], result["messages"][-1].text) == ("4", "hm, I am not sure")


def test_a_model_that_is_down_during_a_check_costs_nothing_but_the_check():
    model, _ = model_that_checks(ConnectionError("down"))
    result = matts(solving("4"), k=3, mode="sequential", model=model).invoke(TASK, CONFIG)
    assert result["answer"] == "4"
    assert result["rollouts"][0]["check_error"]["type"] == "ModelCallError"


def test_an_interrupt_in_a_check_resumes_there():
    calls = []

    def solve(state):
        calls.append("solve")
        return {"answer": "4"}

    def refine(state):
        return {"answer": interrupt("is it 4?"), "messages": [AIMessage("asked")]}

    graph = matts(solve, k=2, mode="sequential", refiner=refine)
    assert graph.invoke(TASK, CONFIG)["__interrupt__"][0].value == "is it 4?"
    assert graph.invoke(Command(resume="5"), CONFIG)["answer"] == "5"
    assert calls == ["solve"]


def test_a_second_task_in_the_thread_with_the_same_answer_is_checked_like_the_first():
    store, saver = indexed_memory(), InMemorySaver()
    sequential("4", "4", store=store, saver=saver).invoke(TASK, CONFIG)
    result = sequential("4", "4", store=store, saver=saver).invoke({"task": "add one pear"}, CONFIG)
    assert (result["answer"], result["rollouts"][0]["answer"]) == ("4", "4")
    assert len(result["rollouts"][0]["messages"]) == 5


class Plain(TypedDict, total=False):
    messages: list[AnyMessage]


def test_checks_need_a_conversation_that_can_be_added_to():
    with pytest.raises(ValueError, match="give it a reducer"):
        sequential("4", state_schema=Plain)


class Listed(TypedDict, total=False):
    question: str
    talk: Annotated[list, lambda old, new: [*(old or []), *new]]


def test_checks_work_on_channels_with_other_names():
    def solve(state):
        return {"result": "4", "talk": [("ai", "four")]}

    def refine(state):
        return {"result": "5", "talk": [("ai", "five")]}

    names = {"task": "question", "answer": "result", "messages": "talk", "state_schema": Listed}
    graph = matts(solve, k=2, mode="sequential", refiner=refine, **names)
    assert graph.invoke({"question": "two and three"}, CONFIG)["result"] == "5"


def math_reply(messages):
    if "You solve math problems" in messages[0].text:
        return "Checked, \\boxed{8}" if "as if somebody else" in messages[-1].text else "\\boxed{7}"
    return verdict() if "You check whether" in messages[0].text else lessons("one")


def test_the_math_solver_goes_on_with_its_own_conversation():
    model = Sampling(math_reply)
    app = create_math_solver(model, scaling=Scaling(k=2, mode="sequential")).compile(store=indexed_memory())
    result = app.invoke({"task": "3 + 5", "reference": "8"})
    assert (result["answer"], result["verdict"]["status"]) == ("Checked, \\boxed{8}", "success")
    assert [type(message) for message in model.calls[1][1:]] == [HumanMessage, AIMessage, HumanMessage]
    assert "3 + 5" in model.calls[1][1].text


async def test_the_math_solver_samples_with_the_temperature_and_seed_of_its_rollout():
    model = Sampling(math_reply, bound=[])
    scaling = Scaling(k=2, mode="both", max_concurrency=1)
    app = create_math_solver(model, scaling=scaling).compile(store=indexed_memory())
    await app.ainvoke({"task": "3 + 5", "reference": "8"})
    assert [told for told in model.bound if told] == [
        *[{"seed": sampling_seed(0, "3 + 5")}] * 2,
        *[{"temperature": 0.7, "seed": sampling_seed(0, "3 + 5", 1)}] * 2,
    ]


def test_a_model_that_knows_neither_is_not_told():
    model = ScriptedChatModel(math_reply)
    app = create_math_solver(model, scaling=Scaling(k=2)).compile(store=indexed_memory())
    assert len(app.invoke({"task": "3 + 5", "reference": "8"})["rollouts"]) == 2

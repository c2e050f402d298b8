"""A verdict from the agent's state: of a rubric that has the agent revise its answer until it is satisfied."""

import logging
from typing import Annotated, NotRequired

import pytest
from langchain.agents import AgentState
from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import HumanMessage

from reasoningbank_langgraph import ReasoningBankMiddleware, Verdict, errors
from reasoningbank_langgraph.agents import rubric_verdict
from reasoningbank_langgraph.learn import drain
from reasoningbank_langgraph.learn.turns import turns
from reasoningbank_langgraph.state import ChannelNames
from tests.agents.agent_fakes import BANK, agent, bank, bank_with, replies, say, thread
from tests.conftest import check_each
from tests.loop_fakes import learner

RUBRIC = {"rubric": "- The answer names a unit."}
GAP = {"name": "The answer names a unit", "passed": False, "gap": "say metres"}


class RubricState(AgentState):
    rubric: NotRequired[str]
    _rubric_status: NotRequired[Annotated[str | None, PrivateStateAttr]]
    _rubric_evaluations: NotRequired[Annotated[list[dict], PrivateStateAttr]]


class RubricMiddleware(AgentMiddleware):
    """Writes what the middleware of that name in deepagents writes, with these results one after another."""

    state_schema = RubricState

    def __init__(self, *results, unverified=False):
        super().__init__()
        self.results, self.unverified = list(results), unverified

    def before_agent(self, state, runtime):
        return {"_rubric_status": None} if state.get("rubric") else None

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state, runtime):
        if not state.get("rubric"):
            return None
        result = self.results.pop(0)
        criteria = [] if result in ("satisfied", "failed", "grader_error") else [GAP]
        graded = {"result": result, "explanation": "It is read.", "criteria": criteria, "unverified": self.unverified}
        update = {"_rubric_status": result, "_rubric_evaluations": [*state.get("_rubric_evaluations", []), graded]}
        if result != "needs_revision":
            return update
        asks = HumanMessage("Revise.", name="rubric_grader", additional_kwargs={"lc_source": "rubric_grader"})
        return {**update, "messages": [asks], "jump_to": "model"}


def graded(store, rubric, *script, verdict_from=rubric_verdict, **settings):
    """An agent with a memory and a rubric; where the rubric has no opinion, a model finds a success."""
    settings = {"model": learner(), "namespace": BANK, "verdict_from": verdict_from, **settings}
    return agent(replies(*script), store=store, memory=ReasoningBankMiddleware(**settings), also=[rubric])


def ask(app, what="table", **given):
    return app.invoke({**say(f"How long is this {what}?"), **given}, thread())


def judged(store):
    return [(episode.outcome, episode.provenance.judge) for episode in bank(store).episodes()]


CASES = [
    (["satisfied"], ("success", "rubric")),
    (["needs_revision", "satisfied"], ("success", "rubric")),
    (["needs_revision", "max_iterations_reached"], ("failure", "rubric")),
    (["needs_revision", "failed"], ("success", "llm")),
    (["needs_revision", "grader_error"], ("success", "llm")),
]


@check_each(CASES)
def test_the_last_status_of_a_rubric_is_the_verdict_and_without_one_the_judge_is_asked(results, expected):
    store = bank_with()
    app = graded(store, RubricMiddleware(*results), *["3"] * len(results))
    ask(app, **RUBRIC)
    assert judged(store) == [expected]


def test_all_drafts_are_part_of_the_attempt_and_what_was_missing_is_the_rationale():
    store = bank_with()
    model = learner()
    app = graded(store, RubricMiddleware("needs_revision", "max_iterations_reached"), "3", "three", model=model)
    ask(app, **RUBRIC)
    (episode,) = bank(store).episodes()
    assert episode.rationale == "It is read.\n- The answer names a unit: say metres"
    assert (episode.task, episode.answer) == ("How long is this table?", "three")
    (distilling,) = model.calls
    assert all(said in distilling[-1].text for said in ("say metres", "Revise.", "three"))


def test_a_success_that_the_grader_did_not_verify_is_no_verdict():
    store = bank_with()
    app = graded(store, RubricMiddleware("max_iterations_reached", unverified=True), "3")
    ask(app, **RUBRIC)
    assert judged(store) == [("success", "llm")]


def test_the_status_of_an_earlier_turn_says_nothing_of_a_turn_without_a_rubric():
    store = bank_with()
    app = graded(store, RubricMiddleware("max_iterations_reached"), "3", "4")
    ask(app, **RUBRIC)
    ask(app, "chair", rubric="")
    assert judged(store) == [("failure", "rubric"), ("success", "llm")]


def test_in_the_background_too_the_rubric_says_what_a_success_is():
    store, model = bank_with(), learner()
    app = graded(store, RubricMiddleware("max_iterations_reached"), "3", learn="background", model=model)
    ask(app, **RUBRIC)
    assert drain(timeout=60)
    assert judged(store) == [("failure", "rubric")]
    assert len(model.calls) == 1


def test_a_rubric_that_grades_after_the_memory_has_learned_is_named():
    memory = ReasoningBankMiddleware(model=learner(), namespace=BANK, verdict_from=rubric_verdict)
    app = agent(replies("3"), store=bank_with(), memory=RubricMiddleware("satisfied"), also=[memory])
    with pytest.raises(errors.JudgeError, match="put ReasoningBankMiddleware before RubricMiddleware"):
        ask(app, **RUBRIC)


def test_a_request_of_the_grader_begins_no_turn_of_the_user():
    store = bank_with()
    app = agent(replies("3", "3 m"), store=store, memory=RubricMiddleware("needs_revision", "satisfied"))
    state = ask(app, **RUBRIC)
    (turn,) = turns(state, frozenset(), ChannelNames(task="messages"), "t1")
    assert (turn.attempt.task, turn.attempt.answer) == ("How long is this table?", "3 m")


class Measured(AgentState):
    measured: NotRequired[int]


class MeasuredMiddleware(AgentMiddleware):
    state_schema = Measured


@pytest.mark.parametrize(
    ("check", "outcome", "judge"),
    [
        (lambda state: state["measured"] == 4, "failure", "state"),
        (lambda state: state["messages"][-1].text == "3", "success", "state"),
        (lambda state: Verdict(status="failure", judge="tape"), "failure", "tape"),
        (lambda state: Verdict(status="indeterminate"), "success", "llm"),
        (lambda state: None, "success", "llm"),
    ],
)
async def test_any_function_of_the_state_can_be_asked_before_the_judge(check, outcome, judge):
    store = bank_with()
    app = graded(store, MeasuredMiddleware(), "3", verdict_from=check)
    await app.ainvoke({**say("How long is this table?"), "measured": 3}, thread())
    assert judged(store) == [(outcome, judge)]


def test_a_check_that_breaks_is_told_and_leaves_the_turn_to_the_judge(caplog):
    store = bank_with()
    app = graded(store, MeasuredMiddleware(), "3", verdict_from=lambda state: state["mesured"])
    with caplog.at_level(logging.WARNING):
        ask(app)
    assert judged(store) == [("success", "llm")]
    assert "mesured" in caplog.text


async def _waits(state):
    return True


class _Waiting:
    async def __call__(self, state):
        return True


@pytest.mark.parametrize("check", [_waits, _Waiting()])
def test_a_check_that_is_no_plain_function_or_returns_no_verdict_is_refused(check):
    for given in ({"verdict_from": check}, {"verdict_from": {"test": check}}, {"check_before": {"test": check}}):
        with pytest.raises(TypeError, match="plain function"):
            ReasoningBankMiddleware(model=learner(), **given)
    app = graded(bank_with(), MeasuredMiddleware(), "3", verdict_from=lambda state: "fine")
    with pytest.raises(errors.JudgeError, match="'fine'"):
        ask(app)

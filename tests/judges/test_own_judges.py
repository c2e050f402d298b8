"""Judges of one's own: any function that says yes, no or why not. Slips end the run, outages are told of."""

import logging

import pytest
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from reasoningbank_langgraph import (
    Attempt,
    EnsembleJudge,
    LLMJudge,
    ReferenceJudge,
    SelfConsistencyJudge,
    Verdict,
    create_matts,
    create_reasoning_bank,
)
from reasoningbank_langgraph.judges import as_judge
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.loop_fakes import indexed_memory, learner, solver, verdict

ATTEMPT = Attempt(task="2 + 2", messages=[("ai", "2 + 2 = 4")], answer="4", reference="4")
CONFIG = {"configurable": {"thread_id": "t"}}


def judged(judge, model=None, **options):
    graph = create_reasoning_bank(solver, model=model or learner(), judge=judge, **options)
    return graph.compile(checkpointer=InMemorySaver(), store=indexed_memory())


def status(result):
    return result["verdict"]["status"], [lesson["outcome"] for lesson in result["lessons"]][:1]


def ensemble(judge):
    return EnsembleJudge([judge], rule="majority")


@pytest.mark.parametrize("wrap", [lambda judge: judge, ensemble, RunnableLambda], ids=["plain", "ensemble", "runnable"])
@pytest.mark.parametrize(("said", "outcome"), [(True, "success"), (False, "failure")])
async def test_a_truth_value_is_a_verdict(wrap, said, outcome):
    def grade(attempt):
        return said

    async def agrade(attempt):
        return said

    assert status(judged(wrap(grade)).invoke({"task": "one"}, CONFIG)) == (outcome, [outcome])
    assert status(await judged(wrap(grade)).ainvoke({"task": "one"}, CONFIG)) == (outcome, [outcome])
    assert status(await judged(wrap(agrade)).ainvoke({"task": "one"}, CONFIG)) == (outcome, [outcome])


def test_a_truth_value_of_numpy_is_one_too():
    numpy = pytest.importorskip("numpy")
    assert status(judged(lambda attempt: numpy.float64(1) > 0).invoke({"task": "one"}, CONFIG)) == (
        "success",
        ["success"],
    )


@pytest.mark.parametrize("said", ["success", 0.7, 1, None, {"status": "success"}, ("success", 1.0)], ids=repr)
@pytest.mark.parametrize("wrap", [lambda judge: judge, ensemble], ids=["plain", "ensemble"])
async def test_what_is_no_verdict_ends_the_run_and_says_what_to_return(wrap, said):
    graph = judged(wrap(lambda attempt: said))
    with pytest.raises(TypeError, match=r"must return a Verdict, or True .* it returned"):
        graph.invoke({"task": "one"}, CONFIG)
    with pytest.raises(TypeError, match="must return a Verdict"):
        await graph.ainvoke({"task": "two"}, CONFIG)


def test_among_several_attempts_it_ends_the_run_as_well():
    graph = create_matts(solver, model=learner(), judge=lambda attempt: "yes", k=2).compile(store=indexed_memory())
    with pytest.raises(TypeError, match="must return a Verdict"):
        graph.invoke({"task": "one"})


def test_a_coroutine_that_a_lambda_returns_is_refused_by_name():
    async def grade(attempt, least):
        return True

    with pytest.raises(TypeError, match="async def"):
        judged(lambda attempt: grade(attempt, 1)).invoke({"task": "one"}, CONFIG)


@pytest.mark.parametrize("judge", [LLMJudge, lambda: True, lambda attempt, state: True], ids=["class", "none", "two"])
def test_what_cannot_be_called_with_an_attempt_is_refused_when_the_graph_is_built(judge):
    with pytest.raises(TypeError, match="a judge"):
        create_reasoning_bank(solver, model=learner(), judge=judge)


def test_a_judge_may_ask_for_the_config():
    def grade(attempt, config: RunnableConfig):
        return config["configurable"]["thread_id"] == "t"

    assert status(judged(grade).invoke({"task": "one"}, CONFIG))[0] == "success"


def checking(attempt):
    assert attempt.answer == "right", "it is not right"


@pytest.mark.parametrize(
    "judge",
    [
        checking,
        ReferenceJudge(lambda reference, answer: checking(Attempt(task="t", answer=answer))),
        EnsembleJudge([checking]),
        RunnableLambda(checking),
    ],
    ids=["function", "reference", "ensemble", "runnable"],
)
async def test_an_assertion_that_fails_in_a_check_is_a_failure_of_the_attempt(judge):
    result = judged(judge).invoke({"task": "one", "reference": "4"}, CONFIG)
    assert status(result) == ("failure", ["failure"])
    assert "it is not right" in result["verdict"]["rationale"]
    result = await judged(judge).ainvoke({"task": "one", "reference": "4"}, CONFIG)
    assert status(result) == ("failure", ["failure"])


@pytest.mark.parametrize("script", [[], lambda messages: checking(ATTEMPT)], ids=["ran out", "refused"])
@pytest.mark.parametrize("wrap", [LLMJudge, lambda model: lambda attempt: bool(model.invoke("?"))], ids=["llm", "own"])
def test_a_scripted_model_that_refuses_a_call_fails_the_test_and_is_no_verdict(script, wrap):
    with pytest.raises(AssertionError, match="call 1"):
        judged(wrap(ScriptedChatModel(script))).invoke({"task": "one"}, CONFIG)


def warnings_of(caplog):
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def divide(attempt):
    return 1 / 0


@pytest.mark.parametrize("judge", [divide, EnsembleJudge([divide])], ids=["plain", "ensemble"])
def test_the_first_outage_of_a_kind_is_a_warning_and_later_ones_are_not(judge, caplog):
    caplog.set_level(logging.DEBUG, "reasoningbank_langgraph")
    graph = judged(judge)
    for task in ("one", "two"):
        result = graph.invoke({"task": task}, {"configurable": {"thread_id": task}})
        assert (result["verdict"]["status"], result["verdict"]["reason"]) == ("indeterminate", "error")
    (told,) = warnings_of(caplog)
    assert "'divide' failed" in told
    assert "division by zero" in told
    assert sum("division by zero" in record.getMessage() for record in caplog.records) == 2


def test_another_kind_is_a_warning_again_and_says_no_secret(caplog):
    def grade(attempt):
        raise ConnectionError("postgresql://ann:s3cr3t@db") if attempt.task == "two" else KeyError("x")

    graph = judged(grade)
    for task in ("one", "two"):
        graph.invoke({"task": task}, {"configurable": {"thread_id": task}})
    assert ["KeyError" in told for told in warnings_of(caplog)] == [True, False]
    assert "s3cr3t" not in caplog.text


class StatusError(Exception):
    status_code = 401


@pytest.mark.parametrize("error", [RuntimeError("401 invalid api key"), StatusError("no")], ids=["text", "status"])
def test_a_wrong_key_is_told_with_the_model_and_the_way_out(error, caplog):
    class Named(ScriptedChatModel):
        model_name: str = "gpt-x"

    judged(None, model=Named(lambda messages: error)).invoke({"task": "one"}, CONFIG)
    (told,) = warnings_of(caplog)
    assert all(words in told for words in ("judge", "gpt-x", "check the API key"))


def test_an_outage_of_the_model_that_distils_is_told(caplog):
    def reply(messages):
        return verdict() if "You check whether" in messages[0].text else ConnectionError("down")

    result = judged(None, model=ScriptedChatModel(reply)).invoke({"task": "one"}, CONFIG)
    assert result["extraction"]["reason"] == "error"
    (told,) = warnings_of(caplog)
    assert told.startswith("extract, model")


def test_samples_that_all_fail_are_told(caplog):
    judge = SelfConsistencyJudge(ScriptedChatModel(lambda messages: ConnectionError("down")), n=3)
    assert judge(ATTEMPT).reason == "error"
    assert len(warnings_of(caplog)) == 1


@pytest.mark.parametrize("wrap", [lambda judge: judge, ensemble], ids=["plain", "ensemble"])
async def test_a_judge_may_wait_for_a_person(wrap):
    def person(attempt):
        return Verdict(status=interrupt({"answer": attempt.answer}), judge="person")

    async def aperson(attempt):
        return person(attempt)

    graph = judged(wrap(person))
    assert graph.invoke({"task": "one"}, CONFIG)["__interrupt__"][0].value == {"answer": "\\boxed{3}"}
    assert status(graph.invoke(Command(resume="failure"), CONFIG)) == ("failure", ["failure"])
    graph = judged(wrap(aperson))
    assert (await graph.ainvoke({"task": "one"}, CONFIG))["__interrupt__"]
    assert status(await graph.ainvoke(Command(resume="success"), CONFIG)) == ("success", ["success"])


def test_a_judge_with_bound_arguments_is_a_judge():
    judge = RunnableLambda(lambda attempt, least: len(attempt.answer) >= least).bind(least=3)
    assert as_judge(judge).invoke(ATTEMPT) is False
    assert status(judged(judge).invoke({"task": "one"}, CONFIG))[0] == "success"

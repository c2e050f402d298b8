"""A verdict from what a tool said: a fact comes before an opinion."""

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import ToolException, tool

from reasoningbank_langgraph import Attempt, ReasoningBankMiddleware, Verdict, errors
from reasoningbank_langgraph.agents.tool_results import ToolResultJudge
from tests.agents.agent_fakes import BANK, agent, bank, bank_with, call, replies, say, thread
from tests.conftest import check_each
from tests.loop_fakes import learner


def passed(text):
    return None if "skipped" in text else "0 failed" in text


def told(*steps):
    """An attempt whose steps each call the tests once or several times and are given these results."""
    messages = [("user", "Mend it.")]
    for number, results in enumerate(steps):
        calls = [{"name": "run_tests", "args": {}, "id": f"{number}-{place}"} for place in range(len(results))]
        messages.append({"role": "assistant", "content": "", "tool_calls": calls})
        for place, (text, status) in enumerate(results):
            messages.append({"role": "tool", "content": text, "tool_call_id": f"{number}-{place}", "status": status})
    return Attempt(task="Mend it.", messages=[*messages, ("assistant", "Done.")], answer="Done.")


def ok(text):
    return (text, "success")


CASES = [
    ([[ok("0 failed")]], "success"),
    ([[ok("3 failed")]], "failure"),
    ([[ok("3 failed")], [ok("0 failed")]], "success"),
    ([[ok("0 failed")], [ok("3 failed")]], "failure"),
    ([[ok("0 failed"), ok("3 failed")]], "failure"),
    ([[ok("3 failed"), ok("0 failed")]], "failure"),
    ([[ok("all skipped")]], "indeterminate"),
    ([[ok("0 failed"), ok("all skipped")]], "success"),
    ([[ok("3 failed")], [("0 failed, but the tool broke", "error")]], "indeterminate"),
    ([], "indeterminate"),
]


@check_each(CASES)
def test_the_results_of_the_last_step_that_called_the_tool_decide(steps, status):
    assert ToolResultJudge({"run_tests": passed}).invoke(told(*steps)).status == status


def test_the_verdict_says_which_tool_said_what():
    verdict = ToolResultJudge({"run_tests": passed}).invoke(told([ok("3 failed")]))
    assert (verdict.judge, verdict.rationale) == ("tool:run_tests", "run_tests said: 3 failed")
    verdict = ToolResultJudge({"run_tests": lambda text: Verdict(status="failure", rationale="slow")})
    assert verdict.invoke(told([ok("x")])).rationale == "slow"


def test_a_failed_assertion_of_a_check_is_a_failure_and_anything_else_a_mistake():
    def check(text):
        assert "0 failed" in text, "tests fail"

    assert ToolResultJudge({"run_tests": check}).invoke(told([ok("3 failed")])).rationale.startswith("tests fail")
    with pytest.raises(errors.JudgeError):
        ToolResultJudge({"run_tests": lambda text: text}).invoke(told([ok("3 failed")]))

    async def waits(text):
        return True

    with pytest.raises(TypeError, match="plain function"):
        ToolResultJudge({"run_tests": waits})


@tool
def run_tests(path: str) -> str:
    """Run the tests."""
    if path == "nowhere":
        raise ToolException("no such folder")
    return "3 failed" if path == "broken" else "0 failed"


run_tests.handle_tool_error = True


@pytest.mark.parametrize(
    ("path", "outcome", "judge"),
    [("broken", "failure", "tool:run_tests"), ("whole", "success", "tool:run_tests"), ("nowhere", "success", "llm")],
)
def test_an_agent_is_judged_by_its_tests_and_by_the_model_where_they_say_nothing(path, outcome, judge):
    store = bank_with()
    memory = ReasoningBankMiddleware(model=learner(), namespace=BANK, verdict_from={"run_tests": passed})
    app = agent(replies(call("run_tests", path=path), "Done."), store=store, memory=memory, tools=[run_tests])
    app.invoke(say("Mend the code."), thread())
    (episode,) = bank(store).episodes()
    assert (episode.outcome, episode.provenance.judge) == (outcome, judge)


async def test_a_judge_of_ones_own_is_asked_where_the_tools_say_nothing():
    store = bank_with()
    memory = ReasoningBankMiddleware(
        model=learner(), namespace=BANK, verdict_from={"run_tests": passed}, judge=lambda attempt: False
    )
    app = agent(
        replies("Done.", call("run_tests", path="whole"), AIMessage("Done.")),
        store=store,
        memory=memory,
        tools=[run_tests],
    )
    await app.ainvoke(say("Mend the code."), thread())
    await app.ainvoke(say("Mend it, please."), thread())
    assert [episode.outcome for episode in bank(store).episodes()] == ["failure", "success"]

"""Selection in a graph: what is scored, what ends early, what the user is told."""

import pytest

from reasoningbank_langgraph import ReferenceJudge
from reasoningbank_langgraph.extraction import Judged
from reasoningbank_langgraph.matts.records import Failure, Rollout
from reasoningbank_langgraph.matts.scaling import Scaling
from reasoningbank_langgraph.matts.scores import score
from reasoningbank_langgraph.matts.select_node import create_select
from reasoningbank_langgraph.state import ChannelNames
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.loop_fakes import Tracer, learner, lessons, verdict
from tests.matts.test_select import named, rollouts
from tests.matts_fakes import CONFIG, TASK, judged_by, matts, solving


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
    assert selection["votes"] == [{"answer": "4", "rollouts": [0, 2, 4]}, {"answer": "5" * 120, "rollouts": [3]}]
    assert selection["rollouts"] == {"run": 5, "failed": 1, "skipped": 0, "ended": "all"}
    assert selection["tokens"] == {"used": 0, "saved": 0}


async def test_what_is_selected_leaves_the_verdict_of_its_rollout_and_nothing_of_the_others(run):
    result = await run(matts(solving("4", "5"), k=2, judge=judged_by("5")), TASK)
    assert (result["answer"], result["verdict"]["status"], result["rollout_values"]) == ("5", "success", {})
    result = await run(matts(solving("4", "5"), k=2, model=None, learn=False), {**TASK, "task": "another"})
    assert (result["answer"], result["verdict"]) == ("4", None)

"""What a trace shows of memory, in LangSmith and in OpenTelemetry, and how it is told from what the solver does."""

from collections import Counter

import pytest
from langchain.agents import create_agent
from langchain_core.tracers import LangChainTracer
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langgraph.graph import START, StateGraph
from langsmith import Client
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from reasoningbank_langgraph import (
    MemoryBank,
    ReasoningBankMiddleware,
    ReasoningBankState,
    Verdict,
    create_consolidate,
    create_extract,
    create_judge,
    create_matts,
    create_reasoning_bank,
    create_recall_tool,
    create_retrieve,
)
from reasoningbank_langgraph.testing import ScriptedChatModel, ScriptedToolModel
from tests.agents.agent_fakes import call
from tests.loop_fakes import USED, Billed, indexed_memory, learner

STEPS = ["retrieve", "judge", "extract", "consolidate"]
TASK = {"task": "add two pears"}
OTHER = ScriptedChatModel(lambda messages: "\\boxed{2}")


def solve(state):
    return {"messages": [OTHER.invoke(state["task"])]}


def model():
    return Billed(learner().script)


def traced(graph, given=TASK, **config):
    """Every run of a graph as LangSmith gets it: the one around it, itself, then those inside it."""
    collector = RunCollectorCallbackHandler()
    graph.invoke(given, {"callbacks": [collector], **config})
    return runs_of(collector)


def runs_of(collector):
    def inside(run):
        yield run
        for child in run.child_runs:
            yield from inside(child)

    return [run for root in collector.traced_runs for run in inside(root)]


def own(runs):
    return [run for run in runs if "reasoningbank" in run.tags]


def said(run):
    metadata = run.extra["metadata"]
    return {name.removeprefix("reasoningbank_"): metadata[name] for name in metadata if name.startswith("reasoningb")}


def names(runs):
    return [(run.run_type, run.name) for run in runs]


def of_the_loop(graph):
    runs = own(traced(graph))
    calls = [("llm", f"reasoningbank:{step}") for step in ("judge", "extract")]
    assert Counter(names(runs)) == Counter([*(("chain", f"reasoningbank:{step}") for step in STEPS), *calls])
    for run in runs:
        assert {run.name, "reasoningbank"} <= set(run.tags)
        assert said(run)["step"] == run.name.removeprefix("reasoningbank:")
    return runs


def test_each_step_and_each_call_of_a_model_for_memory_is_named_and_tagged_and_nothing_of_the_solver_is():
    store = indexed_memory()
    graph = create_reasoning_bank(solve, model=model()).compile(store=store)
    runs = of_the_loop(graph)
    (lesson, *_) = MemoryBank(store, "reasoningbank").items()
    (episode,) = MemoryBank(store, "reasoningbank").episodes()
    attempt = lesson.provenance.line[-1][0]
    assert [said(run).get("attempt") for run in runs] == [None, *[attempt] * 5]
    left = {"attempt": attempt, "episode": episode.id, "experience": lesson.experience_id}
    assert {name: value for name, value in said(runs[-1]).items() if name != "step"} == left
    for step in ("extract", "consolidate"):
        (run,) = [run for run in runs if (run.run_type, run.name) == ("chain", f"reasoningbank:{step}")]
        assert left.items() <= run.outputs.items()
        assert lesson.id in run.outputs["events"][0]["ids"]


def test_whatever_the_nodes_of_a_graph_are_called_their_steps_have_the_same_names():
    builder = StateGraph(ReasoningBankState)
    nodes = [create_retrieve(), create_judge(model()), create_extract(model()), create_consolidate()]
    first, *others = zip("abcd", nodes, strict=True)
    builder.add_sequence([first, ("solve", lambda state: {"answer": "\\boxed{2}"}), *others])
    builder.add_edge(START, "a")
    of_the_loop(builder.compile(store=indexed_memory()))


async def test_async_code_is_traced_alike():
    collector = RunCollectorCallbackHandler()
    graph = create_reasoning_bank(solve, model=model()).compile(store=indexed_memory())
    await graph.ainvoke(TASK, {"callbacks": [collector]})
    runs = runs_of(collector)
    assert names(own(runs)) == names(of_the_loop(graph))
    parents = {run.id: run.name for run in runs}
    calls = [run for run in own(runs) if run.run_type == "llm"]
    assert [(parents[run.parent_run_id], run.name) for run in calls] == [
        (f"reasoningbank:{step}", f"reasoningbank:{step}") for step in ("judge", "extract")
    ]


def test_a_judge_of_ones_own_is_memory_too_with_all_that_it_calls():
    def judge(attempt):
        return Verdict(status="success", rationale=OTHER.invoke("right?").text)

    runs = traced(create_reasoning_bank(solve, model=model(), judge=judge).compile(store=indexed_memory()))
    calls = {("reasoningbank:judge" in run.tags): said(run) for run in runs if run.name == "ScriptedChatModel"}
    assert (calls[True]["step"], calls[False]) == ("judge", {})


def test_rollouts_are_told_apart_and_what_the_solver_does_in_them_is_not_memorys():
    runs = traced(create_matts(solve, model=model(), k=2, max_concurrency=1).compile(store=indexed_memory()))
    rollouts = [run for run in runs if run.name == "reasoningbank:rollout"]
    assert [said(run)["rollout"] for run in rollouts] == [0, 1]
    for run in (run for run in runs if run.name == "ScriptedChatModel"):
        assert said(run).keys() == {"rollout", "attempt"}
        assert not any(tag.startswith("reasoningbank") for tag in run.tags)
    steps = Counter(run.name for run in own(runs) if run.run_type == "chain")
    assert steps == {f"reasoningbank:{step}": 1 + (step == "judge") for step in [*STEPS, "select"]}
    assert len({said(run)["attempt"] for run in runs if "attempt" in said(run)}) == 1


def test_an_agent_with_a_middleware_and_a_recall_tool_shows_what_each_does():
    agent = create_agent(
        ScriptedToolModel([call("recall_lessons", query="adding"), "2"]),
        [create_recall_tool(namespace="agents")],
        middleware=[ReasoningBankMiddleware(model=model(), namespace="agents")],
        store=indexed_memory(),
    )
    runs = traced(agent, {"messages": [("user", "add two pears")]})
    assert ("tool", "recall_lessons") in names(own(runs))
    parents = {run.id: run for run in runs}
    around = [parents[parents[run.parent_run_id].parent_run_id].name for run in own(runs) if run.run_type == "chain"]
    assert around == ["LangGraph", *["reasoningbank:learn"] * 3]
    assert not any("reasoningbank" in run.tags for run in runs if run.name == "ScriptedToolModel")


def test_a_trace_of_memory_names_no_namespace():
    graph = create_reasoning_bank(solve, model=model(), namespace=("{user}",)).compile(store=indexed_memory())
    runs = own(traced(graph, configurable={"user": "ann of acme"}))
    assert len(runs) == 6
    assert "acme" not in str([(run.inputs, run.outputs, run.extra, run.tags) for run in runs])


@pytest.fixture
def spans():
    """What OpenTelemetry exports of a run that LangSmith's SDK traces, in place of sending it anywhere."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    client = Client(
        api_url="http://localhost", api_key="none", info={}, tracing_mode="otel", otel_tracer_provider=provider
    )

    def exported(graph):
        tracer = LangChainTracer(client=client)
        graph.invoke(TASK, {"callbacks": [tracer]})
        tracer.wait_for_futures()
        client.flush()
        return exporter.get_finished_spans()

    return exported


def test_spans_of_opentelemetry_have_the_same_names_tags_and_ids_and_the_tokens_of_each_call(spans):
    found = spans(create_reasoning_bank(solve, model=model()).compile(store=indexed_memory()))
    by_id = {span.context.span_id: span for span in found}
    steps = [span for span in found if "langsmith.metadata.reasoningbank_step" in span.attributes]
    assert Counter(span.name for span in steps) == Counter(
        f"reasoningbank:{step}" for step in [*STEPS, "judge", "extract"]
    )
    for span in steps:
        assert "reasoningbank" in span.attributes["langsmith.span.tags"].split(", ")
    calls = [span for span in steps if span.attributes["langsmith.span.kind"] == "llm"]
    assert [by_id[span.parent.span_id].name for span in calls] == [span.name for span in calls]
    assert {span.attributes["gen_ai.usage.total_tokens"] for span in calls} == {USED["total_tokens"]}
    assert len({span.attributes["langsmith.metadata.reasoningbank_attempt"] for span in calls}) == 1

"""The whole loop: retrieve, solve, judge, extract, consolidate, on both stores, sync and async."""

import json
from uuid import uuid4

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from reasoningbank_langgraph import (
    MemoryBank,
    ReasoningBankState,
    ReferenceJudge,
    Verdict,
    create_reasoning_bank,
    create_retrieve,
)
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.loop_fakes import indexed_memory, learner, lessons, open_store, solver

NAMESPACE = ("math", "{user_id}")
STORES = pytest.mark.parametrize("kind", ["memory", "chroma"])


def config(thread="t1", user="u1"):
    return {"configurable": {"thread_id": thread, "user_id": user}}


def app(store, model=None, **options):
    built = create_reasoning_bank(
        options.pop("solver", solver), model=model or learner(), namespace=NAMESPACE, **options
    )
    return built.compile(checkpointer=InMemorySaver(), store=store)


@STORES
def test_what_one_task_taught_is_shown_to_the_next(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        graph = app(store)
        first = graph.invoke({"task": "add two apples and three apples"}, config("a"))
        assert first["memory_prompt"] == ""
        assert first["verdict"]["status"] == "success"
        assert len(first["written"]) == 2
        second = graph.invoke({"task": "add four apples and five apples"}, config("b"))
        shown = [memory["item"]["title"] for memory in second["memories"]]
        assert sorted(shown) == ["check the units", "draw a picture"]
        assert all(title in second["memory_prompt"] for title in shown)
        assert MemoryBank(store, ("math", "u1")).totals().items == 4


@STORES
async def test_the_loop_runs_the_same_in_async_code(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        graph = app(store)
        await graph.ainvoke({"task": "add two apples"}, config("a"))
        second = await graph.ainvoke({"task": "add four apples"}, config("b"))
        assert len(second["memories"]) == 2
        assert len(await MemoryBank(store, ("math", "u1")).aitems()) == 4


@STORES
def test_a_task_is_never_shown_its_own_lessons(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        graph = app(store)
        graph.invoke({"task": "add two apples"}, config("a"))
        assert graph.invoke({"task": "  Add TWO apples "}, config("b"))["memories"] == []
        graph.invoke({"task": "count pears", "task_id": "p1"}, config("c"))
        again = graph.invoke({"task": "count pears, reworded", "task_id": "p1"}, config("d"))
        assert "count pears" not in [memory["item"]["task"] for memory in again["memories"]]


@STORES
def test_a_tenant_never_sees_the_bank_of_another(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        graph = app(store)
        graph.invoke({"task": "add two apples"}, config("a", user="al"))
        assert graph.invoke({"task": "add four apples"}, config("b", user="alice"))["memories"] == []
        assert MemoryBank(store, ("math",)).items() == []


@pytest.mark.parametrize(("match", "close"), [("both", True), ("task", True), ("lesson", False)])
def test_later_tasks_are_matched_with_what_the_graph_was_told_to(match, close):
    store = indexed_memory()
    app(store, learner(titles=("use a ruler",)), match=match).invoke({"task": "red green blue"}, config())
    (found,) = MemoryBank(store, ("math", "u1")).search("red green blue yellow")
    assert (found.score > 0.8) is close


def test_a_failure_teaches_too_and_is_labelled():
    store = indexed_memory()
    graph = app(store, learner("failure", ("recheck the sum",)))
    graph.invoke({"task": "add two apples"}, config("a"))
    (item,) = MemoryBank(store, ("math", "u1")).items()
    assert item.outcome == "failure"
    assert "failure" in graph.invoke({"task": "add four apples"}, config("b"))["memory_prompt"]


def test_one_experience_is_shown_and_at_most_three_lessons_unless_the_graph_says_otherwise():
    store, model = indexed_memory(), learner()
    for task in ("add two apples", "count the pears"):
        app(store, model).invoke({"task": task}, config(task))
    for options, shown in (({}, 2), ({"k": 2}, 3), ({"k": 2, "max_items": 4}, 4)):
        alone = StateGraph(ReasoningBankState).add_node("retrieve", create_retrieve(namespace=NAMESPACE, **options))
        loop = app(store, model, judge=lambda _: Verdict(status="indeterminate", judge="tests"), **options)
        for graph in (alone.add_edge(START, "retrieve").compile(store=store), loop):
            assert len(graph.invoke({"task": "add four apples"}, config(f"asks {shown}"))["memories"]) == shown


def test_what_one_run_learned_is_forgotten_by_its_id():
    store, run = indexed_memory(), uuid4()
    graph = app(store)
    graph.invoke({"task": "add two apples"}, {**config("a"), "run_id": run})
    graph.invoke({"task": "count the pears"}, config("b"))
    bank = MemoryBank(store, ("math", "u1"))
    assert len(bank.forget(run_id=str(run), cascade=False)) == 2
    assert {item.task for item in bank.items()} == {"count the pears"}


def test_an_item_says_where_it_comes_from():
    store = indexed_memory()
    graph = app(store, learner(titles=("one",)))
    graph.invoke({"task": "add two apples"}, config("a"))
    graph.invoke({"task": "add three apples"}, config("b"))
    first, second = MemoryBank(store, ("math", "u1")).items()
    assert second.provenance.thread_id == "b"
    assert second.provenance.judge == "llm"
    assert second.provenance.memory_ids_used == (first.id,)
    assert second.provenance.task_id
    assert second.provenance.checkpoint_id
    assert second.verifier_score == 0.9


def test_without_learning_the_bank_is_read_and_not_written():
    store = indexed_memory()
    app(store).invoke({"task": "add two apples"}, config("a"))
    reader = create_reasoning_bank(solver, namespace=NAMESPACE, learn=False).compile(store=store)
    assert len(reader.invoke({"task": "add four apples"}, config("b"))["memories"]) == 2
    assert MemoryBank(store, ("math", "u1")).totals().items == 2


def test_learning_needs_a_model():
    with pytest.raises(ValueError, match="model"):
        create_reasoning_bank(solver)


def test_one_event_a_step_is_streamed_with_counts_ids_and_milliseconds():
    store = indexed_memory()
    graph = app(store)
    events = list(graph.stream({"task": "add two apples"}, config("a"), stream_mode="custom"))
    assert [event["event"] for event in events] == ["retrieved", "judged", "extracted", "consolidated"]
    assert [event["count"] for event in events] == [0, 1, 2, 2]
    assert events[3]["ids"] == events[2]["ids"] == [item.id for item in MemoryBank(store, ("math", "u1")).items()]
    assert all(event["ms"] >= 0 for event in events)
    assert events[0]["namespace"] == events[3]["namespace"] == ["math", "u1"]


async def test_events_are_streamed_in_async_code_too():
    def facts(events):
        return [{name: fact for name, fact in event.items() if name not in ("ids", "ms")} for event in events]

    asked = ({"task": "add two apples"}, config())
    events = [event async for event in app(indexed_memory()).astream(*asked, stream_mode="custom")]
    assert facts(events) == facts(app(indexed_memory()).stream(*asked, stream_mode="custom"))
    assert [len(event["ids"]) for event in events] == [0, 0, 2, 2]


def test_a_batch_of_tasks_learns_from_each():
    store = indexed_memory()
    tasks = [{"task": f"add {number} apples"} for number in range(5)]
    app(store, learner(titles=("one",))).batch(tasks, [config(f"t{number}") for number in range(5)])
    assert MemoryBank(store, ("math", "u1")).totals() == (5, 5, 5, 0, 0)


def test_a_reference_is_for_the_judge_alone_and_ends_with_its_run():
    seen = []

    def looking(state):
        seen.append(dict(state))
        return {"answer": "\\boxed{4}"}

    graph = create_reasoning_bank(
        looking, model=learner(titles=("one",)), judge=ReferenceJudge(), namespace=NAMESPACE
    ).compile(checkpointer=InMemorySaver(), store=indexed_memory())
    assert graph.invoke({"task": "2 + 2", "reference": "4"}, config())["verdict"]["status"] == "success"
    assert graph.invoke({"task": "2 + 3", "reference": "5"}, config())["verdict"]["status"] == "failure"
    last = graph.invoke({"task": "2 + 4"}, config())
    assert last["verdict"]["reason"] == "no_evidence"
    assert "reference" not in seen[0]


def test_an_old_answer_in_the_thread_is_not_judged_again():
    judged = []

    def judge(attempt):
        judged.append(attempt)
        return Verdict(status="failure", judge="test")

    replies = iter([{"answer": "old", "messages": [AIMessage("old")]}, {"messages": [AIMessage("new")]}])
    graph = app(indexed_memory(), judge=judge, solver=lambda _: next(replies))
    graph.invoke({"task": "one", "messages": [HumanMessage("one")]}, config())
    graph.invoke({"task": "two", "messages": [HumanMessage("two")]}, config())
    assert [attempt.answer for attempt in judged] == ["old", "new"]
    assert [message.text for message in judged[1].messages] == ["two", "new"]


async def test_an_async_judge_function_is_welcome():
    async def judge(attempt):
        return Verdict(status="failure", judge="mine", rationale=attempt.answer)

    result = await app(indexed_memory(), judge=judge).ainvoke({"task": "add"}, config())
    assert result["verdict"]["judge"] == "mine"


def test_the_same_answer_to_the_next_task_is_its_own_and_none_is_none():
    judged, answers = [], iter(["yes", "yes", None])

    def solve(state):
        said = next(answers)
        return {"answer": said, "messages": [AIMessage("It holds, I think.")]} if said else {}

    def check(attempt):
        judged.append(attempt.answer)
        return Verdict(status="success", judge="tests")

    graph = app(indexed_memory(), solver=solve, judge=check)
    results = [graph.invoke({"task": task}, config()) for task in ("is 2 even", "is 4 even", "is 6 even")]
    assert judged == ["yes", "yes"]
    assert [result["answer"] for result in results] == ["yes", "yes", None]
    assert results[2]["verdict"]["status"] == "indeterminate"


def test_an_answer_that_comes_in_with_the_first_task_is_judged():
    judge = ReferenceJudge(lambda reference, answer: answer == reference)
    graph = app(indexed_memory(), solver=lambda state: {}, judge=judge)
    result = graph.invoke({"task": "add two apples", "answer": "4", "reference": "4"}, config())
    assert result["verdict"]["status"] == "success"


SECRETS = {
    "task": "Log in as ann@example.com with password=hunter22x and count",
    "answer": "the key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789",
    "tool": "postgresql://ann:s3cr3tpw@db",
}


def test_no_secret_reaches_the_model_that_distils_or_the_bank():
    store, asked = indexed_memory(), []

    def reply(messages):
        asked.append(messages[-1].text)
        return lessons("check twice")

    def solve(state):
        return {"answer": SECRETS["answer"], "messages": [ToolMessage(SECRETS["tool"], tool_call_id="1")]}

    def judge(attempt):
        return Verdict(status="success", judge="tests", rationale=SECRETS["tool"])

    graph = app(store, ScriptedChatModel(reply), solver=solve, judge=judge)
    graph.invoke({"task": SECRETS["task"]}, config())
    held = json.dumps([row.value for row in store.search(())])
    for secret in ("ann@example.com", "hunter22x", "sk-proj", "s3cr3tpw"):
        assert secret not in asked[0]
        assert secret not in held
    assert "[email removed]" in held
    bank = MemoryBank(store, ("math", "u1"))
    assert bank.search(SECRETS["task"], task_id="another") == []
    assert len(bank.search("log in and count")) == 1

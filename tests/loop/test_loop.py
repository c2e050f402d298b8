"""The whole loop: retrieve, solve, judge, extract, consolidate, on both stores, sync and async."""

import json
import operator
import os
import subprocess
import sys
from typing import Annotated
from uuid import uuid4

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.store.memory import InMemoryStore
from typing_extensions import TypedDict

from reasoningbank_langgraph import (
    MemoryBank,
    ReasoningBankState,
    ReferenceJudge,
    Verdict,
    create_consolidate,
    create_extract,
    create_judge,
    create_reasoning_bank,
    create_retrieve,
)
from reasoningbank_langgraph.errors import (
    InvalidNamespaceLabelError,
    InvalidTaskError,
    MissingNamespaceLabelError,
    MissingStateError,
    MissingStoreError,
)
from reasoningbank_langgraph.namespaces import Filled
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.loop_fakes import indexed_memory, learner, lessons, open_store, solver, verdict

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


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("no verdict here", "unparsed"),
        ("I'm sorry, but I can't help with that.", "refused"),
        (ConnectionError("down"), "error"),
        (AIMessage('{"rationale": "the sum', response_metadata={"finish_reason": "length"}), "truncated"),
    ],
)
def test_an_outage_of_the_judge_mints_nothing(reply, reason):
    store = indexed_memory()
    result = app(store, ScriptedChatModel(lambda _: reply)).invoke({"task": "add"}, config())
    assert result["verdict"]["status"] == "indeterminate"
    assert result["verdict"]["reason"] == reason
    assert result["answer"] == "\\boxed{3}"
    assert result["extraction"]["reason"] == "indeterminate"
    assert MemoryBank(store, ("math", "u1")).items() == []


def test_a_judge_whose_reply_cannot_be_read_is_asked_once_more():
    model = ScriptedChatModel(["hm", verdict("failure"), lessons("one")])
    result = app(indexed_memory(), model).invoke({"task": "add"}, config())
    assert result["verdict"]["status"] == "failure"
    assert len(model.calls) == 3


def test_an_extractor_that_fails_keeps_its_reply_and_the_answer_is_returned():
    model = ScriptedChatModel([verdict(), "nothing useful", "still nothing"])
    result = app(indexed_memory(), model).invoke({"task": "add"}, config())
    assert result["answer"] == "\\boxed{3}"
    assert result["lessons"] == []
    assert result["extraction"]["raw"] == "still nothing"
    assert result["extraction"]["reason"] == "unparsed"


def test_at_most_three_lessons_are_taken_and_none_that_copies_what_was_shown():
    store = indexed_memory()
    model = learner(titles=("a one", "b two", "c three", "d four"), repeats=True)
    app(store, model).invoke({"task": "add two apples"}, config("a"))
    assert MemoryBank(store, ("math", "u1")).totals().items == 3
    result = app(store, learner(titles=("a one", "e five"), repeats=True)).invoke(
        {"task": "add six apples"}, config("b")
    )
    assert [lesson["title"] for lesson in result["lessons"]] == ["e five"]
    assert result["extraction"]["dropped"] == {"copied": 1}


def test_two_lessons_of_one_reply_under_one_title_count_as_one():
    same = [{"title": "Look", "description": "always", "content": f"look {way}"} for way in ("twice", "again")]
    model = ScriptedChatModel([verdict(), json.dumps({"items": same})])
    result = app(indexed_memory(), model).invoke({"task": "add"}, config())
    assert [lesson["content"] for lesson in result["lessons"]] == ["look twice"]
    assert result["extraction"]["dropped"] == {"copied": 1}


@pytest.mark.parametrize("number", ["43c2cd2329b0e1d7", "43C2CD2329B0e1d7"])
def test_the_number_of_a_fence_does_not_get_into_a_lesson(number):
    model = ScriptedChatModel([verdict(), lessons(f"look at task {number} twice")])
    result = app(indexed_memory(), model).invoke({"task": "add"}, config())
    assert result["lessons"][0]["title"] == "look at task twice"


def test_lessons_that_retell_the_task_are_asked_for_once_more_without_its_details():
    model = ScriptedChatModel([verdict(), lessons("add 27 apples"), lessons("add what is there")])
    result = app(indexed_memory(), model).invoke({"task": "Ann has 27 apples. How many?"}, config())
    assert [lesson["title"] for lesson in result["lessons"]] == ["add what is there"]
    assert "Ann has 27 apples" in model.calls[1][-1].text
    assert "someone has N apples" in model.calls[2][-1].text
    assert "Ann" not in model.calls[2][-1].text


def test_a_model_that_returns_nothing_gives_an_indeterminate_verdict():
    store = indexed_memory()
    result = app(store, solver=lambda _: {"answer": ""}).invoke({"task": "add"}, config())
    assert result["verdict"]["reason"] == "no_evidence"
    assert MemoryBank(store, ("math", "u1")).items() == []


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


def test_a_graph_with_other_channel_names_says_so():
    def answering(state):
        assert state["question"]
        return {"result": "12"}

    judged = []

    def judge(attempt):
        judged.append((attempt.task, attempt.answer))
        return Verdict(status="success", judge="test")

    store = indexed_memory()
    graph = app(store, solver=answering, task="question", answer="result", judge=judge)
    assert graph.invoke({"question": "3 * 4"}, config())["result"] == "12"
    assert judged == [("3 * 4", "12")]


class OwnState(TypedDict, total=False):
    case: dict
    log: Annotated[list[str], operator.add]


def test_a_function_may_find_the_task_in_a_state_of_ones_own():
    def work(state):
        return {"log": [state["case"]["text"]], "answer": "done"}

    store = indexed_memory()
    graph = app(store, solver=work, task=lambda state: state["case"]["text"], state_schema=OwnState)
    result = graph.invoke({"case": {"text": "sort the list"}, "log": ["start"]}, config())
    assert result["log"] == ["start", "sort the list"]
    assert MemoryBank(store, ("math", "u1")).items()[0].task == "sort the list"


class Said(TypedDict, total=False):
    task: str
    said: object


@pytest.mark.parametrize("said", [AIMessage("so it is 4"), {"role": "ai", "content": "so it is 4"}])
def test_one_message_alone_is_a_conversation(said):
    judged = []

    def check(attempt):
        judged.extend(message.text for message in attempt.messages)
        return Verdict(status="success", judge="tests")

    built = app(
        indexed_memory(),
        solver=lambda state: {"said": said},
        judge=check,
        messages=lambda state: state.get("said"),
        state_schema=Said,
    )
    built.invoke({"task": "add two apples"}, config())
    assert judged == ["so it is 4"]


def test_a_solver_that_keeps_only_the_last_exchange_is_judged_by_its_own_answer():
    answers = []

    def solve(state):
        *old, asked = state["messages"]
        gone = [RemoveMessage(id=message.id) for message in old]
        return {"messages": [*gone, AIMessage(f"{asked.text} is done")]}

    def check(attempt):
        answers.append((attempt.answer, [message.text for message in attempt.messages]))
        return Verdict(status="success", judge="tests")

    graph = app(indexed_memory(), solver=solve, judge=check, task="messages")
    for task in ("one", "two", "three"):
        graph.invoke({"messages": [("user", task)]}, config())
    assert answers == [(f"{task} is done", [task, f"{task} is done"]) for task in ("one", "two", "three")]


def test_a_compiled_graph_may_be_the_solver():
    class Inner(TypedDict, total=False):
        task: str
        memory_prompt: str
        answer: str

    inner = StateGraph(Inner)
    inner.add_node("think", lambda state: {"answer": state["task"].upper()})
    inner.add_edge(START, "think")
    assert app(indexed_memory(), solver=inner.compile()).invoke({"task": "abc"}, config())["answer"] == "ABC"


@tool
def multiply(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b


class AgentState(MessagesState):
    """A state that knows nothing of memory."""

    budget: int


def react_graph(model, memory_model, store):
    """A ReAct agent with tools, into which the four nodes are dropped; only its prompt looks at the memory."""
    prompts = []

    def agent(state: AgentState):
        return {"messages": [model.invoke(state["messages"])], "budget": state["budget"] - 1}

    class Remembering(TypedDict):
        messages: list
        memory_prompt: str
        budget: int

    def remembering_agent(state: Remembering):
        hints = [HumanMessage(state["memory_prompt"])] if state["memory_prompt"] else []
        prompts.append([*hints, *state["messages"]])
        return {"messages": [model.invoke(prompts[-1])], "budget": state["budget"] - 1}

    builder = StateGraph(AgentState)
    builder.add_node("retrieve", create_retrieve(namespace="agents", task="messages"))
    builder.add_node("agent", remembering_agent)
    builder.add_node("tools", ToolNode([multiply]))
    builder.add_node("judge", create_judge(memory_model, task="messages"))
    builder.add_node("extract", create_extract(memory_model, task="messages"))
    builder.add_node("consolidate", create_consolidate(namespace="agents"))
    builder.add_edge(START, "retrieve")
    builder.add_edge("retrieve", "agent")
    builder.add_conditional_edges("agent", tools_condition, {"tools": "tools", END: "judge"})
    builder.add_edge("tools", "agent")
    builder.add_edge("judge", "extract")
    builder.add_edge("extract", "consolidate")
    return builder.compile(checkpointer=InMemorySaver(), store=store), prompts


def test_the_nodes_drop_into_a_react_agent_with_tools_and_a_state_of_its_own():
    call = AIMessage("", tool_calls=[{"name": "multiply", "args": {"a": 6, "b": 7}, "id": "1"}])
    model = ScriptedChatModel([call, AIMessage("42"), AIMessage("56")])
    memory_model = learner(titles=("use the tool",))
    store = indexed_memory()
    graph, prompts = react_graph(model, memory_model, store)
    first = graph.invoke({"messages": [HumanMessage("what is 6 times 7?")], "budget": 9}, config("a"))
    assert [type(message) for message in first["messages"]] == [HumanMessage, AIMessage, ToolMessage, AIMessage]
    assert first["budget"] == 7
    (item,) = MemoryBank(store, "agents").items()
    assert (item.title, item.task) == ("use the tool", "what is 6 times 7?")
    assert "multiply" in memory_model.calls[0][1].text
    second = graph.invoke({"messages": [HumanMessage("what is 7 times 8?")], "budget": 9}, config("b"))
    assert "use the tool" in prompts[-1][0].text
    assert "use the tool" not in str(second["messages"])


def test_a_node_whose_channels_are_missing_says_which_and_what_to_do():
    builder = StateGraph(OwnState)
    builder.add_node("extract", create_extract(learner(), task=lambda state: "x"))
    builder.add_edge(START, "extract")
    with pytest.raises(MissingStateError, match=r"'verdict'.*'judge'"):
        builder.compile().invoke({"log": []})


@pytest.mark.parametrize("task", ["", "   \n", "\u200b", None, 7, "x" * 1_000_000])
def test_a_task_that_cannot_be_worked_on_is_refused_and_the_bank_stays_as_it_was(task):
    store = indexed_memory()
    graph = app(store)
    graph.invoke({"task": "add two apples"}, config("a"))
    before = MemoryBank(store, ("math", "u1")).items()
    with pytest.raises(InvalidTaskError):
        graph.invoke({"task": task}, config("b"))
    assert MemoryBank(store, ("math", "u1")).items() == before


def test_a_missing_label_raises_and_names_what_is_there():
    with pytest.raises(MissingNamespaceLabelError, match=r"'user_id'.*thread_id"):
        app(indexed_memory()).invoke({"task": "add"}, {"configurable": {"thread_id": "t"}})


@pytest.mark.parametrize("user", ["a.b", "", "nul\x00", 1.5, True])
def test_a_label_that_stores_refuse_is_refused_by_name(user):
    with pytest.raises(InvalidNamespaceLabelError):
        app(indexed_memory()).invoke({"task": "add"}, config(user=user))


@pytest.mark.parametrize("namespace", [(), ("langgraph",), ("a", ""), ("a.b",), ("a", 1)])
def test_a_namespace_that_stores_refuse_is_refused_when_the_graph_is_built(namespace):
    with pytest.raises(InvalidNamespaceLabelError):
        create_retrieve(namespace=namespace)


def test_numbers_are_fine_as_labels():
    store = indexed_memory()
    app(store).invoke({"task": "add"}, config(user=7))
    assert MemoryBank(store, ("math", "7")).totals().items == 2


def test_a_graph_without_a_store_says_how_to_give_it_one():
    graph = create_reasoning_bank(solver, model=learner()).compile()
    with pytest.raises(MissingStoreError, match=r"compile\(store="):
        graph.invoke({"task": "add"})


def test_a_store_without_an_index_returns_the_newest_and_says_so():
    store = InMemoryStore()
    graph = app(store)
    graph.invoke({"task": "add two apples"}, config("a"))
    result = graph.invoke({"task": "count the pears"}, config("b"))
    assert len(result["memories"]) == 2
    assert {memory["score"] for memory in result["memories"]} == {None}
    assert "no index" in result["memories"][0]["why"]


@pytest.mark.slow
def test_the_state_is_plain_data_so_strict_checkpoints_take_it():
    code = (
        "from tests.loop.test_loop import app, config; from tests.loop_fakes import indexed_memory;"
        "graph = app(indexed_memory());"
        "graph.invoke({'task': 'add two apples'}, config('a'));"
        "graph.invoke({'task': 'add four apples'}, config('a'));"
        "print(len(graph.get_state(config('a')).values['written']))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true"},
    )
    assert (done.stdout.strip(), done.stderr) == ("4", "")


def test_the_channels_of_the_loop_are_json():
    result = app(indexed_memory()).invoke({"task": "add two apples"}, config("a"))
    result.pop("messages")
    assert json.loads(json.dumps(result)) == result


@pytest.mark.parametrize(
    "label", ["{user-id}", "{user id}", "{ user_id }", "{}", "{user_id!r}", "{user_id", "user_id}", "x{a}{b"]
)
def test_a_brace_that_is_no_placeholder_is_refused_and_no_shared_bank(label):
    with pytest.raises(InvalidNamespaceLabelError, match="not part of a placeholder"):
        create_reasoning_bank(solver, model=learner(), namespace=("math", label))


@pytest.mark.parametrize("user", ["{other}", "{", "a b}", "{}"])
def test_braces_in_a_value_are_text(user):
    store = indexed_memory()
    app(store).invoke({"task": "add two apples"}, config(user=user))
    assert {row.namespace for row in store.search(())} == {("math", user)}
    assert MemoryBank(store, Filled(("math", user))).totals().experiences == 1


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

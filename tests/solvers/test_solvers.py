"""An agent as solver sees the task and the lessons; of lessons that were not shown, nobody says that they were."""

import warnings
from itertools import pairwise

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_model_call
from langchain_core.messages import AIMessage, HumanMessage, merge_message_runs
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from reasoningbank_langgraph import create_matts, create_reasoning_bank
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.loop_fakes import indexed_memory, learner

FIRST, SECOND = "what is two and three?", "what is two and four?"
NOTES = "Below are notes"


class Chat(ScriptedChatModel):
    def bind_tools(self, tools, **options):
        return self.bind()


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def calls_a_tool(messages):
    if messages[-1].type == "tool":
        return AIMessage(f"It is {messages[-1].text}.")
    return AIMessage("", tool_calls=[{"name": "add", "args": {"a": 2, "b": 3}, "id": "1"}])


def react_agent(chat, tools):
    from langgraph.prebuilt import create_react_agent

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return create_react_agent(chat, tools)


def plain_graph(chat, tools):
    builder = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [chat.invoke(state["messages"])]})
    builder.add_edge(START, "model")
    return builder.compile()


def with_a_limit(chat, tools):
    return create_agent(chat, tools).with_config(recursion_limit=50)


AGENTS = pytest.mark.parametrize("make", [create_agent, react_agent, plain_graph, with_a_limit])


def app(solver, store, build=create_reasoning_bank, **options):
    graph = build(solver, model=learner(titles=("use the tool",)), **options)
    return graph.compile(checkpointer=InMemorySaver(), store=store)


def config(thread="t"):
    return {"configurable": {"thread_id": thread}}


def seen(chat):
    return [[(message.type, message.text[: len(NOTES)]) for message in messages] for messages in chat.calls]


def history(result):
    return [message.text for message in result["messages"] if message.text]


@AGENTS
@pytest.mark.parametrize("build", [create_reasoning_bank, create_matts])
@pytest.mark.parametrize("given", ["task", "messages", "both"])
def test_an_agent_sees_the_task_and_before_it_the_lessons_which_do_not_stay(make, build, given):
    chat, store = Chat(lambda _: AIMessage("five")), indexed_memory()
    options = {"task": "messages"} if given == "messages" else {}
    graph = app(make(chat, []), store, build, **options)

    def ask(task, thread):
        both = {"task": task, "messages": [HumanMessage(task)]}
        return graph.invoke({name: both[name] for name in ([given] if given != "both" else both)}, config(thread))

    first = ask(FIRST, "1")
    assert seen(chat)[0] == [("human", FIRST[: len(NOTES)])]
    assert history(first) == [FIRST, "five"]
    asked = len(chat.calls)
    second = ask(SECOND, "2")
    assert seen(chat)[asked] == [("human", NOTES), ("human", SECOND[: len(NOTES)])]
    assert history(second) == [SECOND, "five"]
    (shown,) = [memory["item"]["id"] for memory in second["memories"]]
    assert second["lessons"][0]["provenance"]["memory_ids_used"] == [shown]


@AGENTS
async def test_so_it_does_in_async_code(make):
    chat, store = Chat(lambda _: AIMessage("five")), indexed_memory()
    graph = app(make(chat, []), store)
    await graph.ainvoke({"task": FIRST}, config("1"))
    updates = [update async for update in graph.astream({"task": SECOND}, config("2"), stream_mode="updates")]
    assert seen(chat)[1] == [("human", NOTES), ("human", SECOND[: len(NOTES)])]
    assert NOTES not in str([update.get("solve") for update in updates])


def test_in_a_conversation_each_task_is_asked_once_in_its_place():
    chat, store = Chat(lambda messages: AIMessage(f"answer {len(messages)}")), indexed_memory()
    graph = app(create_agent(chat, []), store)
    graph.invoke({"task": "something else"}, config("0"))
    for task in (FIRST, SECOND):
        result = graph.invoke({"task": task}, config())
    assert history(result) == [FIRST, "answer 2", SECOND, "answer 4"]
    assert [text for _, text in seen(chat)[-1]] == [FIRST[:15], "answer 2", NOTES, SECOND[:15]]


def test_what_the_agent_did_is_shown_to_judge_and_extractor():
    chat, judge = Chat(calls_a_tool), learner()
    graph = create_reasoning_bank(create_agent(chat, [add]), model=judge).compile(store=indexed_memory())
    assert history(graph.invoke({"task": FIRST})) == [FIRST, "5", "It is 5."]
    for messages in judge.calls:
        assert FIRST in messages[1].text
        assert 'calls add({"a": 2, "b": 3})' in messages[1].text


@pytest.mark.parametrize("build", [create_reasoning_bank, create_matts])
async def test_the_users_stream_holds_what_the_agent_says_and_nothing_that_it_was_told(build):
    store = indexed_memory()
    graph = app(create_agent(Chat(calls_a_tool), [add]), store, build)
    graph.invoke({"task": FIRST}, config("1"))
    parts = graph.stream({"task": SECOND}, config("2"), stream_mode="messages")
    assert {message.type for message, _ in parts} <= {"ai", "tool", "AIMessageChunk"}
    parts = [part async for part in graph.astream({"task": "more"}, config("3"), stream_mode="messages")]
    assert any(message.text == "It is 5." for message, _ in parts)
    parts = graph.stream({"task": "again"}, config("4"), stream_mode="messages", subgraphs=True)
    assert "It is 5." in [message.text for _, (message, _) in parts]


@tool
def ask(question: str) -> str:
    """Ask a person."""
    return interrupt(question)


def asks_a_person(messages):
    if messages[-1].type == "tool":
        return AIMessage(f"done {messages[-1].text}")
    return AIMessage("", tool_calls=[{"name": "ask", "args": {"question": "sure?"}, "id": "1"}])


async def test_an_agent_that_asks_a_person_goes_on_where_it_was():
    store, chat = indexed_memory(), Chat(asks_a_person)
    graph = app(create_agent(chat, [ask]), store)
    assert graph.invoke({"task": FIRST}, config("1"))["__interrupt__"][0].value == "sure?"
    inner = graph.get_state(config("1"), subgraphs=True).tasks[0].state
    assert [message.type for message in inner.values["messages"]] == ["human", "ai"]
    assert history(graph.invoke(Command(resume="yes"), config("1"))) == [FIRST, "yes", "done yes"]
    assert len(chat.calls) == 2
    await graph.ainvoke({"task": SECOND}, config("2"))
    result = await graph.ainvoke(Command(resume="no"), config("2"))
    assert history(result) == [SECOND, "no", "done no"]
    assert len(chat.calls) == 4
    assert NOTES in chat.calls[2][0].text


def test_what_an_agent_sums_up_is_summed_up_in_the_conversation():
    from langchain.agents.middleware import SummarizationMiddleware

    summing = SummarizationMiddleware(Chat(lambda _: "in short"), trigger=("messages", 4), keep=("messages", 2))
    chat, store = Chat(lambda _: AIMessage("five")), indexed_memory()
    graph = app(create_agent(chat, [], middleware=[summing]), store)
    tasks = [f"how long is {name}?" for name in "abcd"]
    for task in tasks:
        result = graph.invoke({"task": task}, config())
    assert history(result)[-2:] == [tasks[-1], "five"]
    assert len(history(result)) == len(result["messages"]) <= 4
    assert [message.text for message in chat.calls[-1]][-1] == tasks[-1]
    assert len(result["lessons"]) == 1


def test_a_graph_with_a_channel_for_lessons_shows_them_itself():
    class Showing(MessagesState):
        memory_prompt: str

    chat, store = Chat(lambda _: AIMessage("five")), indexed_memory()
    builder = StateGraph(Showing)

    def model(state: Showing):
        return {"messages": [chat.invoke([("system", state["memory_prompt"] or "none"), *state["messages"]])]}

    builder.add_node("model", model)
    builder.add_edge(START, "model")
    graph = app(builder.compile(), store)
    for task in (FIRST, SECOND):
        graph.invoke({"task": task}, config(task))
    assert seen(chat)[1] == [("system", NOTES), ("human", SECOND[: len(NOTES)])]


def test_an_agent_that_checks_goes_on_with_the_conversation_and_its_lessons():
    chat, store = Chat(lambda _: AIMessage("five")), indexed_memory()
    agent = create_agent(chat, [])
    app(agent, store).invoke({"task": FIRST}, config("1"))
    graph = app(agent, store, create_matts, k=2, mode="sequential", refiner=agent)
    assert graph.invoke({"task": SECOND}, config("2"))["answer"] == "five"
    assert [kind for kind, _ in seen(chat)[-1]] == ["human", "human", "ai", "human"]
    assert [text for _, text in seen(chat)[-1]][:2] == [NOTES, SECOND[: len(NOTES)]]


def takes_turns(messages):
    roles = [message.type for message in messages if message.type != "system"]
    assert roles[0] == "human", roles
    assert all(before != after for before, after in pairwise(roles)), roles
    return f"the answer is {len(roles)}"


def joining_node(chat):
    def solve(state):
        lessons = [HumanMessage(state["memory_prompt"])] if state["memory_prompt"] else []
        return {"messages": [chat.invoke(merge_message_runs([*lessons, *state["messages"]]))]}

    return solve


def joining_agent(chat):
    @wrap_model_call
    def joined(request, handler):
        return handler(request.override(messages=merge_message_runs(request.messages)))

    return create_agent(chat, middleware=[joined])


@pytest.mark.parametrize("solver_of", [joining_node, joining_agent])
@pytest.mark.parametrize(
    "build", [create_reasoning_bank, lambda solver, **given: create_matts(solver, k=3, mode="both", **given)]
)
def test_a_model_that_wants_roles_to_take_turns_gets_them_joined_in_every_turn(solver_of, build):
    chat = Chat(takes_turns)
    app = build(solver_of(chat), model=learner()).compile(checkpointer=InMemorySaver(), store=indexed_memory())
    for asked in (FIRST, SECOND, "what is two and five?"):
        app.invoke({"messages": [HumanMessage(asked)]}, {"configurable": {"thread_id": "t"}})
    assert any(NOTES in message.text for message in chat.calls[-1])
    assert asked in chat.calls[-1][-1].text

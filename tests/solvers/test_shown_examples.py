"""An agent is shown an example before the task, in messages that do not stay in its conversation."""

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

from reasoningbank_langgraph import create_matts, create_reasoning_bank
from tests.loop_fakes import indexed_memory
from tests.solvers.test_solvers import AGENTS, FIRST, NOTES, SECOND, Chat, add, app, calls_a_tool, config, history, seen

BUILDS = pytest.mark.parametrize("build", [create_reasoning_bank, create_matts])


@AGENTS
@BUILDS
@pytest.mark.parametrize("show", ["examples", "both"])
def test_an_agent_is_shown_the_example_before_the_task_and_keeps_none_of_it(make, build, show):
    chat = Chat(lambda _: AIMessage("It is 5."))
    options = {"k": 1} if build is create_matts else {}
    graph = app(make(chat, [add]), indexed_memory(), build, show=show, **options)
    graph.invoke({"task": FIRST}, config("one"))
    for turn in (1, 2):
        before = len(chat.calls)
        result = graph.invoke({"task": SECOND}, config("two"))
        notes = [("human", NOTES)] if show == "both" else []
        earlier = [("human", SECOND[: len(NOTES)]), ("ai", "It is 5.")] * (turn - 1)
        example = [("human", FIRST[: len(NOTES)]), ("ai", "It is 5.")]
        assert seen(chat)[before] == [*earlier, *example, *notes, ("human", SECOND[: len(NOTES)])]
        assert history(result) == [SECOND, "It is 5."] * turn


async def test_what_an_agent_is_shown_is_not_streamed_in_async_code_either():
    chat = Chat(calls_a_tool)
    from langchain.agents import create_agent

    graph = app(create_agent(chat, [add]), indexed_memory(), show="examples")
    await graph.ainvoke({"task": FIRST}, config("one"))
    texts = [
        message.text
        async for _, (message, _) in graph.astream(
            {"task": SECOND}, config("two"), stream_mode="messages", subgraphs=True
        )
    ]
    assert chat.calls[-1][0].text == FIRST
    assert FIRST not in texts


def test_an_agent_with_a_channel_for_examples_shows_them_itself():
    class Own(MessagesState):
        memory_messages: list

    asked = []

    def model(state):
        asked.append([*state["memory_messages"], *state["messages"]])
        return {"messages": [AIMessage("It is 5.")]}

    builder = StateGraph(Own)
    builder.add_node("model", model)
    builder.add_edge(START, "model")
    graph = app(builder.compile(), indexed_memory(), show="examples")
    graph.invoke({"task": FIRST}, config("one"))
    graph.invoke({"task": SECOND}, config("two"))
    assert [message if isinstance(message, dict) else message.text for message in asked[1]] == [
        {"role": "user", "content": FIRST},
        {"role": "assistant", "content": "It is 5."},
        SECOND,
    ]

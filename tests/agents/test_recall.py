"""An agent that asks for lessons itself: what it is told, whose lessons they are, and what is known of it later."""

import pytest
from langchain.agents import AgentState, create_agent
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph import (
    Guard,
    MemoryBank,
    ReasoningBankMiddleware,
    create_reasoning_bank,
    create_recall_tool,
    errors,
)
from reasoningbank_langgraph.text import parse_rendered
from tests.agents.agent_fakes import BANK, agent, bank, bank_with, call, lesson, replies, say, thread, titles
from tests.loop_fakes import Switched, indexed_memory, learner

ASKS = call("recall_lessons", query="measure a length")


def recalling(store, *script, memory=None, **settings):
    model = replies(*(script or (ASKS, "3 m")))
    tool = create_recall_tool(namespace=BANK, **settings)
    memory = memory or ReasoningBankMiddleware(model=learner(), namespace=BANK, use=False)
    return model, agent(model, store=store, memory=memory, tools=[tool])


@pytest.mark.parametrize("is_async", [False, True])
async def test_the_lessons_come_as_the_result_of_the_tool_in_a_fence(is_async):
    model, app = recalling(bank_with())
    given = (say("How long is this table?"), thread())
    result = await app.ainvoke(*given) if is_async else app.invoke(*given)
    told = result["messages"][2]
    assert [found["title"] for found in parse_rendered(told.text)] == ["check the units"]
    assert told.artifact["reasoningbank"][0]["item"]["title"] == "check the units"
    assert told.text == model.calls[1][2].text


def test_a_tool_outside_a_graph_needs_a_store_and_finds_the_bank_of_the_tenant():
    store = indexed_memory()
    MemoryBank(store, ("agents", "u1")).add([lesson()])
    tool = create_recall_tool(namespace=("agents", "{user_id}"), store=store)
    asked = {"query": "measure a length"}
    assert "check the units" in tool.invoke(asked, {"configurable": {"user_id": "u1"}})
    assert tool.invoke(asked, {"configurable": {"user_id": "u2"}}) == "No lessons fit."
    with pytest.raises(errors.MissingNamespaceLabelError, match="user_id"):
        tool.invoke(asked)
    with pytest.raises(errors.MissingStoreError, match="recall_lessons"):
        create_recall_tool(namespace=BANK).invoke(asked)


def test_only_lessons_that_the_tool_was_made_for_are_found():
    store = bank_with(lesson(tags=("lengths",)), lesson("weigh it twice", tags=("weights",)))
    tool = create_recall_tool(namespace=BANK, store=store, where={"tags": "weights"})
    assert [found["title"] for found in parse_rendered(tool.invoke({"query": "measure"}))] == ["weigh it twice"]
    with pytest.raises(ValueError, match="where"):
        create_recall_tool(namespace=BANK, where={"level": 3})


def test_a_tenant_named_by_the_context_of_an_agent_is_found_too():
    store = indexed_memory()
    MemoryBank(store, ("agents", "u1")).add([lesson()])
    tool = create_recall_tool(namespace=("agents", "{user_id}"))
    app = create_agent(replies(ASKS, "3 m"), [tool], store=store)
    result = app.invoke(say("How long?"), context={"user_id": "u1"})
    assert "check the units" in result["messages"][2].text


def test_k_experiences_are_looked_up_and_no_more_lessons_shown_than_wanted():
    store = bank_with(*(lesson(f"count the {thing}") for thing in ("apples", "pears", "plums", "figs")))
    tool = create_recall_tool(namespace=BANK, store=store)
    assert tool.invoke({"query": "count"}).count("title: ") == 3
    assert create_recall_tool(namespace=BANK, store=store, max_items=2).invoke({"query": "count"}).count("title: ") == 2
    assert create_recall_tool(namespace=BANK, store=store, min_score=1).invoke({"query": "swim"}) == "No lessons fit."


def test_lessons_of_the_task_at_hand_are_not_recalled():
    store = bank_with(lesson(task="How long is this table?"))
    memory = ReasoningBankMiddleware(model=learner(), namespace=BANK)
    model, app = recalling(store, memory=memory)
    app.invoke(say("How long is this table?"), thread())
    assert model.calls[1][2].text == "No lessons fit."


def test_what_was_recalled_is_known_as_used_and_no_part_of_the_attempt():
    store = bank_with()
    seen = []
    memory = ReasoningBankMiddleware(
        model=learner(), namespace=BANK, use=False, judge=lambda attempt: bool(seen.append(attempt)) or True
    )
    recalling(store, memory=memory)[1].invoke(say("How long is this table?"), thread())
    first, *learned = bank(store).items()
    assert {item.provenance.memory_ids_used for item in learned} == {(first.id,)}
    assert [message.text for message in seen[0].messages if message.role == "tool"] == ["(notes from earlier attempts)"]
    assert bank(store).forget(first.id) == [first.id, *(item.id for item in learned)]


def test_an_agent_that_recalls_is_the_same_attempt_when_it_is_replayed():
    store = bank_with()
    app = recalling(store, ASKS, "3 m", ASKS, "3 m")[1]
    app.invoke(say("How long is this table?"), thread())
    start = next(state for state in app.get_state_history(thread()) if state.next == ("__start__",))
    before = titles(store)
    app.invoke(None, start.config)
    assert titles(store) == before
    assert len(bank(store).episodes()) == 1


def test_a_turn_that_the_guard_wants_without_memory_does_not_count_if_the_agent_asks_for_some():
    store = bank_with()
    memory = ReasoningBankMiddleware(model=learner(), namespace=BANK, guard=Guard(share=0.999))
    recalling(store, memory=memory)[1].invoke(say("How long is this table?"), thread())
    status = bank(store).guard()
    assert (status.shown, status.held_out) == (0, 0)


def test_an_agent_in_the_loop_that_recalls_is_known_to_have_done_so():
    store = bank_with()
    inner = create_agent(replies(ASKS, "3 m"), [create_recall_tool(namespace=BANK)])
    app = create_reasoning_bank(inner, model=learner(), namespace=BANK, min_score=1).compile(store=store)
    app.invoke({"task": "How long is this table?"})
    first, *learned = bank(store).items()
    assert {item.provenance.memory_ids_used for item in learned} == {(first.id,)}


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_store_that_cannot_be_reached_is_said_to_the_model(is_async):
    store = Switched()
    store.reads = ConnectionError("refused")
    tool = create_recall_tool(namespace=BANK, store=store)
    asked = {"query": "measure"}
    told = await tool.ainvoke(asked) if is_async else tool.invoke(asked)
    assert told == "The lessons cannot be reached now. Go on without them."


def test_an_error_that_is_no_outage_is_raised():
    store = Switched()
    store.reads = RuntimeError("broken")
    with pytest.raises(RuntimeError, match="broken"):
        create_recall_tool(namespace=BANK, store=store).invoke({"query": "measure"})


def test_channels_of_an_agent_that_have_the_names_of_the_loops_are_its_own():
    class Own(AgentState):
        attempt: int
        pending: list[str]
        lessons: list[str]

    tool = create_recall_tool(namespace=BANK)
    app = create_agent(replies(ASKS, "3 m"), [tool], store=bank_with(), state_schema=Own)
    result = app.invoke({**say("How long is it?"), "attempt": 3, "pending": ["a"], "lessons": ["b"]})
    assert "check the units" in result["messages"][2].text


def test_a_mistake_in_the_arguments_is_named_at_once():
    with pytest.raises(ValueError, match="at least 1"):
        create_recall_tool(namespace=BANK, k=0)
    with pytest.raises(errors.InvalidNamespaceLabelError):
        create_recall_tool(namespace="a.b", store=InMemoryStore())

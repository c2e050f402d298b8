"""Fakes shared by the tests of memory for agents: models that call tools, a bank with lessons, an agent around them."""

from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver

from reasoningbank_langgraph import MemoryBank, MemoryItem, ReasoningBankMiddleware
from reasoningbank_langgraph.testing import ScriptedToolModel
from tests.loop_fakes import indexed_memory, learner

BANK = ("agents",)
FENCE = "=== begin notes"


def call(name, call_id="c1", **args):
    """A reply that calls one tool."""
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": call_id}])


def lesson(title="check the units", outcome="success", task="How long is the rope?", **fields):
    content = f"Before the answer, {title}."
    return MemoryItem(
        title=title, description=f"When to {title}", content=content, outcome=outcome, task=task, **fields
    )


def bank_with(*items, store=None):
    """A store whose bank holds these lessons, each of an experience of its own."""
    store = store or indexed_memory()
    for item in items or (lesson(),):
        MemoryBank(store, BANK).add([item])
    return store


def agent(model, *, store, tools=(), memory=None, also=(), saver=True, **settings):
    """An agent with a memory whose judge finds everything a success."""
    middleware = [memory or ReasoningBankMiddleware(model=learner(), namespace=BANK), *also]
    return create_agent(
        model,
        list(tools),
        middleware=middleware,
        store=store,
        checkpointer=InMemorySaver() if saver else None,
        **settings,
    )


def replies(*script):
    return ScriptedToolModel(list(script))


def thread(name="t1", **labels):
    return {"configurable": {"thread_id": name, **labels}}


def say(text):
    return {"messages": [("user", text)]}


def bank(store, namespace=BANK):
    return MemoryBank(store, namespace)


def titles(store, namespace=BANK):
    return [item.title for item in bank(store, namespace).items()]

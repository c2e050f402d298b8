"""Threads of graphs that never knew this package, and what is learned from them."""

import itertools
from datetime import UTC, datetime

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from reasoningbank_langgraph import MemoryBank, learn_from_threads
from reasoningbank_langgraph.namespaces import HEADS, LEDGER, THREADS
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.loop_fakes import indexed_memory, lessons, verdict

NAMESPACE = ("math", "{user_id}")
EVER = datetime(2020, 1, 1, tzinfo=UTC)
BESIDE = (THREADS, LEDGER, HEADS)
ADVICE = itertools.cycle(("write it down", "look at the signs", "sort first", "estimate first", "name the unknown"))


def said(messages):
    """What a model is asked, whole."""
    return "\n".join(message.text for message in messages)


def teacher(status="success", fails=lambda question: None):
    """A model that judges and distils, each lesson with a title of its own; `fails` may return an error to raise."""

    def reply(messages):
        if error := fails(said(messages)):
            return error
        return verdict(status) if "You check whether" in messages[0].text else lessons(next(ADVICE))

    return ScriptedChatModel(reply)


def answering(state):
    return {"messages": [AIMessage(f"the answer to {state['messages'][-1].text}")]}


def chat(node=answering, **options):
    """A graph of messages with one node."""
    builder = StateGraph(MessagesState)
    builder.add_node("answer", node)
    builder.add_edge(START, "answer")
    return builder.compile(**options)


def config(thread="t1", user="ann"):
    return {"configurable": {"thread_id": thread, **({"user_id": user} if user else {})}}


def ask(graph, *questions, thread="t1", user="ann"):
    for question in questions:
        graph.invoke({"messages": [("user", question)]}, config(thread, user))


def using_a_tool(state):
    call = {"name": "add", "args": {"a": 2, "b": 3}, "id": f"c{len(state['messages'])}"}
    return {
        "messages": [
            AIMessage("I add them.", tool_calls=[call]),
            ToolMessage("5", tool_call_id=call["id"], name="add"),
            AIMessage("The sum is 5."),
        ]
    }


class Past:
    """A checkpointer and a bank."""

    def __init__(self, saver=None, store=None):
        self.saver, self.store = saver or InMemorySaver(), store or indexed_memory()
        self.model = teacher()

    def learn(self, graph=None, **settings):
        settings = {"model": self.model, "namespace": NAMESPACE, **settings}
        return learn_from_threads(graph, checkpointer=self.saver, store=self.store, **settings)

    def bank(self, user="ann"):
        return MemoryBank(self.store, ("math", user))

    def tasks(self, user="ann"):
        return [item.task for item in self.bank(user).items()]

    def rows(self):
        """Every row of the store but the marks and the ledger."""
        found = self.store.search((), limit=1_000)
        return sorted((row.namespace, row.key) for row in found if not row.namespace[-1].endswith(BESIDE))

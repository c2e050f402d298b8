"""A program of a user who has every type checked."""

from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph import (
    Attempt,
    EnsembleJudge,
    LLMJudge,
    MemoryBank,
    MemoryItem,
    ReasoningBankMiddleware,
    ReasoningBankState,
    ReferenceJudge,
    Scaling,
    Verdict,
    create_consolidate,
    create_extract,
    create_judge,
    create_matts,
    create_reasoning_bank,
    create_recall_tool,
    create_retrieve,
    remembering,
)
from reasoningbank_langgraph.testing import ScriptedChatModel

chat = ScriptedChatModel(["no reply"])
config: RunnableConfig = {"configurable": {"thread_id": "t", "user_id": "ann"}}


class State(MessagesState, ReasoningBankState):
    budget: int


class Turned(ReasoningBankState, MessagesState):
    pass


class Own(ReasoningBankState):
    budget: int


def agent(state: State) -> dict[str, Any]:
    prompt = state.get("memory_prompt")
    lessons = [HumanMessage(prompt)] if prompt else []
    return {"messages": [chat.bind(max_tokens=100).invoke([*lessons, *state["messages"]])]}


builder = StateGraph(State)
builder.add_node("retrieve", create_retrieve(namespace="agent", task="messages"))
builder.add_node("agent", agent)
builder.add_node("judge", create_judge(chat, task="messages"))
builder.add_node("extract", create_extract(chat, task="messages"))
builder.add_node("consolidate", create_consolidate(namespace="agent"))
builder.add_edge(START, "retrieve")
app = builder.compile(checkpointer=InMemorySaver(), store=InMemoryStore())
app.invoke({"messages": [HumanMessage("What is 2 + 3?")], "budget": 1}, config)
StateGraph(Own).compile().invoke({"task": "What is 2 + 3?", "budget": 1})


def solver(state: State) -> dict[str, Any]:
    return {"answer": state.get("task")}


def right(attempt: Attempt) -> bool:
    return attempt.answer == "4"


async def awaited(attempt: Attempt) -> Verdict:
    return Verdict(status="success" if right(attempt) else "failure", confidence=1)


def configured(attempt: Attempt, config: RunnableConfig) -> bool:
    return "thread_id" in config.get("configurable", {})


create_reasoning_bank(solver, model=chat, judge=right)
create_reasoning_bank(solver, model=chat, judge=awaited, namespace=("math", "{user_id}"))
create_reasoning_bank(solver, model=chat, judge=configured, scaling=Scaling(k=3, mode="both"))
create_reasoning_bank(solver, model=chat, judge=lambda attempt: attempt.answer == "4")
create_reasoning_bank(solver, model=chat.bind(delay=0), judge=EnsembleJudge([ReferenceJudge(), LLMJudge(chat), right]))
create_reasoning_bank(solver, model="openai:gpt-4.1-mini", extract_model=chat)
create_matts(solver, model=chat, k=3, state_schema=State)

lesson: dict[str, Any] = {"title": "t", "description": "d", "content": "c"}
items = [MemoryItem(title="t", description="d", content="c", outcome="success", task="x", tags=("algebra",))]
items.append(MemoryItem(**lesson, outcome="failure", task="x"))
written: list[str] = MemoryBank(InMemoryStore(), ("math", "ann")).add(items).ids
title: str = items[0].title
Attempt(task="t", messages=[("user", "x"), AIMessage("y"), {"role": "user", "content": "z"}], answer=None)


def spoken(task: str, lessons: str) -> str:
    return f"{lessons} {task}"


async def spoken_later(task: str, lessons: str) -> str:
    return spoken(task, lessons)


memory = ReasoningBankMiddleware(
    model=chat,
    namespace=("agent", "{user_id}"),
    judge=lambda attempt: attempt.answer == "5",
    verdict_from={"run_tests": lambda result: "0 failed" in result},
    check_before={"deploy": lambda call: f"deploy to {call['place']}"},
)
careful = create_agent(chat, [create_recall_tool(namespace="agent")], middleware=[memory], store=InMemoryStore())
replied = careful.invoke({"messages": [HumanMessage("What is 2 + 3?")]}, config)
ask = remembering(spoken, model=chat, namespace="agent", store=InMemoryStore())
said: str = ask("What is 2 + 3?", config)


async def said_later() -> str:
    return await remembering(spoken_later, model=chat, store=InMemoryStore())("What is 2 + 3?")

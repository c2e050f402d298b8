"""A shop assistant with tools and a memory on a small local model, and the transcript of what it did.

python examples/agent/shop.py --model qwen2.5-coder-1.5b-instruct-q4_k_m.gguf --out examples/agent/transcript.md
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelCallLimitMiddleware, ModelRequest, ModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import ToolException, tool
from langgraph.store.base import BaseStore

from reasoningbank_langgraph import Attempt, ChromaStore, MemoryBank, ReasoningBankMiddleware
from reasoningbank_langgraph.local import start_local_model

NAMESPACE = "shop"
ORDERS = {"ANN-17": "shipped", "BOB-4": "cancelled", "CLARA-23": "delivered", "DAN-8": "returned", "EVE-31": "paid",
    "FRED-12": "packed"}  # fmt: skip
TASKS = [
    ("What is the status of order 17 of Ann?", "shipped"),
    ("What is the status of Bob's order 4?", "cancelled"),
    ("Clara asks about her order 23. What is its status?", "delivered"),
    ("What is the status of order 8 of Dan?", "returned"),
    ("Eve wants to know the status of her order 31.", "paid"),
    ("What is the status of Fred's order 12?", "packed"),
]
"""Questions, and a word that a right answer has in it."""
NEXT = {
    "error": "Call the tool again with the right name of the order. Reply with the call and nothing else.",
    "success": "Answer the question in one sentence.",
}
"""What is said after a tool: a small model repeats an error as its answer, and a call that was answered."""
RULES = "You are the assistant of a shop. Look orders up with the tool, and answer in one sentence."


@tool
def status(order: str) -> str:
    """Look up the status of one order.

    Args:
        order: the name of the order.
    """
    if order not in ORDERS:
        digits = "".join(filter(str.isdigit, order))
        near = next((name for name in ORDERS if name.endswith(f"-{digits}")), "GINA-5")
        raise ToolException(
            f"there is no order {order!r}. The name of an order is the customer's name in capitals, a hyphen and the "
            f"number: did you mean {near}?"
        )
    return ORDERS[order]


status.handle_tool_error = True
status.handle_validation_error = "status takes one argument, order: the name of the order"


def is_right(attempt: Attempt) -> bool:
    """Judge an answer by the word that belongs in it."""
    return str(attempt.reference) in (attempt.answer or "").lower()


class WrittenCalls(AgentMiddleware):
    """Takes a tool call that the model wrote as JSON in its text for the call it is: small coding models do that."""

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]) -> ModelResponse:
        """Ask the model, after a tool for the next step, and read the call in its reply."""
        last = request.messages[-1]
        if isinstance(last, ToolMessage):
            tools = request.tools if last.status == "error" else []
            messages = [*request.messages, HumanMessage(NEXT[last.status])]
            request = request.override(messages=messages, tools=tools)
        response = handler(request)
        response.result = [_with_call(message) for message in response.result]
        return response


def _with_call(message: BaseMessage) -> BaseMessage:
    written = re.search(r"\{\s*\"name\"", message.text)
    if not isinstance(message, AIMessage) or message.tool_calls or not written:
        return message
    try:
        call, _ = json.JSONDecoder().raw_decode(message.text, written.start())
        known = {"name": call["name"], "args": dict(call["arguments"]), "id": message.id, "type": "tool_call"}
    except (ValueError, KeyError, TypeError):
        return message
    return message.model_copy(update={"content": "", "tool_calls": [known]})


def transcript(chat: BaseChatModel, store: BaseStore) -> Iterator[str]:
    """Ask all questions one after the other and yield what happened, as Markdown."""
    memory = ReasoningBankMiddleware(model=chat, namespace=NAMESPACE, judge=is_right, show="examples")
    limit = ModelCallLimitMiddleware(run_limit=8)
    middleware = [WrittenCalls(), memory, limit]
    agent: Any = create_agent(chat, [status], system_prompt=RULES, middleware=middleware, store=store)
    for question, answer in TASKS:
        yield f"\n## {question}\n"
        asked = {"messages": [HumanMessage(question)], "reference": answer}
        for mode, part in agent.stream(asked, stream_mode=["custom", "updates"]):
            yield from _event(part, store) if mode == "custom" else _messages(part)


def _messages(update: dict[str, Any]) -> Iterator[str]:
    for step in update.values():
        yield from map(_message, (step or {}).get("messages", ()))


def _message(message: BaseMessage) -> str:
    if isinstance(message, ToolMessage):
        return f"- *{message.name}*: {message.text}"
    calls = [
        f"`{call['name']}({', '.join(f'{k}={v!r}' for k, v in call['args'].items())})`" for call in _calls(message)
    ]
    return "- **agent**: " + " ".join([message.text.replace("\n", " "), *calls]).strip()


def _calls(message: BaseMessage) -> list[Any]:
    return list(message.tool_calls) if isinstance(message, AIMessage) else []


def _event(event: dict[str, Any], store: BaseStore) -> Iterator[str]:
    bank = MemoryBank(store, NAMESPACE)
    if event["event"] == "retrieved":
        solved = [episode for episode in bank.episodes() if episode.id in event["examples"]]
        yield from (f"- memory shows how it solved: {episode.task}" for episode in solved)
    elif event["event"] == "judged":
        yield f"- judged: {event['status']}"
    elif event["event"] == "consolidated":
        for name in event["ids"]:
            yield f"- memory learns: {_lesson(bank, name)}"


def _lesson(bank: MemoryBank, name: str) -> str:
    item = bank.get(name)
    return f"{item.title}. {item.description} {item.content}" if item else name


def main() -> None:
    """Write the transcript."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="a GGUF file")
    parser.add_argument("--bank", default="shop-bank")
    parser.add_argument("--out", default="transcript.md", type=Path)
    asked = parser.parse_args()
    with start_local_model(asked.model, n_ctx=8192) as server, ChromaStore.from_path(asked.bank) as store:
        chat = server.chat_model(max_tokens=300)
        with asked.out.open("w", encoding="utf-8") as out:
            print(f"# What {server.model_name} did", file=out)
            for line in transcript(chat, store):
                print(line, file=out, flush=True)


if __name__ == "__main__":
    main()

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

from reasoningbank_langgraph import ChromaStore, MemoryBank, ReasoningBankMiddleware, ReferenceJudge
from reasoningbank_langgraph.local import start_local_model

NAMESPACE = "shop"
PRICES = {"kettle": 20.0, "lamp": 35.0, "mug": 4.0, "chair": 60.0}
RATES = {"EUR": 0.5, "GBP": 0.25, "JPY": 100.0}
TASKS = [
    ("What do 3 kettles cost in dollars?", "60"),
    ("What does one lamp cost in euros?", "17.5"),
    ("What do 5 mugs cost in yen?", "2000"),
    ("What do 2 chairs cost in pounds?", "30"),
    ("What do 4 lamps cost in dollars?", "140"),
    ("What does one kettle cost in yen?", "2000"),
    ("What do 2 mugs cost in euros?", "4"),
    ("What do 3 chairs cost in pounds?", "45"),
]
"""Questions and their answers."""
RULES = """\
You are the assistant of a shop. Look prices up with tools and calculate with tools, one step at a time, and never \
guess a price. Give the amount as a number in your last message, in \\boxed{}."""


@tool
def price(item: str) -> str:
    """Look up what one item costs in dollars.

    Args:
        item: the name of the item in the singular, such as "kettle".
    """
    if item not in PRICES:
        raise ToolException(f"there is no item {item!r}; items are named in the singular: {', '.join(PRICES)}")
    return str(PRICES[item])


@tool
def multiply(a: float, b: float) -> str:
    """Multiply two numbers, for example a price and a count."""
    return f"{a * b:g}"


@tool
def convert(dollars: float, currency: str) -> str:
    """Convert an amount of dollars into another currency.

    Args:
        dollars: the amount.
        currency: its code of three letters.
    """
    if currency not in RATES:
        raise ValueError(
            f"there is no currency {currency!r}; currencies have codes of three letters: {', '.join(RATES)}"
        )
    return f"{dollars * RATES[currency]:g}"


for each in (price, multiply, convert):
    each.handle_tool_error = each.handle_validation_error = True


class WrittenCalls(AgentMiddleware):
    """Takes a tool call that the model wrote as JSON in its text for the call it is: small coding models do that."""

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]) -> ModelResponse:
        """Ask the model, and read the call in its reply."""
        response = handler(request)
        response.result = [_with_call(message) for message in response.result]
        return response


def _with_call(message: BaseMessage) -> BaseMessage:
    written = re.search(r"\{.*\}", message.text, re.DOTALL)
    if not isinstance(message, AIMessage) or message.tool_calls or not written:
        return message
    try:
        call = json.loads(written[0])
        known = {"name": call["name"], "args": dict(call["arguments"]), "id": message.id, "type": "tool_call"}
    except (ValueError, KeyError, TypeError):
        return message
    return message.model_copy(update={"content": "", "tool_calls": [known]})


def transcript(chat: BaseChatModel, store: BaseStore) -> Iterator[str]:
    """Ask all questions one after the other and yield what happened, as Markdown."""
    memory = ReasoningBankMiddleware(model=chat, namespace=NAMESPACE, judge=ReferenceJudge())
    limit = ModelCallLimitMiddleware(run_limit=8)
    tools, middleware = [price, multiply, convert], [memory, limit, WrittenCalls()]
    agent: Any = create_agent(chat, tools, system_prompt=RULES, middleware=middleware, store=store)
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
    if event["event"] == "retrieved" and event["ids"]:
        for name in event["ids"]:
            yield f"- memory shows: {_lesson(bank, name)}"
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
        chat = server.chat_model().model_copy(update={"temperature": 0.0})
        with asked.out.open("w", encoding="utf-8") as out:
            print(f"# What {server.model_name} did", file=out)
            for line in transcript(chat, store):
                print(line, file=out, flush=True)


if __name__ == "__main__":
    main()

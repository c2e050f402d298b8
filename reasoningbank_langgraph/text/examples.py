"""Worked examples as turns of a conversation: untrusted text, cleaned like lessons."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from reasoningbank_langgraph.messages import Message, with_texts
from reasoningbank_langgraph.records import Episode, RetrievedExample, has_visible_text
from reasoningbank_langgraph.text.sanitise import clean_text


def example_messages(examples: Iterable[RetrievedExample]) -> list[dict[str, Any]]:
    """Return the turns that show examples to a model: for each the task of a user, and the solution as the reply to it.

    Where tools were called on the way, their calls and results stand between the two, in the form of OpenAI's API.

    What looks like a special token, a turn of another role, a link or a fence is taken apart, as in lessons, so that
    the text of a turn cannot begin another one. The best example comes last, nearest to the task at hand.
    """
    turns = [_turns(example.episode) for example in examples]
    return [message for pair in reversed(turns) for message in pair]


def _turns(episode: Episode) -> list[dict[str, Any]]:
    task, solution = clean_text(episode.task), clean_text(episode.solution)
    if not (has_visible_text(task) and has_visible_text(solution)):
        return []
    steps = map(_step, episode.steps)
    return [{"role": "user", "content": task}, *steps, {"role": "assistant", "content": solution}]


def _step(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "content": clean_text(message.text), "tool_call_id": message.tool_call_id}
    return {"role": "assistant", "content": "", "tool_calls": [_call(call) for call in message.tool_calls]}


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": json.dumps(with_texts(call["args"], clean_text), ensure_ascii=False)}
    return {"id": call["id"], "type": "function", "function": function}

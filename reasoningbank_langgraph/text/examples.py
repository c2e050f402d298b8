"""Worked examples as turns of a conversation: untrusted text, cleaned like lessons."""

from __future__ import annotations

from collections.abc import Iterable

from reasoningbank_langgraph.records import Episode, RetrievedExample, has_visible_text
from reasoningbank_langgraph.text.sanitise import clean_text


def example_messages(examples: Iterable[RetrievedExample]) -> list[dict[str, str]]:
    """Return the turns that show examples to a model: for each the task of a user, and the solution as the reply to it.

    What looks like a special token, a turn of another role, a link or a fence is taken apart, as in lessons, so that
    the text of a turn cannot begin another one. The best example comes last, nearest to the task at hand.
    """
    turns = [_turns(example.episode) for example in examples]
    return [message for pair in reversed(turns) for message in pair]


def _turns(episode: Episode) -> list[dict[str, str]]:
    task, solution = clean_text(episode.task), clean_text(episode.solution)
    if not (has_visible_text(task) and has_visible_text(solution)):
        return []
    return [{"role": "user", "content": task}, {"role": "assistant", "content": solution}]

"""What the middleware keeps in an agent's state, and the turn it learns from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, get_args, get_type_hints

from langchain.agents.middleware.types import OmitFromOutput, PrivateStateAttr
from typing_extensions import TypedDict

from reasoningbank_langgraph.agents.state_verdicts import StateJudge
from reasoningbank_langgraph.nodes._base import State, Update
from reasoningbank_langgraph.state import ChannelNames, ReasoningBankState
from reasoningbank_langgraph.state.attempts import messages_of, recalled_lessons, structured_answer
from reasoningbank_langgraph.state.channels import Latest

_INPUT = ("task_id", "reference")
_KEPT = ("attempt", "verdict", "extraction", "pending", "memory_error", "unwritten", "written", "kept")
"""Channels of the loop that all middlewares of an agent share."""
_SHOWN = ("memories", "memory_prompt", "memory_messages", "memory_examples", "memory_usage", "trial")
"""What each middleware found for the turn, in a channel of its own."""
_LEARNED = "learned"
"""Stands beside it once the turn was learned from."""


NAMES = ChannelNames(task="messages", answer=structured_answer, messages="messages")
"""Where an agent's state holds what the nodes read."""
LEARNING_NAMES = ChannelNames(task="messages", answer="answer", messages="messages")
"""Where the state of the learning graph holds it."""


class Turns:
    """Reads and writes an agent's state for one middleware.

    Args:
        channel: the channel that holds what this middleware found for the turn.
        by_state: judges a turn by the agent's state.
    """

    def __init__(self, channel: str, by_state: StateJudge | None = None) -> None:
        self.channel, self.schema, self._by_state = channel, _schema(channel), by_state

    def shown(self, state: State) -> Mapping[str, Any] | None:
        """Return what was found for the turn that goes on; None where it has no task, and between turns.

        That the attempt is over says nothing: LangGraph also ends it in the middle, where a tool waits for a person.
        """
        found: Mapping[str, Any] | None = state.get(self.channel)
        return None if found is None or _LEARNED in found else found

    def found(self, update: Update) -> Update:
        """Return the update of an agent's state with what the first node of the loop returned."""
        shared = {name: update[name] for name in (*_KEPT, *_INPUT) if name in update}
        return {**shared, self.channel: {name: update[name] for name in _SHOWN if name in update}}

    def turn(self, state: State) -> Update | None:
        """Return the input of the learning graph: the turn that ends now; None if there is nothing to learn from."""
        if (shown := self.shown(state)) is None:
            return None
        messages = messages_of(view(state), NAMES)
        turn = {**shown, "messages": messages, "answer": structured_answer(state), "attempt": state["attempt"]}
        if recalled_lessons(messages) and (shown.get("trial") or {}).get("withheld"):
            turn["trial"] = None  # it asked for lessons, so it is no task without them
        if self._by_state and (verdict := self._by_state(state)):
            turn["attempt"] = {**state["attempt"], "verdict": verdict.to_json()}
        return {**turn, "unwritten": state.get("unwritten") or []}

    def learned(self, state: State, result: Mapping[str, Any]) -> Update:
        """Return the update of an agent's state with what the learning graph left."""
        update = {name: result[name] for name in _KEPT if name in result and name != "attempt"}
        if not (state.get("unwritten") or update.get("unwritten")):
            update.pop("unwritten", None)
        update["pending"] = result.get("pending")
        update[self.channel] = {**state[self.channel], _LEARNED: True}
        return update if update.get("memory_error") else {**update, "memory_error": state.get("memory_error")}


def view(state: State) -> dict[str, Any]:
    """Return what of an agent's state the nodes may read: other channels may mean something else by the same name.

    Raises:
        ValueError: the agent keeps something else in the channel of the attempt.
    """
    if not isinstance(state.get("attempt"), Mapping | None):
        raise ValueError(
            f"channel 'attempt' of the agent's state holds {state['attempt']!r:.80}: the middleware keeps its own "
            f"there, and in {', '.join(_KEPT[1:])}; give yours other names"
        )
    names = ("messages", "structured_response", *_KEPT, *_INPUT)
    return {name: state[name] for name in names if name in state}


def has_begun(state: State) -> bool:
    """Say whether another middleware began an attempt on this very conversation."""
    attempt, messages = state.get("attempt") or {}, state["messages"]
    place = (len(messages), getattr(messages[-1], "id", None) if messages else None)
    return attempt.get("over", 0) is None and (attempt["messages_before"], attempt["last_id"]) == place


def _schema(channel: str) -> type[Any]:
    hints = get_type_hints(ReasoningBankState, include_extras=True)
    kept = {name: _omitted(hints[name], PrivateStateAttr) for name in _KEPT}
    given = {name: _omitted(hints[name], OmitFromOutput) for name in _INPUT}
    own = {channel: Annotated[dict[str, Any] | None, Latest, PrivateStateAttr]}
    return TypedDict("ReasoningBankAgentState", {**kept, **given, **own}, total=False)  # type: ignore[operator, no-any-return]


def _omitted(hint: Any, mark: object) -> Any:
    """Return the type of a channel with a mark that hides it; LangGraph wants a reducer to stand last."""
    kind, *rest = get_args(hint)
    return Annotated[(kind, mark, *rest)]

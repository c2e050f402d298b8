"""What a rollout leaves in the solver's channels, as the update that the solver alone would have made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, get_type_hints

from langgraph.channels import (
    AnyValue,
    BinaryOperatorAggregate,
    DeltaChannel,
    EphemeralValue,
    LastValue,
    UntrackedValue,
)
from langgraph.graph import StateGraph
from langgraph.types import Overwrite

from reasoningbank_langgraph.solvers.inserted_messages import CHECK, adds_messages, changes, is_inserted
from reasoningbank_langgraph.state import ChannelNames

_LAST, _REDUCED, _PASSING = (
    (LastValue,),
    (BinaryOperatorAggregate, DeltaChannel),
    (AnyValue, EphemeralValue, UntrackedValue),
)


class SolverChannels(NamedTuple):
    """The channels a solver may write, by what an update of them is."""

    last: tuple[str, ...]
    """Those that keep the last value."""
    reduced: tuple[str, ...]
    """Those with a reducer: their value replaces what is there."""
    conversations: tuple[str, ...]
    """Those reduced by LangGraph's `add_messages`: they get what is new."""

    @classmethod
    def of(
        cls, builder: StateGraph[Any, Any, Any, Any], names: ChannelNames, own: type[Any] | None, ours: type[Any]
    ) -> SolverChannels:
        """Return the solver's channels in a graph.

        Args:
            builder: the graph.
            names: the channels the solver uses.
            own: the user's own state.
            ours: the graph's state without it.

        Raises:
            ValueError: one of the user's channels is of a kind that cannot be set.
        """
        users = [name for name in get_type_hints(own or object) if name not in get_type_hints(ours)]
        named = [name for name in (names.answer, names.messages) if isinstance(name, str)]
        kinds = {name: builder.channels[name] for name in dict.fromkeys([*named, *users]) if name in builder.channels}
        for name, kind in kinds.items():
            if not isinstance(kind, (*_LAST, *_REDUCED, *_PASSING)):
                raise ValueError(
                    f"channel {name!r} is a {type(kind).__name__}, which cannot take over what the selected rollout "
                    "left there: give it a reducer, or keep it out of state_schema"
                )
        reduced = [name for name, kind in kinds.items() if isinstance(kind, _REDUCED)]
        conversations = [name for name in reduced if adds_messages(kinds[name])]
        return cls(
            tuple(name for name, kind in kinds.items() if isinstance(kind, _LAST)),
            tuple(name for name in reduced if name not in conversations),
            tuple(conversations),
        )

    def copied(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the conversations as a rollout begins with them, for a solver that changes messages in place."""
        return {name: [message.model_copy() for message in state.get(name) or []] for name in self.conversations}

    def update(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
        """Return what turns the channels before a rollout, as `copied` gave them, into those after it."""
        return {
            **{name: after[name] for name in self.last if name in after},
            **{name: Overwrite(_unchecked(after[name])) for name in self.reduced if name in after},
            **{name: changes(before[name], _unchecked(after[name])) for name in self.conversations if name in after},
        }


def _unchecked(value: Any) -> Any:
    """The conversation without what asked for checks: the rollout's record keeps it."""
    return [entry for entry in value if not is_inserted(entry, CHECK)] if isinstance(value, list) else value

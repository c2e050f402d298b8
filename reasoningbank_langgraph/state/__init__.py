"""What a graph's state holds: its channels, and where an attempt begins and ends in them. All of it is plain JSON.

- `schema`: the channels the loop uses. All of them hold plain JSON data, so any checkpointer can store them
- `channels`: channels that know what LangGraph's own do not: when a run is over, and that loops may run side by side
- `attempts`: where an attempt begins and ends in a graph's state, and what it was
- `lineage`: which branch of a thread a lesson lies on: with each goes the line of attempts that led to it
"""

from reasoningbank_langgraph.state.schema import (
    ChannelNames,
    ExtractionReport,
    LoopState,
    ReasoningBankState,
    Selector,
    StartedAttempt,
    UnwrittenAttempt,
    add_ids,
    as_state,
    loop_state,
)

__all__ = [
    "ChannelNames",
    "ExtractionReport",
    "LoopState",
    "ReasoningBankState",
    "Selector",
    "StartedAttempt",
    "UnwrittenAttempt",
    "add_ids",
    "as_state",
    "loop_state",
]

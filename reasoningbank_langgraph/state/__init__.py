"""What a graph's state holds: its channels, and where an attempt begins and ends in them. All of it is plain JSON.

- `schema`: the channels the loop uses. All of them hold plain JSON data, so any checkpointer can store them
- `channels`: channels that know when a run is over and allow loops to run side by side, unlike LangGraph's own
- `attempts`: where an attempt begins and ends in a graph's state, and what it contains
- `lineage`: which branch of a thread a lesson belongs to, told by the line of attempts stored with it
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

"""TODO-MAP state"""

from reasoningbank_langgraph.state.schema import (
    LoopState,
    Names,
    ReasoningBankState,
    Selector,
    add_ids,
    as_state,
    loop_state,
)

__all__ = ["LoopState", "Names", "ReasoningBankState", "Selector", "add_ids", "as_state", "loop_state"]

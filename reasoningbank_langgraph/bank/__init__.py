"""The memory bank: lessons in any LangGraph store. Nothing outside this folder knows how they are laid out there.

- `bank`: what can be done with the lessons of one namespace
- `item_values`: how an item is laid out in a store: its record as JSON
- `operations`: operations of a bank are generators that yield batches for the store and are sent the results
- `adding`: writing the lessons of one attempt: all together or none, and once
- `searching`: finding the lessons that fit a task
- `branches`: what of a thread's lessons a branch of it may see, and which of them are known to be of another branch
- `forgetting`: taking lessons out: for good, with what was learned from them, or out of sight only
- `snapshots`: a bank as it was at a moment: what was written by then and not retired yet
- `importing`: taking over the items of a file: all of them or none
- `jsonl`: the file a bank is exported to: a line that says what it is, then one item a line
- `arguments`: what callers hand to a bank, checked: a slip is named
- `writer_lock`: one writer at a time in each bank of a process: a write looks first
"""

from reasoningbank_langgraph.bank.adding import WriteResult
from reasoningbank_langgraph.bank.bank import MemoryBank, Totals
from reasoningbank_langgraph.bank.branches import ids_of_branch
from reasoningbank_langgraph.bank.importing import Imported
from reasoningbank_langgraph.bank.item_values import Match, check_match
from reasoningbank_langgraph.bank.searching import check_question

__all__ = ["Imported", "Match", "MemoryBank", "Totals", "WriteResult", "check_match", "check_question", "ids_of_branch"]

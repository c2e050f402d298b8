"""The memory bank: lessons in any LangGraph store. Nothing outside this folder knows how they are laid out there.

- `bank`: what can be done with the lessons of one namespace
- `item_values`: how an item is laid out in a store: its record as JSON
- `operations`: operations of a bank, as generators that yield batches for the store and are sent the results
- `adding`: writing the lessons of one attempt: all together or none, and once
- `searching`: finding the lessons that fit a task
- `branches`: which of a thread's lessons a branch of it may see, and which are known to belong to another branch
- `forgetting`: removing lessons, with those learned from them, or only taking them out of sight
- `snapshots`: a bank as it was at some moment: what had been written by then and not yet retired
- `importing`: adding the items of a file to a bank: all of them or none
- `jsonl`: the file a bank is exported to: a header line, then one item a line
- `arguments`: checks of arguments: a mistake is named
- `writer_lock`: one writer at a time in each bank of a process
"""

from reasoningbank_langgraph.bank.adding import WriteResult
from reasoningbank_langgraph.bank.bank import MemoryBank, Totals
from reasoningbank_langgraph.bank.branches import ids_of_branch
from reasoningbank_langgraph.bank.importing import Imported
from reasoningbank_langgraph.bank.item_values import Match, check_match
from reasoningbank_langgraph.bank.searching import check_question

__all__ = ["Imported", "Match", "MemoryBank", "Totals", "WriteResult", "check_match", "check_question", "ids_of_branch"]

"""The memory bank: lessons and episodes in any LangGraph store. Only this folder knows how they are laid out there.

- `bank`: what can be done with the lessons and episodes of one namespace
- `reading`: what can be read of a bank: lessons and examples for a task, single lessons, all lessons, all episodes
- `access`: how the operations of a bank reach its store, and what it reads as it is or as it was
- `item_values`: how a lesson or an episode is laid out in a store: its record as JSON
- `operations`: operations of a bank, as generators that yield batches for the store and are sent the results
- `adding`: writing the lessons and the episodes of one experience: all together or none, and once
- `searching`: finding the lessons that fit a task
- `places`: which of the experiences that fit a task are shown beside each other, and how many tasks are behind a lesson
- `metadata`: which lessons a caller asks for, by their tags, scope, difficulty and outcome
- `examples`: finding an attempt that can be shown as a worked example: a success at the most similar other task
- `branches`: which of a thread's lessons a branch of it may see, and which are known to belong to another branch
- `snapshots`: a bank as it was at some moment: what had been written by then and not yet retired
- `minting`: which new lessons a bank takes, by a policy, and which old ones make room for them
- `rows`: what is known beside them: the worth of each lesson, what the guard found, which attempts wait
- `upkeep`: changes that somebody asks for: made anew, judged later, forgotten, set aside
- `exchange`: a bank as a file, out and in
- `lineage`: a bank as a graph: what each lesson was born from, where it was shown, what took its place
- `collector`: Python's search for garbage, put off while many records are made that all stay
- `arguments`: checks of arguments: a mistake is named
- `writer_lock`: one writer at a time in each bank of a process
"""

from reasoningbank_langgraph.bank.access import Totals
from reasoningbank_langgraph.bank.adding import WeighedResult, WriteResult
from reasoningbank_langgraph.bank.arguments import check_store
from reasoningbank_langgraph.bank.bank import MemoryBank
from reasoningbank_langgraph.bank.branches import ids_of_branch
from reasoningbank_langgraph.bank.examples import EXAMPLE_FLOOR, NOTHING, Recalled, Show, check_show
from reasoningbank_langgraph.bank.exchange.foreign import MemorySource, Skipped
from reasoningbank_langgraph.bank.exchange.importing import Imported
from reasoningbank_langgraph.bank.exchange.migrating import Migrated
from reasoningbank_langgraph.bank.item_values import Match, check_match, is_example, task_key_without_secrets
from reasoningbank_langgraph.bank.lineage.contradictions import Contradiction, Contradictions
from reasoningbank_langgraph.bank.lineage.graph import MemoryGraph
from reasoningbank_langgraph.bank.lineage.why import Why
from reasoningbank_langgraph.bank.metadata import Where, check_where, is_asked_for
from reasoningbank_langgraph.bank.minting.choice import check_policy
from reasoningbank_langgraph.bank.minting.deciding import Treated
from reasoningbank_langgraph.bank.rows.crediting import DatedCredit
from reasoningbank_langgraph.bank.rows.guarding import DatedTrial
from reasoningbank_langgraph.bank.rows.log import BankStats
from reasoningbank_langgraph.bank.searching import check_question
from reasoningbank_langgraph.bank.upkeep.distillations import Undone
from reasoningbank_langgraph.bank.upkeep.pruning import Pruned
from reasoningbank_langgraph.bank.upkeep.redistil import Redistilled
from reasoningbank_langgraph.bank.upkeep.verdicts import ResolveResult

__all__ = [
    "EXAMPLE_FLOOR",
    "NOTHING",
    "BankStats",
    "Contradiction",
    "Contradictions",
    "DatedCredit",
    "DatedTrial",
    "Imported",
    "Match",
    "MemoryBank",
    "MemoryGraph",
    "MemorySource",
    "Migrated",
    "Pruned",
    "Recalled",
    "Redistilled",
    "ResolveResult",
    "Show",
    "Skipped",
    "Totals",
    "Treated",
    "Undone",
    "WeighedResult",
    "Where",
    "Why",
    "WriteResult",
    "check_match",
    "check_policy",
    "check_question",
    "check_show",
    "check_store",
    "check_where",
    "ids_of_branch",
    "is_asked_for",
    "is_example",
    "task_key_without_secrets",
]

"""The memory bank: lessons in any LangGraph store. Nothing outside this folder knows how they are laid out there."""

from reasoningbank_langgraph.bank.adding import Written
from reasoningbank_langgraph.bank.bank import MemoryBank, Totals
from reasoningbank_langgraph.bank.branches import known_to
from reasoningbank_langgraph.bank.importing import Imported
from reasoningbank_langgraph.bank.item_values import Match, check_match
from reasoningbank_langgraph.bank.searching import check_question

__all__ = ["Imported", "Match", "MemoryBank", "Totals", "Written", "check_match", "check_question", "known_to"]

"""Judges: who says whether an attempt succeeded."""

from reasoningbank_langgraph.judges.base import Judge, JudgeLike, as_judge
from reasoningbank_langgraph.judges.consistency import SelfConsistencyJudge
from reasoningbank_langgraph.judges.ensemble import EnsembleJudge
from reasoningbank_langgraph.judges.llm import LLMJudge
from reasoningbank_langgraph.judges.reference import ReferenceJudge

__all__ = ["EnsembleJudge", "Judge", "JudgeLike", "LLMJudge", "ReferenceJudge", "SelfConsistencyJudge", "as_judge"]

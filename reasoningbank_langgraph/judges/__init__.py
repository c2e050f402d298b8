"""Judges: who says whether an attempt succeeded.

- `base`: what a judge is, and how any function or Runnable becomes one
- `reference`: a judge that compares with the known answer
- `llm`: a language model as judge, without ground truth (paper section 3.2)
- `consistency`: a judge without an opinion: the task is solved again several times, and the attempt has to agree
- `ensemble`: several judges under one written rule
- `audit`: how often a judge is right: its verdicts against known answers
"""

from reasoningbank_langgraph.judges.base import Judge, JudgeLike, as_judge
from reasoningbank_langgraph.judges.consistency import SelfConsistencyJudge
from reasoningbank_langgraph.judges.ensemble import EnsembleJudge
from reasoningbank_langgraph.judges.llm import LLMJudge
from reasoningbank_langgraph.judges.reference import ReferenceJudge

__all__ = ["EnsembleJudge", "Judge", "JudgeLike", "LLMJudge", "ReferenceJudge", "SelfConsistencyJudge", "as_judge"]

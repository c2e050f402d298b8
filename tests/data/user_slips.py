"""Slips of the pen that a type checker finds, and that are refused when the program runs."""

from reasoningbank_langgraph import Attempt, MemoryItem, RetrievedMemory, Scaling, Verdict
from reasoningbank_langgraph.records import Provenance

MemoryItem(titel="t", description="d", content="c", outcome="success", task="x")  # refused
MemoryItem(title="t", description="d", content="c", outcome="sucess", task="x")  # refused
MemoryItem(title="t", description="d", content="c", outcome="success")  # refused
Verdict("success")  # refused
Verdict(status="sucess")  # refused
Verdict(status="success", score=1)  # refused
Verdict(status="success", confidence="high")  # refused
Attempt(tsk="x")  # refused
Attempt(task="x", memories="lessons")  # refused
Attempt(task="x", memories=["a lesson"])  # refused
Provenance(thred_id="t")  # refused
Provenance(line="t")  # refused
RetrievedMemory(item="a lesson")  # refused
RetrievedMemory(score=0.5)  # refused
Scaling(tries=3)  # refused
Scaling(mode="paralel")  # refused
Scaling(k="3")  # refused

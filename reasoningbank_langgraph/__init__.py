"""ReasoningBank for LangGraph: agents that learn from what worked and what failed.

Names are imported when they are first used, so importing the package loads neither torch nor chromadb.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank import MemoryBank
    from reasoningbank_langgraph.embeddings import default_embeddings
    from reasoningbank_langgraph.errors import ReasoningBankError
    from reasoningbank_langgraph.graph import create_reasoning_bank
    from reasoningbank_langgraph.judges import EnsembleJudge, LLMJudge, ReferenceJudge, SelfConsistencyJudge
    from reasoningbank_langgraph.matts import Scaling, create_matts
    from reasoningbank_langgraph.nodes import create_consolidate, create_extract, create_judge, create_retrieve
    from reasoningbank_langgraph.records import Attempt, MemoryItem, RetrievedMemory, Verdict
    from reasoningbank_langgraph.state import ReasoningBankState
    from reasoningbank_langgraph.store import ChromaStore

__version__ = "0.1.0"

_HOMES = {
    "Attempt": "records",
    "ChromaStore": "store",
    "EnsembleJudge": "judges",
    "LLMJudge": "judges",
    "MemoryBank": "bank",
    "MemoryItem": "records",
    "ReasoningBankError": "errors",
    "ReasoningBankState": "state",
    "ReferenceJudge": "judges",
    "RetrievedMemory": "records",
    "Scaling": "matts",
    "SelfConsistencyJudge": "judges",
    "Verdict": "records",
    "create_consolidate": "nodes",
    "create_extract": "nodes",
    "create_judge": "nodes",
    "create_matts": "matts",
    "create_reasoning_bank": "graph",
    "create_retrieve": "nodes",
    "default_embeddings": "embeddings",
}

__all__ = [
    "Attempt",
    "ChromaStore",
    "EnsembleJudge",
    "LLMJudge",
    "MemoryBank",
    "MemoryItem",
    "ReasoningBankError",
    "ReasoningBankState",
    "ReferenceJudge",
    "RetrievedMemory",
    "Scaling",
    "SelfConsistencyJudge",
    "Verdict",
    "create_consolidate",
    "create_extract",
    "create_judge",
    "create_matts",
    "create_reasoning_bank",
    "create_retrieve",
    "default_embeddings",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

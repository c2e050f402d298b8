"""ReasoningBank for LangGraph: agents that learn from what worked and what failed.

Names are imported when they are first used, so importing the package loads neither torch nor chromadb.

- `errors`: every error the package raises on purpose, as a tree
- `records`: the records that travel through the loop: frozen, JSON in, JSON out
- `messages`: messages of a trajectory as plain records, made from whatever form LangChain and LangGraph users have
- `namespaces`: namespaces with labels in braces, filled when a graph runs: one bank for each tenant
- `driver`: carries the requests of a model dialogue or of a bank operation, sync and async
- `prompts`: every prompt as a constant, in our own words
- `state`: a graph's state: its channels, and where an attempt begins and ends in them
- `events`: what `stream_mode="custom"` yields: one event for each step
- `embeddings`: embedders: the packaged offline one, and a stable name for any
- `graph`: the loop, in order: retrieve, solve, judge, extract, consolidate
- `nodes`: the four nodes of the loop
- `judges`: who says whether an attempt succeeded
- `extraction`: from a judged attempt to a few general lessons (paper section 3.2): ask, accept, leave out details
- `solvers`: solvers that users bring: functions, Runnables and agents
- `agents`: memory for agents that are built elsewhere: a middleware, a tool that asks, a function that remembers
- `matts`: memory-aware test-time scaling (paper section 4): several attempts at a task, all with the same memory
- `learn`: learning at another time than in the run: from attempts that wait, and from threads of the past
- `policies`: what follows from counted outcomes: whether memory is shown at all, and which lessons come first
- `bank`: the memory bank: lessons and episodes in any LangGraph store
- `store`: ChromaStore: a complete LangGraph store on Chroma. Nothing outside this folder imports chromadb
- `chat`: talking to any chat model: what to ask and how to read replies are pure functions, and every call has limits
- `parsing`: model reply -> verdict or items: tolerant of form, strict about meaning
- `text`: the block of lessons a model sees, and untrusted text: sanitised, fenced, cut to a budget, redacted
- `mcp`: a bank as a server of the Model Context Protocol
- `view`: a page to look into a bank
- `math_answers`: final answers of math problems: found in a reply, and compared with the known answer
- `math_solver`: the bundled solver for math problems, and the files problems come in
- `local`: a language model on this machine: model files, and a server on loopback that only this process can use
- `experiments`: does memory help? Arms, controls and statistics that say so honestly
- `train`: from a bank to weights
- `cli`: the command `reasoningbank`
- `testing`: public helpers for tests: fakes that need no network, and the contract that a store has to meet
- `loopback`: listening on loopback, where only programs of this machine can come
- `files`: files that a user names: read or replaced only if they are regular files, so nothing hangs or is destroyed
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reasoningbank_langgraph.agents import ReasoningBankMiddleware, create_recall_tool, remembering
    from reasoningbank_langgraph.bank import MemoryBank
    from reasoningbank_langgraph.embeddings import default_embeddings
    from reasoningbank_langgraph.errors import ReasoningBankError
    from reasoningbank_langgraph.graph import create_reasoning_bank
    from reasoningbank_langgraph.judges import EnsembleJudge, LLMJudge, ReferenceJudge, SelfConsistencyJudge
    from reasoningbank_langgraph.learn import Coverage, alearn_from_threads, learn_from_threads
    from reasoningbank_langgraph.matts import Scaling, create_matts
    from reasoningbank_langgraph.nodes import create_consolidate, create_extract, create_judge, create_retrieve
    from reasoningbank_langgraph.policies import Guard, Policy
    from reasoningbank_langgraph.records import Attempt, Episode, MemoryItem, PendingAttempt, RetrievedMemory, Verdict
    from reasoningbank_langgraph.state import ReasoningBankState
    from reasoningbank_langgraph.store import ChromaStore

__version__ = "0.1.0"

_HOMES = {
    "Attempt": "records",
    "ChromaStore": "store",
    "Coverage": "learn",
    "EnsembleJudge": "judges",
    "Episode": "records",
    "Guard": "policies",
    "LLMJudge": "judges",
    "MemoryBank": "bank",
    "MemoryItem": "records",
    "PendingAttempt": "records",
    "Policy": "policies",
    "ReasoningBankError": "errors",
    "ReasoningBankMiddleware": "agents",
    "ReasoningBankState": "state",
    "ReferenceJudge": "judges",
    "RetrievedMemory": "records",
    "Scaling": "matts",
    "SelfConsistencyJudge": "judges",
    "Verdict": "records",
    "alearn_from_threads": "learn",
    "create_consolidate": "nodes",
    "create_extract": "nodes",
    "create_judge": "nodes",
    "create_matts": "matts",
    "create_reasoning_bank": "graph",
    "create_recall_tool": "agents",
    "create_retrieve": "nodes",
    "default_embeddings": "embeddings",
    "learn_from_threads": "learn",
    "remembering": "agents",
}

__all__ = [
    "Attempt",
    "ChromaStore",
    "Coverage",
    "EnsembleJudge",
    "Episode",
    "Guard",
    "LLMJudge",
    "MemoryBank",
    "MemoryItem",
    "PendingAttempt",
    "Policy",
    "ReasoningBankError",
    "ReasoningBankMiddleware",
    "ReasoningBankState",
    "ReferenceJudge",
    "RetrievedMemory",
    "Scaling",
    "SelfConsistencyJudge",
    "Verdict",
    "alearn_from_threads",
    "create_consolidate",
    "create_extract",
    "create_judge",
    "create_matts",
    "create_reasoning_bank",
    "create_recall_tool",
    "create_retrieve",
    "default_embeddings",
    "learn_from_threads",
    "remembering",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

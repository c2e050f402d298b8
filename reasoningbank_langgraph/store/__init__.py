"""ChromaStore: a complete LangGraph store on Chroma. Nothing outside this folder imports chromadb."""

from reasoningbank_langgraph.store.chroma import ChromaStore
from reasoningbank_langgraph.store.repair import StoreReport

__all__ = ["ChromaStore", "StoreReport"]

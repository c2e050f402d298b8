"""Public helpers for tests: fakes that need no network, and the contract that a store has to meet.

`StoreContract` is a class of pytest cases and is imported when it is first used, so the fakes work without pytest.

- `fakes`: scripted chat models and hashed embeddings, for tests of graphs that are offline and repeatable
- `store_contract`: what any LangGraph store has to do, as a class of pytest cases that the author of a store subclasses
"""

from typing import TYPE_CHECKING, Any

from reasoningbank_langgraph.testing.fakes import HashEmbeddings, ScriptedChatModel, ScriptedToolModel

if TYPE_CHECKING:
    from reasoningbank_langgraph.testing.store_contract import StoreContract

__all__ = ["HashEmbeddings", "ScriptedChatModel", "ScriptedToolModel", "StoreContract"]

_CONTRACT = f"{__name__}.store_contract"


def __getattr__(name: str) -> Any:
    if name != "StoreContract":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    contract: type[StoreContract] = _contract()
    globals()[name] = contract
    return contract


def __dir__() -> list[str]:
    return __all__


def _contract() -> Any:
    """Import the contract so that pytest shows the values of its failed assertions."""
    import sys
    from importlib import import_module

    from reasoningbank_langgraph.errors import MissingDependencyError

    try:
        import pytest
    except ImportError as error:
        raise MissingDependencyError("pytest", "dev", instead="pip install pytest") from error
    if _CONTRACT not in sys.modules:
        pytest.register_assert_rewrite(_CONTRACT)
    return import_module(_CONTRACT).StoreContract

"""A bank as a server of the Model Context Protocol (MCP): tools for any agent that speaks it.

- `server`: the tools of one bank as a server of the official SDK
- `tools`: the tools: their names, what they do to a bank, and what clients are told of them
- `inputs`: what each tool is called with
- `outputs`: what each tool answers: typed, and as text in a fence
- `recording`: an attempt that a client reports, as it waits in the bank
- `serving`: a server on the standard streams, or over HTTP on loopback
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reasoningbank_langgraph.mcp.server import create_mcp_server
    from reasoningbank_langgraph.mcp.serving import only_protocol, serve_http, serve_stdio

__all__ = ["create_mcp_server", "only_protocol", "serve_http", "serve_stdio"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    from reasoningbank_langgraph.errors import MissingDependencyError

    try:
        return getattr(import_module(f"{__name__}.{'server' if name == 'create_mcp_server' else 'serving'}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("anyio", "mcp", "starlette", "uvicorn"):
            raise
        raise MissingDependencyError("mcp", "mcp") from error


def __dir__() -> list[str]:
    return __all__

"""A page to look into a bank: served on loopback to one browser, drawn on the server, without a script.

- `app`: the pages of one bank as a Starlette application, and this on loopback
- `pages`: what each address answers
- `gate`: who may come in: one browser, by an address that works once, and no other site through it
- `snapshot`: a bank read as a whole, with what leads from one record to another at hand
- `life`: what happened to a lesson, in the order of time
- `lineage`: what a record comes from and what came of it, placed for a drawing
- `similarity`: lessons by their similarity, placed for a drawing
- `charts`: curves over time, as of pairs and solved tasks, placed for a drawing
- `html`: templates, in which text is text, and characters that hide are shown
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reasoningbank_langgraph.view.app import create_view, serve_view

__all__ = ["create_view", "serve_view"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    from reasoningbank_langgraph.errors import MissingDependencyError

    try:
        return getattr(import_module(f"{__name__}.app"), name)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in ("jinja2", "starlette", "uvicorn"):
            raise
        raise MissingDependencyError(missing, "view") from error


def __dir__() -> list[str]:
    return __all__

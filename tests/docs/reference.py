"""Write docs/reference from the code.

python -m tests.docs.reference
"""

import ast
import inspect
import re
from importlib import import_module
from itertools import starmap
from typing import get_args, get_type_hints

import reasoningbank_langgraph
from reasoningbank_langgraph import errors
from reasoningbank_langgraph import events as event_types
from reasoningbank_langgraph.matts.records import MattsState
from reasoningbank_langgraph.state import ExtractionReport, ReasoningBankState, StartedAttempt, UnwrittenAttempt
from tests.conftest import REPOSITORY
from tests.docs.commands import cli
from tests.docs.configuration import configuration
from tests.docs.samples import samples
from tests.docs.source import entry, fields
from tests.docs.types import types

FOLDER = REPOSITORY / "docs" / "reference"
PACKAGE = REPOSITORY / "reasoningbank_langgraph"
MODULES = {
    "agents": ("rubric_verdict",),
    "bank": (
        "BankStats",
        "Contradiction",
        "Contradictions",
        "DatedCredit",
        "DatedTrial",
        "Imported",
        "Match",
        "MemoryGraph",
        "Migrated",
        "Pruned",
        "Recalled",
        "Redistilled",
        "ResolveResult",
        "Show",
        "Skipped",
        "Totals",
        "Treated",
        "Undone",
        "WeighedResult",
        "Why",
        "WriteResult",
    ),
    "learn": ("Overdue", "adrain", "aresolve_overdue", "drain", "resolve_overdue"),
    "policies": (
        "Change",
        "Credit",
        "Evidence",
        "GroupCredit",
        "GuardStatus",
        "LogReport",
        "Neighbour",
        "Pairs",
        "Treatment",
        "Trial",
    ),
    "records": ("KeptAttempt", "Provenance", "RetrievedExample", "Utility"),
    "store": ("AESGCMCipher", "StoreReport", "rekey"),
    "testing": ("HashEmbeddings", "ScriptedChatModel", "ScriptedToolModel", "StoreContract"),
    "embeddings": ("PackagedMiniLM",),
    "local": ("LocalModelServer", "adapter_in_use", "packaged_model_path", "start_local_model"),
    "mcp": ("create_mcp_server", "only_protocol", "serve_http", "serve_stdio"),
    "math_answers": ("ExtractedAnswer", "equivalent", "extract_answer", "final_answer", "is_refusal", "same_answer"),
    "parsing": ("ParsedItems", "parse_items", "parse_verdict"),
    "train": ("Card", "Point", "TuneProgress", "TuneSettings", "tune"),
    "train.adapters": (
        "Adapter",
        "AdapterTrial",
        "Decision",
        "RivalComparison",
        "TrialProgress",
        "accept",
        "difference",
        "list_adapters",
        "read_history",
        "reject",
        "rollback",
    ),
    "text": ("Redacted", "clean_line", "clean_text", "fence", "redact_secrets", "render_memories"),
    "train.harvest": ("Harvest", "Origin", "Source", "TaintedRow", "harvest", "read_card", "tainted_rows"),
    "view": ("create_view", "serve_view"),
}
"""Public modules and their names, beside those of the top level."""
NOTE = "<!-- Written by `make docs` from the code; a test compares them. -->\n\n"


def api():
    """The top-level names."""
    head = (
        "# API\n\nWhat `from reasoningbank_langgraph import ...` offers. "
        "[Errors](errors.md) and [state](state.md) have pages of their own; "
        "[Types and values](types.md) says what the named types accept.\n\n"
    )
    package = reasoningbank_langgraph
    names = [name for name in package.__all__ if name not in ("ReasoningBankError", "ReasoningBankState")]
    return head + "\n".join(entry(name, getattr(package, name)) for name in names)


def modules():
    """The public modules, name by name."""
    parts = [f"# Modules\n\nNames that are imported from a module, as in `from {PACKAGE.name}.local import ...`.\n"]
    for name, public in MODULES.items():
        module = import_module(f"{PACKAGE.name}.{name}")
        title = f"# {name}\n\n{inspect.getdoc(module).partition(chr(10) * 2)[0]}\n"
        parts += [title, *(entry(each, getattr(module, each)) for each in public)]
    return re.sub(r"^(#+) (?!Modules)", r"#\1 ", "\n".join(parts), flags=re.MULTILINE)


def state():
    """The channels of the graphs."""
    head = "# State channels\n\nAll channels hold plain JSON data, but `messages`, which holds LangChain messages.\n\n"
    kinds = (ReasoningBankState, StartedAttempt, ExtractionReport, UnwrittenAttempt, MattsState, event_types.Comparison)
    return head + "\n".join(entry(kind.__name__, kind) for kind in kinds)


def events():
    """The events of `stream_mode="custom"`."""
    shared = fields(ast.parse(inspect.getsource(event_types._Event)).body[0])
    head = '# Events\n\nWith `stream_mode="custom"` a graph yields one mapping a step. Each has these fields:\n\n'
    kinds = {get_type_hints(kind)["event"].__args__[0]: kind.__name__ for kind in get_args(event_types.Event)}
    return head + "\n\n".join([shared.replace("**Fields**\n\n", ""), *starmap(_event, kinds.items())])


def _event(kind, name):
    """Return what is said of an event: where its type is imported from, its fields, and one as a graph gave it."""
    said = re.sub(
        r"```py\n.*\n```", f"`from {event_types.__name__} import {name}`", entry(name, vars(event_types)[name])
    )
    return f"{said}\n**Example**\n\n```text\n{samples()[kind]}\n```"


def error_tree():
    """Every error, by what it is a kind of."""
    head = "# Errors\n\nAll are in `reasoningbank_langgraph.errors`. "
    head += "[Troubleshooting](../how-to/troubleshooting.md) says what to do.\n\n"
    return head + "\n".join(_kinds(errors.ReasoningBankError, "")) + "\n"


def _kinds(error, indent):
    others = [base.__name__ for base in error.__bases__ if not issubclass(base, errors.ReasoningBankError)]
    also = f" (also `{others[0]}`)" if others and others != ["Exception"] else ""
    yield f"{indent}- **`{error.__name__}`**{also}: {inspect.getdoc(error).partition(chr(10))[0]}"
    for kind in error.__subclasses__():
        if kind.__module__.startswith(f"{errors.__name__}."):
            yield from _kinds(kind, indent + "    ")


PAGES = {
    "api.md": api,
    "modules.md": modules,
    "state.md": state,
    "types.md": types,
    "events.md": events,
    "errors.md": error_tree,
    "cli.md": cli,
    "configuration.md": configuration,
}


def written(page):
    """Return the text of a page of the reference."""
    return NOTE + PAGES[page]()


if __name__ == "__main__":
    for name in PAGES:
        (FOLDER / name).write_text(written(name), encoding="utf-8")

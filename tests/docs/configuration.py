"""The page of the reference on what can be set from outside, and on what is written where."""

import ast
import inspect
import re
import tomllib

from reasoningbank_langgraph.store.cache.saved_prefixes import ENDING, LIST
from reasoningbank_langgraph.store.chroma_files import DATABASE_FILE
from reasoningbank_langgraph.store.folder.lock import LOCK_FILE
from reasoningbank_langgraph.store.settings import StoreSettings
from tests.conftest import REPOSITORY
from tests.docs.source import fields

PACKAGE = REPOSITORY / "reasoningbank_langgraph"
VARIABLES = {
    "REASONINGBANK_MCP_TOKEN": "Token that clients of `reasoningbank mcp --http` send, at least 16 characters.",
    "OPENAI_API_KEY": "Key for OpenAI, or for the server at `OPENAI_BASE_URL`. If only it is set, commands use OpenAI.",
    "REASONINGBANK_KEY": "Key of an encrypted bank, as base64, for all commands.",
    "REASONINGBANK_NEW_KEY": "The key that `reasoningbank bank rekey` gives a bank, as base64.",
    "OPENAI_BASE_URL": "Address of an OpenAI-compatible server, with its `/v1`: Ollama, vLLM, llama-server.",
}
BANK_FILES = {
    DATABASE_FILE: "the lessons and their vectors, in Chroma's database",
    "a folder named by an id": "Chroma's index of the vectors",
    LOCK_FILE: "held by the one process that writes",
    f"{LIST}, *{ENDING}": "what the next first search maps; made at `close()`, may be removed",
}
"""What the folder of a bank holds, where only its owner may read."""
OTHER_FILES = {
    "~/.cache/reasoningbank/models": "what `reasoningbank model pull` fetched; `--dir` names another folder",
    "the folder of a harvest": "training data with the texts of attempts, for its owner alone; `harvest` names it",
    "the folder of an experiment": "rows, settings, plots and the page; `--out` names it",
    "the folder of an adapter": "its weights, its card and, until it is finished, checkpoints; `--out` names it",
}


def configuration():
    """Environment variables, files, extras and the settings of a store."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].items()
    store = ast.parse(inspect.getsource(StoreSettings)).body[0]
    parts = ["# Configuration\n", "## Environment variables\n", "Importing the package reads none.\n"]
    parts += [f"- `{name}`: {text}" for name, text in VARIABLES.items()]
    parts += ["\n## Files that are written\n", "The folder of a bank, named by `ChromaStore.from_path` or `--bank`:\n"]
    parts += [*_listed(BANK_FILES), "\nAnd:\n", *_listed(OTHER_FILES)]
    parts += [
        "\n## Extras\n",
        *(f"- `reasoningbank-langgraph[{name}]`: {', '.join(_bare(those))}" for name, those in extras),
    ]
    parts += [
        "\n## Settings of a store\n",
        fields(store).replace("**Fields**", "Every way of opening a `ChromaStore` takes them."),
    ]
    return "\n".join(parts) + "\n"


def _listed(files):
    return [f"- {name if ' ' in name and '*' not in name else f'`{name}`'}: {text}" for name, text in files.items()]


def _bare(requirements):
    return sorted(re.match(r"[\w.-]+", line)[0] for line in requirements)


def environment():
    """Return the environment variables that the package reads by name."""
    text = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    return set(re.findall(r'environ(?:\.get\(|\[)"(\w+)"', text))

"""A file imports only from rows above its own, and importing the package stays light."""

import ast
import subprocess
import sys

import reasoningbank_langgraph
from tests.conftest import REPOSITORY

PACKAGE = REPOSITORY / "reasoningbank_langgraph"
ROWS = [
    ["errors"],
    ["messages", "namespaces", "files", "loopback", "driver"],
    ["records"],
    ["policies"],
    ["prompts", "text", "events"],
    ["chat", "parsing", "embeddings"],
    ["state"],
    ["store"],
    ["math_answers"],
    ["extraction"],
    ["bank"],
    ["judges"],
    ["nodes"],
    ["solvers"],
    ["matts"],
    ["learn"],
    ["graph"],
    ["agents"],
    ["math_solver", "mcp", "testing", "view"],
    ["local"],
    ["experiments"],
    ["train"],
    ["cli"],
]
DOORS = {("bank", "train")}
"""Methods that stand where users look for them and load what is behind them when they are called."""
ROW = {name: number for number, names in enumerate(ROWS) for name in names}
HEAVY = ["torch", "chromadb", "langchain_openai", "sentence_transformers", "sympy", "transformers", "trl"]
HEAVY += ["rich", "typer"]


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("reasoningbank_langgraph."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.ImportFrom) and node.module == "reasoningbank_langgraph":
            yield from (name.name for name in node.names if name.name in ROW)


def layer(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_every_file_imports_only_from_rows_above_its_own():
    for path in PACKAGE.rglob("*.py"):
        if layer(path) == "__init__":
            continue
        assert layer(path) in ROW, f"{path} has no row"
        for target in imported(path):
            below = target == layer(path) or ROW[target] < ROW[layer(path)]
            assert below or (layer(path), target) in DOORS, f"{path} imports {target}"


def test_only_the_store_folder_imports_chromadb():
    for path in PACKAGE.rglob("*.py"):
        names = {
            name.name.split(".")[0] if isinstance(node, ast.Import) else (node.module or "").split(".")[0]
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for name in node.names
        }
        assert "chromadb" not in names or layer(path) == "store", path


def test_importing_the_package_is_quick_and_quiet_and_loads_nothing_heavy():
    code = (
        "import sys, time; start = time.process_time(); import reasoningbank_langgraph;"
        "took = time.process_time() - start;"
        f"print(took < 0.6, [name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True []"
    assert done.stderr == ""


def test_every_public_name_can_be_imported_and_is_listed_once():
    assert reasoningbank_langgraph.__all__ == sorted(set(reasoningbank_langgraph.__all__))
    for name in reasoningbank_langgraph.__all__:
        assert getattr(reasoningbank_langgraph, name) is not None

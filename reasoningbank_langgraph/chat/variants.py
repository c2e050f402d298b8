"""A chat model with other values in some of its fields, sharing everything else with the original.

A copy would lose what a model counts or remembers in its fields. Binding fails too: not every class passes on what is
bound to it, and `ChatOllama` passes a cap to a client that does not know it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    Model = TypeVar("Model", bound=BaseChatModel)

_CLASSES: dict[tuple[type, str], type[Any]] = {}
"""By class and values: making a class takes milliseconds."""


def variant(model: Model, fields: Mapping[str, Any]) -> Model:
    """Return the model with these values in these fields, or the model itself if there are none.

    The two share everything else: a value that one of them stores is also in the other.
    """
    if not fields:
        return model
    twin: Model = object.__new__(_class_with(type(model), fields))
    for part in ("__dict__", "__pydantic_extra__", "__pydantic_fields_set__", "__pydantic_private__"):
        object.__setattr__(twin, part, getattr(model, part))
    return twin


def _class_with(kind: type[Model], fields: Mapping[str, Any]) -> type[Model]:
    """Return a subclass with a property for each field: a property takes precedence over a value in the object."""
    key = (kind, repr(sorted(fields.items(), key=lambda field: field[0])))
    if key not in _CLASSES:
        metaclass: Any = type(kind)
        subclass = metaclass(kind.__name__, (kind,), {"__module__": kind.__module__})
        for name, value in fields.items():
            type.__setattr__(subclass, name, _constant(value))
        _CLASSES[key] = subclass
    return _CLASSES[key]


def _constant(value: object) -> property:
    return property(lambda _: value)

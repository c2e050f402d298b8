"""Namespaces with labels in braces, filled from `config["configurable"]`: one bank a tenant, never a shared one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from reasoningbank_langgraph.errors import InvalidNamespaceLabelError, MissingNamespaceLabelError

DEFAULT_NAMESPACE = ("reasoningbank",)
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def check_template(namespace: str | Sequence[str]) -> tuple[str, ...]:
    """Return the template as a tuple of labels.

    Raises:
        InvalidNamespaceLabelError: it is empty, or a label is one that stores refuse or has a stray brace.
    """
    labels = _labels(namespace)
    check_labels([_without_placeholders(label) if isinstance(label, str) else label for label in labels])
    return labels


def check_labels(namespace: str | Sequence[str]) -> tuple[str, ...]:
    """Return labels that are to be taken as they stand, braces included, as a tuple.

    Raises:
        InvalidNamespaceLabelError: there are none, or one that stores refuse.
    """
    labels = _labels(namespace)
    if not labels:
        raise InvalidNamespaceLabelError(labels, "is missing: a bank needs a namespace of at least one label")
    for label in labels:
        _check_label(label)
    if labels[0] == "langgraph":
        raise InvalidNamespaceLabelError("langgraph", "is reserved by LangGraph for the first label: use another")
    return labels


def _labels(namespace: str | Sequence[str]) -> tuple[str, ...]:
    return (namespace,) if isinstance(namespace, str) else tuple(namespace)


def _without_placeholders(label: str) -> str:
    """A brace that opens no placeholder is a slip, and taken as it stands it would make one bank for all."""
    if "{" in (rest := _PLACEHOLDER.sub("x", label)) or "}" in rest:
        raise InvalidNamespaceLabelError(
            label, "has a brace that is no placeholder: write {name}, with letters, digits and _ only"
        )
    return rest


def resolve(template: Sequence[str], configurable: Mapping[str, Any]) -> tuple[str, ...]:
    """Fill the labels in braces.

    Args:
        template: labels such as `("math", "{user_id}")`; braces may be part of a label: `"user-{user_id}"`.
        configurable: values by name. Text and whole numbers are accepted.

    Raises:
        MissingNamespaceLabelError: a name has no value, or None.
        InvalidNamespaceLabelError: a filled label is one that stores refuse.
    """
    return check_labels([_fill(label, configurable) for label in check_template(template)])


def _fill(label: str, configurable: Mapping[str, Any]) -> str:
    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        given = configurable.get(name)
        if given is None:
            raise MissingNamespaceLabelError(name, [key for key in configurable if not key.startswith("__")])
        if isinstance(given, bool) or not isinstance(given, (str, int)):
            raise InvalidNamespaceLabelError(given, f"for {name!r} must be text or a whole number")
        if given == "":
            raise InvalidNamespaceLabelError(given, f"for {name!r} is empty: a shared bank would be the result")
        return str(given)

    return _PLACEHOLDER.sub(value, label)


def _check_label(label: object) -> None:
    if not isinstance(label, str):
        raise InvalidNamespaceLabelError(label, "must be text")
    if not label:
        raise InvalidNamespaceLabelError(label, "is empty")
    for char, name in ((".", "a dot"), ("\x00", "a NUL character")):
        if char in label:
            raise InvalidNamespaceLabelError(
                label,
                f"contains {name}, which LangGraph stores refuse: replace it, for example e-mail addresses' "
                "dots by '_', or use an id",
            )

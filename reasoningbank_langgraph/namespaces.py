"""Namespaces with labels in braces, filled when a graph runs: one bank for each tenant, never a shared one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from reasoningbank_langgraph.errors import (
    AmbiguousNamespaceLabelError,
    InvalidNamespaceLabelError,
    MissingNamespaceLabelError,
)

DEFAULT_NAMESPACE = ("reasoningbank",)
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_OF_LANGGRAPH = ("__", "checkpoint_")
CREDIT, EPISODES, GUARD, LEFT_OUT, PENDING = "~credit", "~episodes", "~guard", "~leftout", "~pending"
HEADS, LEDGER = "~heads", "~ledger"
THREADS = "~threads"
RESERVED_ENDINGS = (CREDIT, EPISODES, GUARD, HEADS, LEDGER, LEFT_OUT, PENDING, THREADS)
"""How the last label ends where a namespace holds what belongs to a bank and is no lesson: it lies beside the bank, so
that a search of the bank never meets it."""


def beside(bank: Sequence[str], ending: str) -> Filled:
    """Return the namespace with this ending that belongs to a bank."""
    return Filled((*bank[:-1], f"{bank[-1]}{ending}"))


def bank_of(namespace: Sequence[str]) -> tuple[str, ...]:
    """Return the bank that a namespace belongs to: most often itself."""
    last = next((namespace[-1].removesuffix(end) for end in RESERVED_ENDINGS if namespace[-1].endswith(end)), None)
    return tuple(namespace) if last is None else (*namespace[:-1], last)


def check_template(namespace: str | Sequence[str]) -> tuple[str, ...]:
    """Return the template as a tuple of labels.

    Raises:
        InvalidNamespaceLabelError: it is empty, stores refuse a label, or a label has a stray brace.
    """
    labels = _labels(namespace)
    check_labels([_without_placeholders(label) if isinstance(label, str) else label for label in labels])
    return labels


def check_labels(namespace: str | Sequence[str]) -> tuple[str, ...]:
    """Return labels to be used literally, braces included, as a tuple.

    Raises:
        InvalidNamespaceLabelError: there are no labels, stores refuse one, or the last has a reserved ending.
    """
    labels = _labels(namespace)
    if not labels:
        raise InvalidNamespaceLabelError(labels, "is missing: a bank needs a namespace of at least one label")
    for label in labels:
        _check_label(label)
    if labels[0] == "langgraph":
        raise InvalidNamespaceLabelError("langgraph", "is reserved by LangGraph for the first label: use another")
    if bank_of(labels) != labels:
        problem = (
            f"ends like the namespaces that belong to a bank ({', '.join(RESERVED_ENDINGS)}): use another, or put a "
            "label after it, as in ('{user_id}', 'lessons'): only the last label may not end so"
        )
        raise InvalidNamespaceLabelError(labels[-1], problem)
    return labels


class Filled(tuple[str, ...]):
    """Labels whose braces, if any, are part of a value: that of a user called `{you}`, for example."""

    __slots__ = ()


def check_filled(namespace: str | Sequence[str]) -> tuple[str, ...]:
    """Return labels of one bank, as `check_labels` does.

    Raises:
        InvalidNamespaceLabelError: a label is still a placeholder, or stores refuse it.
    """
    labels = check_labels(namespace)
    if not isinstance(namespace, Filled) and (unfilled := list(filter(_PLACEHOLDER.fullmatch, labels))):
        raise InvalidNamespaceLabelError(
            unfilled[0],
            "is a placeholder, and a bank has one fixed namespace: replace it by a value; for a label that has braces, "
            "pass reasoningbank_langgraph.namespaces.Filled(labels)",
        )
    return labels


def _labels(namespace: str | Sequence[str]) -> tuple[str, ...]:
    return (namespace,) if isinstance(namespace, str) else tuple(namespace)


def _without_placeholders(label: str) -> str:
    """Return the label with `x` for each placeholder. Any other brace is a mistake that would make one bank for all."""
    if "{" in (rest := _PLACEHOLDER.sub("x", label)) or "}" in rest:
        raise InvalidNamespaceLabelError(
            label, "has a brace that is not part of a placeholder: write {name}, with letters, digits and _ only"
        )
    return rest


def read(holder: Any, name: str) -> Any:
    """Return the value under a name in a mapping, a dataclass or a model, or None."""
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


def resolve(template: Sequence[str], configurable: Mapping[str, Any], context: Any = None) -> Filled:
    """Fill the labels in braces.

    Args:
        template: labels such as `("math", "{user_id}")`; braces may be part of a label: `"user-{user_id}"`.
        configurable: values by name, as in `config["configurable"]`. Text and whole numbers are accepted.
        context: the runtime context, which may hold the values instead: a mapping, a dataclass or a model.

    Raises:
        MissingNamespaceLabelError: a name has no value, or only None, in both.
        AmbiguousNamespaceLabelError: a name has different values in the two.
        InvalidNamespaceLabelError: stores refuse a filled label.
    """
    return Filled(check_labels([_fill(label, configurable, context) for label in check_template(template)]))


def _fill(label: str, configurable: Mapping[str, Any], context: Any) -> str:
    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        configured, in_context = configurable.get(name), read(context, name)
        if None not in (configured, in_context) and str(configured) != str(in_context):
            raise AmbiguousNamespaceLabelError(name, configured, in_context)
        chosen = in_context if configured is None else configured
        if chosen is None:
            others = [key for key in configurable if key != name and not key.startswith(_OF_LANGGRAPH)]
            raise MissingNamespaceLabelError(name, others)
        if isinstance(chosen, bool) or not isinstance(chosen, (str, int)):
            raise InvalidNamespaceLabelError(chosen, f"for {name!r} must be text or a whole number")
        if chosen == "":
            raise InvalidNamespaceLabelError(
                chosen, f"for {name!r} is empty: all users without a value would share one bank"
            )
        return str(chosen)

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
                f"contains {name}, which LangGraph stores refuse: use an id without it, or encode the label so that no "
                "two get the same one, as with urllib.parse.quote(label).replace('.', '%2E')",
            )

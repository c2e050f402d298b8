"""How an answer could reach the solver through the bank: in an item, or because train and test share a problem."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

import numpy as np

from reasoningbank_langgraph.experiments.summary import NearDuplicate
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.records import MemoryItem, normalise_task

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

NEAR_TEXT, NEAR_MEANING = 0.9, 0.95
"""From these similarities on, two problems (or an item and a problem) count as near duplicates."""
_LETTER_BY_LETTER = 1_000
"""Characters up to which texts are compared so: the work grows with the square of them, or faster."""
_LIST_MARK = re.compile(r"(?:^|(?<=[\s:;.]))\d{1,2}[.)](?=\s)")
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")


def gives_away(item: MemoryItem, problem: Problem) -> bool:
    """Say whether an item states the problem's answer or is nearly the problem itself."""
    texts = (item.title, item.description, item.content)
    return states_answer(" ".join(texts), problem.answer or "") or any(
        _alike(text, problem.text) > NEAR_TEXT for text in texts
    )


def states_answer(text: str, answer: str) -> bool:
    """Say whether a text holds the answer as a token of its own; the numbers of a list are not counted."""
    stripped = answer.strip()
    if not stripped:
        return False
    return re.search(rf"(?<![\w.,]){re.escape(stripped)}(?![\w]|[.,]\d)", _LIST_MARK.sub(" ", text)) is not None


def near_duplicates(train: Sequence[Problem], test: Sequence[Problem], embeddings: Embeddings) -> list[NearDuplicate]:
    """Return the pairs that are nearly the same, by text with the numbers taken out or by meaning."""
    if not train or not test:
        return []
    cosines = _unit(embeddings, test) @ _unit(embeddings, train).T
    shapes = [_shape(problem.text) for problem in train]
    pairs: list[NearDuplicate] = []
    for row, problem in enumerate(test):
        shape = _shape(problem.text)
        # A text that is nearly the same means nearly the same: only the closest are compared letter by letter.
        for column in np.argsort(-cosines[row])[:5]:
            text, meaning = _alike(shape, shapes[column]), float(cosines[row, column])
            if text > NEAR_TEXT or meaning > NEAR_MEANING:
                pairs.append(
                    NearDuplicate(
                        train_id=train[column].id,
                        test_id=problem.id,
                        text_similarity=round(text, 4),
                        embedding_similarity=round(min(meaning, 1.0), 4),
                    )
                )
    return pairs


def _unit(embeddings: Embeddings, problems: Sequence[Problem]) -> np.ndarray:
    vectors: np.ndarray = np.asarray(
        embeddings.embed_documents([problem.text for problem in problems]), dtype=np.float32
    )
    lengths: np.ndarray = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: np.ndarray = np.divide(vectors, np.maximum(lengths, 1e-12))
    return unit


def _shape(text: str) -> str:
    return _DIGITS.sub("#", normalise_task(text))


def _alike(one: str, other: str) -> float:
    """Similarity of two texts, 0..1; 0 where it cannot be near 1."""
    if one == other:
        return 1.0
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    if matcher.real_quick_ratio() <= NEAR_TEXT or matcher.quick_ratio() <= NEAR_TEXT:
        return 0.0
    return matcher.ratio() if max(len(one), len(other)) <= _LETTER_BY_LETTER else _alike_in_threes(one, other)


def _alike_in_threes(one: str, other: str) -> float:
    """Estimate the similarity from the groups of three letters that both have.

    A changed letter is part of three groups, so the share of groups left is about the cube of that of the letters.
    """
    left, right = (Counter(zip(text, text[1:], text[2:], strict=False)) for text in (one, other))
    return math.cbrt(2 * (left & right).total() / (left.total() + right.total()))

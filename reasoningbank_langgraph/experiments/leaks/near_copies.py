"""Problems that are nearly the same: the same sentences with other numbers and names, or the same meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from reasoningbank_langgraph.experiments.summary import NEAR_MEANING, NEAR_TEXT, NearDuplicate
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.records import normalise_task

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<=[^\s.!?:;]\s)[A-Z][a-z]+")
_WORD = re.compile(r"[^\W\d_]+")
_BITS = 13
_MIX = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93)
_BLOCK = 512
"""Problems compared with all others at a time, which bounds the memory that takes."""


def near_duplicates(
    learned: Sequence[Problem], solved: Sequence[Problem], embeddings: Embeddings | None
) -> list[NearDuplicate]:
    """Return the pairs that are nearly the same by text or by meaning; every pair is looked at.

    Args:
        learned: the problems that lessons come from.
        solved: the problems that are solved with them; where they are the same ones, each pair is there once.
        embeddings: give the meaning; None to compare the texts alone.
    """
    if not learned or not solved:
        return []
    learned_rows = _fingerprints(learned), _meanings(embeddings, learned)
    solved_rows = learned_rows if solved is learned else (_fingerprints(solved), _meanings(embeddings, solved))
    return [
        NearDuplicate(
            train_id=learned[column].id,
            test_id=solved[row].id,
            text_similarity=round(text, 4),
            embedding_similarity=round(meaning, 4),
        )
        for row, column, text, meaning in _near(learned_rows, solved_rows)
        if solved is not learned or column < row
    ]


def text_similarity(one: str, other: str) -> float:
    """Estimate the share of letters that two texts have in common, 0..1; numbers and names are set aside."""
    return float(_share(_fingerprint(one) @ _fingerprint(other)))


def _near(
    learned: tuple[np.ndarray, np.ndarray], solved: tuple[np.ndarray, np.ndarray]
) -> Iterator[tuple[int, int, float, float]]:
    for first in range(0, len(solved[0]), _BLOCK):
        texts, meanings = (
            rows[first : first + _BLOCK] @ others.T for rows, others in zip(solved, learned, strict=True)
        )
        texts, meanings = _share(texts), np.minimum(meanings, 1.0)
        for row, column in np.argwhere((texts > NEAR_TEXT) | (meanings > NEAR_MEANING)):
            yield first + int(row), int(column), float(texts[row, column]), float(meanings[row, column])


def _share(cosines: np.ndarray) -> np.ndarray:
    """A changed letter is part of three groups of letters: the share of groups left is the cube of that of letters."""
    share: np.ndarray = np.cbrt(np.clip(cosines, 0.0, 1.0))
    return share


def _fingerprints(problems: Sequence[Problem]) -> np.ndarray:
    return np.stack([_fingerprint(problem.text) for problem in problems])


def _fingerprint(text: str) -> np.ndarray:
    """Return how often each group of three letters is there, hashed to a place, as a vector of length 1."""
    letters = np.frombuffer(f" {_shape(text)} ".encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    mixed = letters[:-2] * _MIX[0] + letters[1:-1] * _MIX[1] + letters[2:] * _MIX[2]
    counts = np.bincount((mixed >> (64 - _BITS)).astype(np.int64), minlength=1 << _BITS).astype(np.float32)
    return _unit(counts)


def _shape(text: str) -> str:
    """Return a text without its numbers and names, the words that are capitals inside a sentence somewhere."""
    names = set(_NAME.findall(text))
    bare = _WORD.sub(lambda word: "@" if word[0] in names else word[0], text)
    return _DIGITS.sub("#", normalise_task(bare))


def _meanings(embeddings: Embeddings | None, problems: Sequence[Problem]) -> np.ndarray:
    if embeddings is None:
        return np.zeros((len(problems), 1), dtype=np.float32)
    return _unit(np.asarray(embeddings.embed_documents([problem.text for problem in problems]), dtype=np.float32))


def _unit(vectors: np.ndarray) -> np.ndarray:
    unit: np.ndarray = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
    return unit

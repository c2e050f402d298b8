"""Sentences of a judge's reply that say outright how the attempt went, such as "This is a failure"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from reasoningbank_langgraph.parsing.quotes import leads_in_a_quote
from reasoningbank_langgraph.parsing.vocabulary import (
    JUDGED,
    KNOWN,
    NEGATIONS,
    NOT_OUTRIGHT,
    NOUNS,
    PRONOUNS,
    STATUSES,
    TURNS,
    UNSURE,
    Outright,
    fold_text,
)
from reasoningbank_langgraph.text.folding import Folded

_OPPOSITE: dict[Outright, Outright] = {"success": "failure", "failure": "success"}
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
# In the folded text: a Chinese or Japanese full stop is a plain one, with no blank behind it.
_SENTENCE = re.compile(r"(?<=[.!?])[*_)]{0,3}\s+|\n|(?<=[\u3041-\u30ff\u4e00-\u9fff][.!?])")
_CLAUSE = re.compile(
    r"[,;()、–—]|--|\s-\s|\b(?:because|since|so|therefore|thus|hence|and|but|weil|denn|car|porque|perché)\b"
    r"|\bas\b(?!\s+(?:an?\s|the\s|wrong|incorrect|correct|fail|success|unsuccess))"
)
_QUOTATION = re.compile(
    r"\"[^\"\n]{0,400}\"|“[^“”\n]{0,400}”|«[^«»\n]{0,400}»|„[^„“”\n]{0,400}[“”]|「[^「」\n]{0,400}」"
)
_UNSPACED = re.compile(
    Folded(
        r"(?:因此|所以|总之|总的来说|综上|我认为|我判断)?(?:这|该|此|最终|这个|这次|其){0,2}"
        r"(?:答案|回答|解答|尝试|结果|解法|结论|判断|判定|状态)?[是为:]?(?:一次|一个)?"
        r"(?:(?P<no>错误|不正确|失败|不成功|不对|错)|正确|成功|对)[的了]{0,2}"
        r"|(?:この|その|最終){0,2}(?:答え|解答|回答|試み|結果|判定|評価|これ|それ)(?:は|が|:)"
        r"(?:(?P<no2>間違い|間違って|誤り|誤って|不正解|失敗|正しくない|正しくありません)|正解|正しい|成功|合って)"
        r"(?:で(?:す|した|ある)|だ|います|いる|しました|した|しています)?"
    ).view
)
_ENDING = re.compile(r"'(?:s|d|re|ve|ll|m)\b")
_NUMBER = re.compile(r"(?<=\banswer)\W{1,3}\d[\d.,/]{0,40}\W{0,2}(?=\s(?:is|was)\b)")
_LONGEST = 300


class _Sentence(NamedTuple):
    text: str
    start: int
    edge: bool
    """It is the first or the last one of its piece, next to a verdict or an end of the reply."""


def outright_statuses(pieces: Iterable[str]) -> list[Outright]:
    """Return what the sentences of a text claim of the attempt.

    Only a sentence counts that says nothing else, up to a comma or a "because". One that quotes, tells what others say,
    sets a condition or tells a story claims nothing, and neither does a success that the next one takes back. What may
    be said of a step ("It is correct.") counts only as the first or the last sentence of a piece.

    Args:
        pieces: the text between the objects and the status lines of a reply.
    """
    return [claim for piece in pieces for claim in _claims(piece)]


def _claims(piece: str) -> Iterator[Outright]:
    seen = _QUOTATION.sub(_masked, fold_text(piece))
    sentences = list(_sentences(seen))
    for place, sentence in enumerate(sentences):
        claim = _claim(sentence)
        following = _WORD.findall(sentences[place + 1].text[:40])[:1] if place + 1 < len(sentences) else []
        if claim is None or (claim == "success" and not TURNS.isdisjoint(following)):
            continue
        if not leads_in_a_quote(seen[max(0, sentence.start - 600) : sentence.start]):
            yield claim


def _masked(quotation: re.Match[str]) -> str:
    """A quoted word is one ("a failure" in quotation marks); more is what somebody else says."""
    inner = quotation[0][1:-1]
    return f" {inner} " if len(inner.split()) == 1 else " quotation "


def _sentences(seen: str) -> Iterator[_Sentence]:
    ends = [(0, 0), *(mark.span() for mark in _SENTENCE.finditer(seen)), (len(seen), len(seen))]
    spans = [(start, end) for (_, start), (end, _) in pairwise(ends) if seen[start:end].strip(" \t*_#`")]
    for place, (start, end) in enumerate(spans):
        yield _Sentence(seen[start:end].strip(" \t*_#`-"), start, place in (0, len(spans) - 1))


def _claim(sentence: _Sentence) -> Outright | None:
    """Return what the last clause that says something outright says."""
    if len(sentence.text) > _LONGEST or sentence.text.startswith((">", "'")) or sentence.text.endswith(("?", ":")):
        return None
    text = _NUMBER.sub("", _ENDING.sub("", sentence.text))
    words = frozenset(_WORD.findall(text))
    clauses = enumerate(_CLAUSE.split(text))
    claims = [claim for place, clause in clauses if (claim := _of_clause(clause, edge=sentence.edge, opens=not place))]
    if not claims or not NOT_OUTRIGHT.isdisjoint(words):
        return None
    taken_back = claims[-1] == "success" and not UNSURE.isdisjoint(words)
    return None if taken_back else claims[-1]


def _of_clause(clause: str, *, edge: bool, opens: bool) -> Outright | None:
    """Read a clause as it is ("My verdict: failure"), or what follows its colon."""
    lead, colon, rest = clause.rpartition(":")
    said = _of_part(clause, edge=edge, alone=edge and opens)
    if said or not colon:
        return said
    said = _of_part(rest, edge=False, alone=False)
    return None if said == "success" and leads_in_a_quote(lead + colon) else said


def _of_part(part: str, *, edge: bool, alone: bool) -> Outright | None:
    unspaced = _UNSPACED.fullmatch(part.strip(" \t*_.!"))
    if unspaced:
        return "failure" if unspaced["no"] or unspaced["no2"] else "success"
    return _of_words(_WORD.findall(part), edge=edge, alone=alone)


def _of_words(words: list[str], *, edge: bool, alone: bool) -> Outright | None:
    """Return what words that are all known say: of the attempt, of what "this" is, or alone ("A clear failure.")."""
    statuses = [word for word in words if word in STATUSES]
    if not KNOWN.issuperset(words) or len({STATUSES[word] for word in statuses}) != 1:
        return None
    claim, before = STATUSES[statuses[0]], words[: words.index(statuses[0])]
    if sum(word in NEGATIONS for word in words) % 2:
        claim = _OPPOSITE[claim]
    pronoun = (edge or not NOUNS.keys().isdisjoint(statuses)) and not PRONOUNS.isdisjoint(before)
    told = pronoun or not JUDGED.isdisjoint(before) or (alone and claim == "failure")
    return claim if told else None

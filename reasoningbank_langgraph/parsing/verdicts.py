"""A judge's reply as a `Verdict`: three states, and never a raise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reasoningbank_langgraph.parsing.claims import Claim, claims_in_pieces, claims_of, claims_of_mended
from reasoningbank_langgraph.parsing.json_escapes import restore_latex
from reasoningbank_langgraph.parsing.json_objects import (
    FoundObject,
    Objects,
    document,
    find_objects,
    without_last_brace,
)
from reasoningbank_langgraph.parsing.quotes import is_attributed, last_sentence, stands_alone
from reasoningbank_langgraph.parsing.replies import Reply, looks_like_refusal, read_reply
from reasoningbank_langgraph.parsing.status_lines import between_status_lines, status_lines
from reasoningbank_langgraph.parsing.status_sentences import outright_statuses
from reasoningbank_langgraph.parsing.status_words import read_status
from reasoningbank_langgraph.parsing.vocabulary import Outright
from reasoningbank_langgraph.records import IndeterminateReason, Verdict


def parse_verdict(reply: object) -> Verdict:
    """Read a judge's reply: JSON as asked for, JSON with the usual slips, or the paper's `Status:` line.

    A reply that is one JSON document says what its outermost object says; a text inside a string of it is a text. In
    other replies an object or a line decides where it stands for itself, and not as a quotation within a sentence.

    Args:
        reply: a string or a LangChain `AIMessage`.

    Returns:
        `success` or `failure` only if the reply says so whole, without reservation and without contradicting itself.
        Otherwise `indeterminate` with a reason: `unparsed`, `conflict` where two parts of it say different things (two
        objects, keys, lines or calls, quoted ones too, or an outright sentence such as "This is a failure." beside a
        success), `refused`, `truncated`, `error`, or `no_evidence` where the judge says it cannot tell. A confidence
        that is no number from 0 to 1 becomes None; of several the least counts.
    """
    read = read_reply(reply)
    if read.ending == "error":
        return _indeterminate("error")
    if read.refused:
        return _indeterminate("refused", read.text)
    called = _from_calls(read.calls)
    if called and read.ending == "length":  # arguments of a cut call arrive completed
        return _indeterminate("truncated", called[0].rationale)
    said, cut = _from_text(read)
    if cut and not called:
        return _indeterminate("truncated", read.text)
    return _decide([*called, *said, *_from_whole(read.whole)], read.text)


def _decide(claims: Sequence[Claim], text: str) -> Verdict:
    """Return what all claims agree on, if one of them speaks for the reply."""
    standing = [claim for claim in claims if claim.decides]
    if len({claim.reading for claim in claims}) > 1:
        return _indeterminate("conflict", standing[0].rationale if standing and standing[0].rationale else text)
    if not standing:
        return _indeterminate("refused" if looks_like_refusal(text) else "unparsed", text)
    deciding = next((claim for claim in standing if claim.rationale), standing[0])
    rationale = deciding.rationale.encode("utf-8", "replace").decode("utf-8")
    if deciding.reading == "undecided":
        return _indeterminate("no_evidence", rationale)
    sure = [claim.confidence for claim in standing if claim.confidence is not None]
    return Verdict(status=deciding.reading, confidence=min(sure, default=None), rationale=rationale)


def _from_calls(calls: Iterable[object]) -> list[Claim]:
    """Read every call; its arguments are one document, decoded or as JSON text."""
    claims: list[Claim] = []
    for call in calls:
        value = document(call) if isinstance(call, str) else restore_latex(call)
        if value is None and isinstance(call, str):
            claims += [claim for found in find_objects(call).found for claim in _from_found(call, found)]
        else:
            claims += claims_of(value)
    return claims


def _from_text(read: Reply, *, left_out: bool = False) -> tuple[list[Claim], bool]:
    """Return what the text says, and whether it is cut."""
    whole = document(read.text)
    if whole is not None:
        return claims_of(whole), read.cut
    objects = _objects(read)
    claims = [claim for found in objects.found for claim in _from_found(read.text, found)]
    pieces = objects.prose(read.text)
    prose = "\n".join(pieces)
    lines, hedged = status_lines(prose)
    claims += claims_in_pieces(prose)
    claims += [Claim(line.reading, None, line.thoughts, line.decides) for line in lines]
    claims += [Claim(reading, None, "", decides=False) for reading in _outright(pieces, left_out=left_out)]
    if hedged:
        claims = [claim._replace(decides=False) for claim in claims]
    return claims, _is_cut(read, objects)


def _outright(pieces: Iterable[str], *, left_out: bool) -> list[Outright]:
    """Return what sentences say outright; of thinking, which weighs one and the other, only what it comes to."""
    said = outright_statuses([part for piece in pieces for part in between_status_lines(piece)])
    return said[-1:] if left_out else said


def _from_found(text: str, found: FoundObject) -> list[Claim]:
    claims = claims_of_mended(found.value, text[found.start : found.end]) if found.mended else claims_of(found.value)
    if not claims:
        return []
    if found.in_unread or not stands_alone(text, found.start, found.end) or is_attributed(text, found.end):
        return [claim._replace(decides=False) for claim in claims]
    led_in = read_status(last_sentence(text[max(0, found.start - 300) : found.start]).rstrip(" :："))
    return [*claims, Claim(led_in, None, "", decides=False)] if led_in else claims


def _from_whole(whole: str) -> list[Claim]:
    """What was left out as thinking, perhaps by a quoted tag, cannot decide, and may not say otherwise."""
    said, _ = _from_text(Reply(whole), left_out=True)
    return [claim._replace(decides=False) for claim in said]


def _objects(read: Reply) -> Objects:
    objects = find_objects(read.text)
    if read.ending == "stop" and objects.open_at is not None and objects.open_after_last():
        last = without_last_brace(read.text[objects.open_at :])
        if last is not None:
            end = len(read.text)
            return Objects([*objects.found, FoundObject(last, objects.open_at, end)], objects.unread, None)
    return objects


def _is_cut(read: Reply, objects: Objects) -> bool:
    """A reply is cut if its thinking, its last object, or a text at the token limit has no end.

    An object that closes right at the limit is whole, with any run of spaces after it.
    """
    at_limit = read.ending == "length" and not objects.end(read.text)
    return read.cut or objects.open_after_last() or at_limit


def _indeterminate(reason: IndeterminateReason, text: str = "") -> Verdict:
    return Verdict(status="indeterminate", reason=reason, rationale=text.strip()[:2000])

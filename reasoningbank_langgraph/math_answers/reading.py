"""Text -> forms. An answer that can be read in two ways has two readings."""

from __future__ import annotations

import re
from itertools import pairwise

from reasoningbank_langgraph.math_answers import asides, nodes, units
from reasoningbank_langgraph.math_answers.forms import (
    Amount,
    Assignment,
    Choice,
    Clock,
    Form,
    Listing,
    Matrix,
    Numeral,
    Ratio,
    Relation,
    Row,
    Union,
    Words,
)
from reasoningbank_langgraph.math_answers.grammar import parse
from reasoningbank_langgraph.math_answers.inequalities import inequality
from reasoningbank_langgraph.math_answers.lexer import OPENING, Token, depth_change, split_at, tokens_of
from reasoningbank_langgraph.math_answers.nodes import UnreadableError
from reasoningbank_langgraph.math_answers.prose import in_digits, named, unwrapped, words

MAX_ITEMS = 48
_THOUSANDS = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])")
_BRACKET = re.compile(r"[(\[]|\\\{")
_FUNCTION = re.compile(r"[a-zA-Z]\s*(?:\^\{-1\})?\(\s*[a-z](?:\s*,\s*[a-z])*\s*\)\s*=(?!=)")
_LISTS = {",": ",", ";": ",", "and": ",", "or": "or", ", and": ",", ", or": "or", "&": ","}
_COMPARISONS = {"=": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_POINTS = re.compile("[A-Z]{2,3}")
"""The name of a line, an angle or a triangle, where the order of the letters counts, and no product."""


def readings(tidied: str) -> list[Form]:
    """Return what an answer may mean, likeliest first; the last reading is its letters.

    Args:
        tidied: The answer in the spelling of `spelling.tidy`.
    """
    return [*_values(tidied), *_beside_asides(tidied), words(tidied)]


def _values(tidied: str) -> list[Form]:
    found: list[Form] = []
    joined = tidied if _BRACKET.search(tidied) else _THOUSANDS.sub(_join, tidied)
    for text in dict.fromkeys((joined, tidied, in_digits(tidied))):
        for reading in (_read_text, _read_letter_unit, _read_bracketed_unit):
            try:
                form = reading(text)
            except UnreadableError:
                continue
            if form is not None and form not in found:
                found.append(form)
    return found


def _beside_asides(tidied: str) -> list[Form]:
    """Read the value of a choice, and what is left of an answer that rejects a value and is not that one."""
    choice, part = asides.chosen(tidied), asides.kept(tidied)
    found: list[Form] = [Choice(choice.letter, form) for form in readings(choice.value)] if choice else []
    if part:
        rejected = list(filter(_is_single, readings(part.rejected)))
        found += [form for form in readings(part.kept) if rejected and _is_single(form) and form not in rejected]
    return found


def _is_single(form: Form) -> bool:
    """Whether it is one value: of an interval or a list, what is rejected may be a part."""
    value = form.value if isinstance(form, Assignment | Choice) else form
    return isinstance(value, Amount | Ratio | Numeral | Clock)


def _join(found: re.Match[str]) -> str:
    return found[0].replace(",", "")


def _read_text(text: str) -> Form | None:
    return named(text) or _read(tokens_of(_FUNCTION.sub("", unwrapped(text), count=1)))


def _read_letter_unit(text: str) -> Form | None:
    measured = units.letter_unit(tokens_of(text))
    return Amount(parse(measured.tokens), measured.unit) if measured else None


def _read_bracketed_unit(text: str) -> Form | None:
    measured = units.bracketed_unit(tokens_of(text))
    if measured is None:
        return None
    node = parse(measured.tokens)
    return Amount(node, measured.unit) if all(part.op != "sym" for part in nodes.walk(node)) else None


def _read(tokens: list[Token]) -> Form:
    parts, separators = split_at(tokens, _LISTS)
    if len(parts) == 1:
        return _single(tokens)
    filled = [part for part in parts if part]
    if len(filled) > MAX_ITEMS or not parts[0] or any(not left and not right for left, right in pairwise(parts)):
        raise UnreadableError
    forms = _flat(tuple(map(_single, filled)))
    if "or" in separators and all(isinstance(form, Row | Union) for form in forms):
        return Union(forms)
    return _listing(forms)


def _listing(forms: tuple[Form, ...]) -> Form:
    """Join items; `x=1, x=2` and `x=1, 2` are one assignment of two values."""
    head, *rest = forms
    if isinstance(head, Assignment):
        same = [form.value for form in rest if isinstance(form, Assignment) and form.name == head.name]
        bare = [form for form in rest if isinstance(form, Amount)]
        if rest and len(rest) in (len(same), len(bare)):
            return Assignment(head.name, Listing(_flat((head.value, *(same or bare)))))
    return Listing(forms)


def _flat(forms: tuple[Form, ...]) -> tuple[Form, ...]:
    """Spread the two values of each plus-minus."""
    spread: list[Form] = []
    for form in forms:
        spread.extend(form.items if isinstance(form, Listing) and not form.braces else [form])
    return tuple(spread)


def _single(tokens: list[Token]) -> Form:
    if not tokens:
        raise UnreadableError
    for reader in (_member, _relation, _union, _bracketed, _signs, _matrix, _colon, _numeral):
        form = reader(tokens)
        if form is not None:
            return form
    return _amount(tokens)


def _amount(tokens: list[Token]) -> Form:
    if len(tokens) == 1 and _POINTS.fullmatch(tokens[0].text):
        return Words(tokens[0].text, is_prose=False)
    if all(token.kind in ("text", "letters") for token in tokens):
        word = words(" ".join(token.text for token in tokens))
        if any(token.kind == "text" for token in tokens) or (word.is_prose and len(word.text) > 3):
            return Words(word.text, is_prose=True)
    measured = units.split_unit(tokens)
    return Amount(parse(measured.tokens), measured.unit)


def _member(tokens: list[Token]) -> Form | None:
    r"""`x \in S` is S."""
    parts, found = split_at(tokens, {r"\in": "in"})
    return _single(parts[1]) if len(found) == 1 and len(parts[0]) == 1 else None


def _union(tokens: list[Token]) -> Form | None:
    parts, found = split_at(tokens, {r"\cup": "cup"})
    return Union(tuple(map(_single, parts))) if found else None


def _signs(tokens: list[Token]) -> Form | None:
    r"""`3\pm\sqrt2` is two values."""
    places = [index for index, token in enumerate(tokens) if token.text in (r"\pm", r"\mp")]
    if not places:
        return None
    variants = []
    for sign in ("+", "-"):
        signed = list(tokens)
        for index in places:
            flipped = {"+": "-", "-": "+"}[sign] if tokens[index].text == r"\mp" else sign
            signed[index] = Token("mark", flipped, gap=True)
        variants.append(_amount(signed))
    return Listing(tuple(variants))


def _encloses(tokens: list[Token]) -> bool:
    """Whether the first token's bracket closes with the last token."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += depth_change(token)
        if depth == 0:
            return index == len(tokens) - 1 and index > 0
    return False


def _matrix(tokens: list[Token]) -> Form | None:
    if tokens[0].text != r"\begin" or not _balanced_matrix(tokens):
        return None
    body = tokens[4:-4]
    rows, _ = split_at(body, {r"\\": "row"})
    if rows and not rows[-1]:
        rows.pop()
    cells = [split_at(row, {"&": "cell"})[0] for row in rows]
    if not cells or any(len(row) != len(cells[0]) for row in cells) or len(cells) * len(cells[0]) > MAX_ITEMS:
        raise UnreadableError
    return Matrix(tuple(tuple(map(_single, row)) for row in cells))


def _balanced_matrix(tokens: list[Token]) -> bool:
    names = ("pmatrix", "bmatrix", "matrix", "Bmatrix", "array")
    head, tail = [t.text for t in tokens[:4]], [t.text for t in tokens[-4:]]
    return len(tokens) > 8 and head[2] in names and [r"\end", *head[1:]] == tail


def _bracketed(tokens: list[Token]) -> Form | None:
    opening, closing = tokens[0].text, tokens[-1].text
    if [token.text for token in tokens] == [r"\emptyset"]:
        return Listing((), braces=True)
    if opening not in OPENING or tokens[0].kind == "letters" or not _encloses(tokens):
        return None
    inside = tokens[1:-1]
    if opening == r"\{" or (opening == "{" and (not inside or split_at(inside, _LISTS)[1])):
        return _set(inside, opening, closing)
    parts, found = split_at(inside, {",": ",", ";": ","})
    if not found or closing not in (")", "]"):
        return None
    if len(parts) > MAX_ITEMS:
        raise UnreadableError
    return Row(opening, tuple(map(_single, parts)), closing)


def _set(inside: list[Token], opening: str, closing: str) -> Form:
    if closing != OPENING[opening] or any(token.text in ("|", ":") for token in inside):
        raise UnreadableError
    if not inside:
        return Listing((), braces=True)
    parts, _ = split_at(inside, _LISTS)
    if len(parts) > MAX_ITEMS:
        raise UnreadableError
    return Listing(_flat(tuple(map(_single, filter(None, parts)))), braces=True)


def _colon(tokens: list[Token]) -> Form | None:
    parts, found = split_at(tokens, {":": ":", "to": ":", r"\to": ""})
    return Ratio(tuple(map(parse, parts))) if found and "" not in found else None


def _numeral(tokens: list[Token]) -> Form | None:
    texts = [token.text for token in tokens if token.text not in ("{", "}") and token.kind != "text"]
    if len(texts) != 3 or texts[1] != "_" or not texts[2].isdigit() or not texts[0].isalnum():
        return None
    return Numeral(texts[0].upper(), int(texts[2][:4])) if texts[0][0].isdigit() else None


def _relation(tokens: list[Token]) -> Form | None:
    parts, ops = split_at(tokens, _COMPARISONS)
    if not ops:
        return None
    if len(ops) == 1 and ops[0] in ("=", "!="):
        return _equation(ops[0], *parts)
    return inequality(list(map(parse, parts)), ops)


def _equation(op: str, left: list[Token], right: list[Token]) -> Form:
    name, other = _name(left), right
    if not name:
        name, other = _name(right), left
    if op == "=" and name:
        value = _single(other)
        if not _mentions(value, name):
            return Assignment(name, value)
    names = _names(left)
    if op == "=" and names:
        row = _single(right)
        if isinstance(row, Row) and len(row.items) == len(names):
            return Listing(tuple(map(Assignment, names, row.items)))
        raise UnreadableError
    return Relation(op, parse(left), parse(right))


def _name(tokens: list[Token]) -> str:
    """The variable when the tokens are one and nothing else."""
    try:
        node = parse(tokens)
    except UnreadableError:
        return ""
    return node.name if node.op == "sym" else ""


def _names(tokens: list[Token]) -> list[str]:
    if not tokens or tokens[0].text != "(" or not _encloses(tokens):
        return []
    parts, _ = split_at(tokens[1:-1], {",": ","})
    names = list(map(_name, parts))
    return names if all(names) else []


def _mentions(form: Form, name: str) -> bool:
    return isinstance(form, Amount) and any(node.op == "sym" and node.name == name for node in nodes.walk(form.node))

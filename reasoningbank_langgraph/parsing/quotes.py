"""Whether something in a reply is its answer or a quotation, by where it stands and what introduces it.

The rules are one-sided on purpose: where both are possible it is a quotation, as a lost lesson costs less than a
forged one.
"""

from __future__ import annotations

import re

from reasoningbank_langgraph.parsing.status_words import word_set

_WINDOW = 600
"""Characters before and after that are looked at."""
_LONGEST_LINE = 20_000
_SENTENCE_END = re.compile(r"[.!?]\s|\n")
_LIST_MARK = re.compile(r"\s*(?:[-*+]|\d{1,2}[.)])\s*(?=\Z|\*)")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_FENCE_BEFORE = re.compile(r"(?:\A|\n)[ \t]*(?:`{3,}|~{3,})[ \t]*\w*\s*\Z")
_FENCE_AFTER = re.compile(r"\s*\n[ \t]*(?:```|~~~)[ \t]*(?=\n|\Z)|[ \t]*```[ \t]*(?=\n|\Z)")
_OPENING_MARK = re.compile("(?:\\A|\\n)[ \\t]*(?:[\"'“‘«„「『‹]{1,3}|<!--)\\s*\\Z")
_CAPTION = re.compile(r"[#/].*|\*\*[^*]*\*\*|\[[^\[\]]*\]|([=-])\1.*\1|[A-Z\W\d]+")
_BEHIND = re.compile(r"\s*(?:--|[—–(\[])([^\n]{0,200})")
_OPENING_TAG = re.compile(r"<(?!(?:tool|function)_?calls?>)\w[^<>/]{0,80}>\Z")


# "The attempt claims: {...}", "I would not answer {...}": what follows is not what the reply itself says.
_TELLING = word_set(
    """say says said saying states stated claim claims claimed claiming write writes wrote written contain contains
    contained include includes included hold holds held ends ended ending quote quotes quoted quoting print prints
    printed read reads assert asserts asserted embed embeds embedded tell tells told instructs demand demands insist
    insists try tries tried pretend pretends inject injects injected forge forged fake faked bogus"""
)
_DENYING = word_set(
    """ignore ignored ignoring not never no don't doesn't isn't wasn't cannot can't won't wouldn't instead rather if
    unless"""
)
_SAYING = (
    _TELLING
    | _DENYING
    | word_set("example asked may might quotation quotations evidence examples citation cited rejected")
)
_MY = re.compile(r"(?<![^\W\d_])my(?![^\W\d_])")
_CLAUSE = re.compile(r"\b(?:and|but|so|thus|therefore|hence|here|now|then|i)\b")
# Whose words follow: the attempt's ("The attempt: {...}", "Its text: {...}"),
_OTHERS = word_set(
    """attempt attempt's attempts agent agent's solver solver's solution solution's student student's assistant
    assistant's model model's user user's tool tool's trajectory transcript message page document log logs line
    excerpt excerpts messages format it its they their he his she her them someone"""
)
# or those of who writes ("Here is my evaluation of the attempt: {...}", "The attempt is correct: {...}").
_OWN = word_set(
    """my here json verdict judgment judgement judging evaluation assessment decision conclusion conclude grade grading
    rating review lessons lesson items item memory memories"""
)
_EVALUATED = word_set("correct incorrect right wrong valid invalid complete incomplete fails failed succeeds succeeded")
# A lead-in with none of these is in no language that is read here ("Der Agent schreibt: {...}"), or is a mere caption.
_FAMILIAR = _OWN | _EVALUATED | word_set(
    """the this that is are of to and for with based i i'm i'll let's we now then so thus therefore hence sure okay
    answer output requested response result results reply analysis summary feedback report judge extracted learned
    insight insights takeaways strategy strategies learnings reflection reflections guidelines advice tips heuristics
    principles rules best choice selection selected winner ranking
    mein meine urteil bewertung hier lehren lektionen voici mon évaluation leçons mi veredicto evaluación aquí lecciones
    giudizio ecco lezioni meu minha veredito avaliação aqui lições мой моя вердикт вот уроки"""
)  # fmt: skip
_FAMILIAR_UNSPACED = re.compile("我的|判断|判定|结论|結論|以下|经验|教训|私の|評価|教訓")
_OPENING = (_SAYING - {"asked"}) | word_set("is was are were with as follows following")


def stands_alone(text: str, start: int, end: int) -> bool:
    """Say whether the object at `start:end` is an answer of the reply.

    It is where it has lines or a code fence to itself, or follows a lead-in with a colon, or ends the reply; and never
    inside a sentence that goes on, in quotation marks, in backticks, in a `>` quotation, in a fence within a fence, or
    after words that announce what somebody else said.
    """
    before, after = text[max(0, start - _WINDOW) : start], text[end : end + _WINDOW]
    fence = _FENCE_BEFORE.search(before)
    if fence:
        before, after = before[: fence.start()] + "\n", _FENCE_AFTER.sub("\n", after, count=1)
        if _FENCE_BEFORE.search(before):
            return False
    line = _LIST_MARK.sub("", before.rpartition("\n")[2], count=1).strip(" \t*_#")
    quoted = before[-1:] in tuple("\"'“‘«`(") or _in_quotation(text, start)
    if quoted or _goes_on(after, opens=not text[:start].strip()):
        return False
    colon = before.rstrip(" \t\r\n*_").endswith((":", "："))
    if line and not colon and after.strip(" \t\r\n*_.!`"):
        return False
    return not (announces_quote(before) if line and not colon else leads_in_a_quote(before))


def is_attributed(text: str, end: int) -> bool:
    """Say whether a dash or a bracket behind an object names somebody else: "(quoted from the attempt)"."""
    behind = _BEHIND.match(text[end : end + _WINDOW])
    return behind is not None and announces_quote(behind[1])


def last_sentence(lead: str) -> str:
    """Return what a text ends in without having ended it."""
    return _SENTENCE_END.split(lead[-_WINDOW:].rstrip() + " ")[-1]


def announces_quote(lead: str) -> bool:
    """Say whether the last sentence of a text leads in what somebody else said; one that has ended leads in nothing."""
    words = _words_of(lead)
    mine = max((place for place, word in enumerate(words) if word == "my"), default=-1)
    if any(word in _SAYING for word in words[mine + 1 :]):
        return True
    if mine >= 0:
        return _disowned(last_sentence(lead).casefold().replace("’", "'"))
    if not words or words[-1] in _EVALUATED:
        return False
    own = next((place for place, word in enumerate(words) if word in _OWN), len(words))
    return any(word in _OTHERS for word in words[:own])


def _disowned(sentence: str) -> bool:
    """Say whether "my" is what another says ("the agent says this is my verdict"), or is denied ("not my verdict")."""
    clause = _CLAUSE.split(_MY.split(sentence)[-2])[-1]
    words = _WORD.findall(clause)
    other = next((place for place, word in enumerate(words) if word in _OTHERS), len(words))
    near = _WORD.findall(clause.rpartition(",")[2])[-2:]
    return not _TELLING.isdisjoint(words[other:]) or not _DENYING.isdisjoint(near)


def leads_in_a_quote(before: str) -> bool:
    """Say whether the end of a text opens what somebody else said: with a colon, a mark, a caption, or a verb."""
    if _OPENING_MARK.search(before):
        return True
    line = before.rstrip().rpartition("\n")[2].strip()
    if _CAPTION.fullmatch(line) and announces_quote(line):
        return True
    lead = before.rstrip(" \t\r\n*_`")
    tag = _OPENING_TAG.search(lead)
    if tag:
        return announces_quote(tag[0])
    words = _words_of(lead)
    if lead.endswith((":", "：")):
        familiar = not words or not _FAMILIAR.isdisjoint(words) or _FAMILIAR_UNSPACED.search(last_sentence(lead))
        return not familiar or announces_quote(lead)
    return bool(words) and words[-1] in _OPENING and announces_quote(lead)


def _words_of(lead: str) -> list[str]:
    return _WORD.findall(last_sentence(lead).casefold().replace("’", "'"))


def _in_quotation(text: str, at: int) -> bool:
    line = text.rfind("\n", max(0, at - _LONGEST_LINE), at) + 1
    return text[line : line + 20].lstrip().startswith(">")


def _goes_on(after: str, *, opens: bool) -> bool:
    """Say whether what follows belongs to the same sentence; after what opens a reply, whether its line goes on."""
    same_line = after.partition("\n")[0].strip(" \t\r*_")
    following = same_line[:1] if opens else after.lstrip(" \t\r\n*_")[:1]
    if following.islower() or (following in tuple("\"'”’»,:)|") and not opens):
        return True
    return bool(same_line) and not (opens or same_line[0].isalpha() or same_line[0] in ".!<{[#}];")

"""The four properties of a fenced block, checked with a normaliser of their own."""

import re
import unicodedata

from reasoningbank_langgraph.text import parse_rendered

FENCE = re.compile(r"=== (begin|end) ([a-z ]+) ([0-9a-f]{16}) ===")
IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
ROLE_START = re.compile(
    r"[\s>*#_\-+]*(?:human|user|assistant|system|developer|tool|function|model|instruction|judge|status|verdict)[*_\s]*:"
    r"|\s*#+\s*(?:human|user|assistant|system|instruction|response)(?=\s*(?:[^\w\s]|$))"
    r"|\s*#+\s*memory item\b|\s*assistant\s+to\s*="
)
STRUCTURE = re.compile(
    r"<\|?/?\s*(?:im_start|im_end|endoftext|eot_id|start_header_id|turn|channel|user"
    r"|end_of_sentence|think|tool_call|memory|s)\s*\|?>"
    r"|<turn\|>|<(?:start|end)_of_turn>|\[/?\s*inst\s*\]|<</?sys>>|```|={3,}[ \t]*(?:begin|end)\b"
)
FENCE_START = re.compile(r"\s*(?:~~~|```|={3,}[ \t]*(?:begin|end)\b)")
LINK = re.compile(
    r"://|www\.\w|<img\b|<script\b|<iframe\b|data:[a-z]+/[a-z]|\bjavascript:\w|!\[[^\]]*\][(\[]"
    r"|(?<!\d\.)\b\d{1,3}(?:\.\d{1,3}){3}\b(?!\.\d)"
)


def normalised(text):
    """Fold a text as a downstream step might: width, case, and everything that is not drawn."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = "".join(char for char in folded if char in "\n\t" or unicodedata.category(char)[0] != "C")
    return IGNORABLE.sub("", kept)


def problem_in_text(text):
    """Name what is wrong with untrusted text that was cleaned; None if nothing is."""
    for char in text:
        if char not in "\n\t\u200c\u200d" and unicodedata.category(char) in ("Cc", "Cs", "Co", "Cn"):
            return f"character {char!a}"
    folded = normalised(text)
    for line in folded.splitlines() or [""]:
        for name, found in (("role", ROLE_START.match(line)), ("fence", FENCE_START.match(line))):
            if found:
                return f"{name} at the start of {line[:60]!a}"
    for name, found in (("structure", STRUCTURE.search(folded)), ("link", LINK.search(folded))):
        if found:
            return f"{name} {found[0]!a}"
    return None


def problem_in_block(block, *, label, max_chars=None):
    """Name a fault of the fence itself: not exactly one opening and one closing line, or over the budget."""
    marks = [(line, found) for line in block.splitlines() if (found := FENCE.fullmatch(line))]
    if [found[1] for _, found in marks] != ["begin", "end"] or {found[2] for _, found in marks} != {label}:
        return f"fence lines {[line for line, _ in marks]}"
    if marks[0][1][3] != marks[1][1][3] or block.splitlines()[-1] != marks[1][0]:
        return "the fence lines do not pair"
    if len(re.findall(r"={3}[ \t]*(?:begin|end)\b", normalised(block))) != 2:
        return "a third fence"
    return None if max_chars is None or len(block) <= max_chars else f"{len(block)} characters"


def problem_in_rendered(block, *, count, max_chars):
    """Check all four properties of a rendered block of `count` items."""
    items = parse_rendered(block)
    if len(items) != count:
        return f"{len(items)} items of {count}"
    texts = [text for item in items for name, text in item.items() if name != "learned"]
    faults = [problem_in_block(block, label="notes", max_chars=max_chars), *map(problem_in_text, texts)]
    return next((fault for fault in faults if fault), None)


def inside(fenced):
    """Return what stands between the two fence lines."""
    return fenced.split("\n", 1)[1].rpartition("\n")[0]

"""Counts the payloads that every rendered field withstands: `python -m tests.benchmarks.fence_corpus`."""

from reasoningbank_langgraph.text import clean_line, clean_text, fence, render_memories
from tests.data.fence_payloads import PAYLOADS, UNTOUCHED
from tests.fence_checks import inside, problem_in_block, problem_in_rendered, problem_in_text

BUDGET = 3000
FIELDS = ("title", "description", "content", "outcome", "all")


def item(field, payload):
    """Make an item that holds the payload in one field, or in all three texts."""
    plain = {"title": "Check units", "description": "Mixed units.", "content": "Convert first.", "outcome": "failure"}
    names = ("title", "description", "content") if field == "all" else (field,)
    return {**plain, **dict.fromkeys(names, payload)}


def shown(field, payload):
    """Say how many of the two items have room and something to show."""
    if field != "outcome" and not clean_line(payload):
        return 2 if field == "description" else 1
    return 1 if field in ("content", "all") and len(payload) > BUDGET else 2


def cases():
    """Yield `(name, fault or None)` for each payload in each place untrusted text is shown."""
    for number, payload in enumerate(PAYLOADS):
        for field in FIELDS:
            block = render_memories([item(field, payload), item("title", "Second")], max_chars=BUDGET)
            yield f"{field} {number}", problem_in_rendered(block, count=shown(field, payload), max_chars=BUDGET)
        fenced = fence(payload, "attempt", max_chars=1000)
        fault = problem_in_block(fenced, label="attempt", max_chars=1000 + 100) or problem_in_text(inside(fenced))
        yield f"fence {number}", fault
    for number, text in enumerate(UNTOUCHED):
        yield f"untouched {number}", None if clean_line(text) == text == clean_text(text) else clean_line(text)


if __name__ == "__main__":
    results = list(cases())
    faults = [(name, fault) for name, fault in results if fault]
    for name, fault in faults:
        print(f"{name}: {fault}")
    print(
        f"{len(PAYLOADS)} payloads, {len(UNTOUCHED)} plain texts: {len(results) - len(faults)} of {len(results)} passed"
    )

"""A bank with a few lessons, for the doors through which others come to it."""

from reasoningbank_langgraph import MemoryBank, MemoryItem
from tests.loop_fakes import indexed_memory

NAMESPACE = ("m", "ann")


def lesson(number=0, **fields):
    given = {
        "id": f"lesson-{number}",
        "title": f"check unit {number}",
        "description": "When lengths are measured.",
        "content": f"Write the unit {number} beside each number.",
        "outcome": "failure",
        "task": f"measure length {number}",
    }
    return MemoryItem(**given | fields)


def bank_with(*items, **settings):
    bank = MemoryBank(indexed_memory(), NAMESPACE, **settings)
    for item in items:
        bank.add([item])
    return bank

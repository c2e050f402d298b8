"""What real models replied when they were asked for lessons is read as it was when it was recorded.

The replies are in tests/data/lesson_replies.jsonl, which tests/data/make_lesson_replies.py wrote.
"""

import json
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage

from reasoningbank_langgraph.extraction import Judged, LessonExtractor
from reasoningbank_langgraph.extraction.contrast import contrast
from reasoningbank_langgraph.judges import ReferenceJudge
from reasoningbank_langgraph.records import Attempt
from reasoningbank_langgraph.testing import ScriptedChatModel

LINES = (Path(__file__).parents[1] / "data/lesson_replies.jsonl").read_text(encoding="utf-8").splitlines()
ROWS = list(map(json.loads, LINES))


def distilled(row):
    chat = ScriptedChatModel(list(map(AIMessage, row["replies"])), metadata={"parameters": row["parameters"]})
    extractor = LessonExtractor(chat, weak=row["weak"])
    group = [judged(row, attempt) for attempt in row["attempts"]]
    dialogue = contrast(group, extractor.limits) if row["kind"] == "contrast" else extractor.dialogue(group[0])
    return extractor.caller.run(dialogue)


def judged(row, attempt):
    messages = [("user", row["task"]), ("ai", attempt)]
    tried = Attempt(task=row["task"], messages=messages, answer=attempt, reference=row["reference"])
    return Judged(tried, ReferenceJudge().invoke(tried))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['model'][:20]} {row['kind']} {row['task'][:20]}")
def test_a_recorded_reply_is_read_as_it_was(row):
    found = distilled(row)
    assert (found.items, found.reason) == (row["lessons"], row["reason"])


@pytest.mark.parametrize("weak", [True, False])
def test_every_kind_of_request_is_among_the_replies_and_at_least_half_gave_lessons(weak):
    rows = [row for row in ROWS if row["weak"] is weak]
    kinds = {"success"} if weak else {"success", "failure", "contrast"}
    assert {row["kind"] for row in rows} == kinds
    assert sum(bool(row["lessons"]) for row in rows) >= len(rows) / 2

"""A model with a small context is asked for less, and never for more than it holds."""

import json
import re

import pytest
from langchain_core.messages import AIMessage

from reasoningbank_langgraph.chat.context import context_tokens, room_in
from reasoningbank_langgraph.extraction import Judged, LessonExtractor, ModelLimits, items_schema
from reasoningbank_langgraph.judges import LLMJudge
from reasoningbank_langgraph.records import Attempt, MemoryItem, RetrievedMemory, Verdict
from reasoningbank_langgraph.testing import ScriptedChatModel
from reasoningbank_langgraph.text import render_memories
from reasoningbank_langgraph.text.trajectory import Room
from tests.loop_fakes import lessons, verdict

TASK = "Anna has 37 apples and buys 45 more. How many has she?"
REPLY = lessons("add what comes in", "draw it", "count twice")


def attempt(steps="37 + 45 = 82"):
    return Attempt(task=TASK, messages=[("user", TASK), ("ai", steps)], answer="82", reference="82")


def model(tokens, script=lambda _: REPLY):
    return ScriptedChatModel(script, profile={"max_input_tokens": tokens} if tokens else None)


def asked(chat):
    return re.sub(r"[0-9a-f]{16}", "", chat.calls[0][-1].text)  # the fences' numbers may hold any digits


@pytest.mark.parametrize(("tokens", "count", "shown"), [(None, 3, True), (32_768, 3, True), (4_096, 1, False)])
def test_a_small_model_is_asked_for_one_lesson_and_sees_no_details_of_the_task(tokens, count, shown):
    chat = model(tokens)
    found = LessonExtractor(chat).invoke(Judged(attempt(), Verdict(status="success", judge="x")))
    assert len(found.items) == count
    assert [detail in asked(chat) for detail in ("Anna", "37", "45", "82")] == [shown] * 4
    assert ("No two lessons say the same" in asked(chat)) is shown


def test_a_small_model_that_still_names_details_is_not_asked_the_same_again():
    chat = model(4_096, lambda _: lessons("Anna adds"))
    found = LessonExtractor(chat).invoke(Judged(attempt(), Verdict(status="success", judge="x")))
    assert (found.reason, len(chat.calls)) == ("dropped", 1)


def test_a_reply_that_cannot_be_read_is_asked_for_once_more():
    replies = iter(["no idea", REPLY])
    chat = model(4_096, lambda _: AIMessage(next(replies)))
    assert len(LessonExtractor(chat).invoke(Judged(attempt(), Verdict(status="failure", judge="x"))).items) == 1
    assert "could not be read" in asked_last(chat)


def test_words_of_the_prompt_are_no_lesson():
    chat = model(4_096, lambda _: lessons("The method in a few words"))
    found = LessonExtractor(chat).invoke(Judged(attempt(), Verdict(status="success", judge="x")))
    assert (found.items, found.dropped) == ([], {"copied": 1})


@pytest.mark.parametrize("rendered", [True, False], ids=["our block", "a block of one's own"])
@pytest.mark.parametrize("change", [str, str.upper, lambda text: f"  {text}"])
def test_lessons_that_stand_in_the_trajectory_are_not_learned_again(change, rendered):
    shown = [lesson(f"Rule {name}", f"Look at {name} before all else.") for name in ("units", "signs", "groups")]
    block = render_memories(shown) if rendered else "\n".join(f"{item.title}: {item.content}" for item in shown)
    copies = [{"title": change(item.title), "description": "always", "content": change(item.content)} for item in shown]
    chat = model(None, lambda _: json.dumps({"items": copies}))
    memories = [RetrievedMemory(item=item, why="near") for item in shown]
    tried = Attempt(task=TASK, messages=[("user", block), ("user", TASK), ("ai", "82")], answer="82", memories=memories)
    found = LessonExtractor(chat).invoke(Judged(tried, Verdict(status="success", judge="x")))
    assert (found.items, found.dropped) == ([], {"copied": 3})
    assert ("before all else" in asked(chat)) is not rendered


def lesson(title, content):
    return MemoryItem(title=title, description="When it fits", content=content, outcome="success", task="another")


def asked_last(chat):
    return chat.calls[-1][-1].text


@pytest.mark.parametrize("tokens", [2_048, 4_096, 8_192])
@pytest.mark.parametrize("kind", ["judge", "extract"])
def test_no_attempt_is_so_long_that_the_prompt_exceeds_the_context(kind, tokens):
    chat = model(tokens, lambda _: verdict() if kind == "judge" else REPLY)
    long = Attempt(task="t " * 12_000, messages=[("ai", "x = 1\n" * 5_000)], answer="y " * 12_000)
    if kind == "judge":
        LLMJudge(chat).invoke(long)
    else:
        LessonExtractor(chat).invoke(Judged(long, Verdict(status="success", judge="x")))
    characters = sum(len(message.text) for message in chat.calls[0])
    assert characters / 2.5 + 300 <= tokens


def test_the_room_is_shared_and_never_more_than_a_large_model_gets():
    assert room_in(model(None), 700) == Room()
    assert room_in(model(1_000_000), 700) == Room()
    small = room_in(model(4_096), 300)
    assert sum(small) <= (4_096 - 300 - 600) * 2.5
    assert small.trajectory > small.task > small.answer >= 100


def test_a_context_is_what_the_profile_says():
    assert context_tokens(model(None)) is None
    assert context_tokens(model(4_096)) == 4_096
    assert ModelLimits.of(model(None), 700).max_tokens == 700
    assert ModelLimits.of(model(4_096), 700).max_tokens == 300
    assert ModelLimits.of(model(4_096), 200).max_tokens == 200


def test_a_lesson_at_its_longest_fits_the_short_reply():
    fields = items_schema(1, short=True)["properties"]["items"]["items"]["properties"]
    longest = {name: "x" * limits["maxLength"] for name, limits in fields.items()}
    assert len(json.dumps({"items": [longest]})) / 2.5 < 300

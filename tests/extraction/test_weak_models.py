"""A weak model is asked for one tip in plain words, and no model for more than it holds."""

import json
import re
from uuid import uuid4

import pytest
from langchain_core.messages import AIMessage

from reasoningbank_langgraph.chat.context import context_tokens, room_in
from reasoningbank_langgraph.chat.parameters import is_weak, parameters_of
from reasoningbank_langgraph.extraction import Judged, LessonExtractor, ModelLimits, Origin
from reasoningbank_langgraph.extraction.contrast import GroupExtractor, make_group_items
from reasoningbank_langgraph.extraction.tips import parse_tip
from reasoningbank_langgraph.extraction.wording import wording_fault
from reasoningbank_langgraph.judges import LLMJudge
from reasoningbank_langgraph.records import Attempt, MemoryItem, Provenance, RetrievedMemory, Verdict
from reasoningbank_langgraph.testing import ScriptedChatModel
from reasoningbank_langgraph.text import render_memories
from reasoningbank_langgraph.text.trajectory import Room
from tests.loop_fakes import lessons, verdict

TASK = "Anna has 37 apples and buys 45 more. How many has she?"
REPLY = lessons("add what comes in", "draw it", "count twice")


def attempt(steps="37 + 45 = 82"):
    """Its answer is no number, so a weak model is asked for a tip and not for a program."""
    return Attempt(task=TASK, messages=[("user", TASK), ("ai", steps)], answer="82 in all", reference="82 in all")


def model(tokens, script=lambda _: REPLY):
    return ScriptedChatModel(script, profile={"max_input_tokens": tokens} if tokens else None)


def asked(chat):
    return re.sub(r"[0-9a-f]{16}", "", chat.calls[0][-1].text)  # the fences' numbers may hold any digits


SUCCESS, FAILURE = Verdict(status="success", judge="x"), Verdict(status="failure", judge="x")
TIP = "When a problem asks for the sum of two quantities, you add them together."
LESSON = {
    "title": "Sum of two quantities",
    "description": "Use this when a problem asks for the sum of two quantities.",
    "content": "You add them together.",
}


def weak(*replies, parameters=1_777_088_000):
    return ScriptedChatModel([AIMessage(text) for text in replies], metadata={"parameters": parameters})


def test_of_a_group_a_weak_model_is_asked_about_the_first_success_alone_and_its_lesson_is_that_of_a_success():
    wrong, right = Judged(attempt("37 - 45"), FAILURE), Judged(attempt(), SUCCESS)
    chat = weak(TIP)
    extractor = GroupExtractor(chat)
    distilled = extractor.caller.run(extractor.dialogue([wrong, right, right]))
    assert distilled.items == [LESSON]
    assert "37 + 45" in asked(chat)
    assert "37 - 45" not in asked(chat)
    [item] = make_group_items([wrong, right, right], distilled, Origin(uuid4(), Provenance()))
    assert item.outcome == "success"


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("qwen2.5-coder-1.5b-instruct-q4_k_m", 1_500_000_000),
        ("Qwen2.5-0.5B", 500_000_000),
        ("SmolLM2-135M-Instruct", 135_000_000),
        ("llama3.2:1b", 1_000_000_000),
        ("Qwen3-30B-A3B", 30_000_000_000),
        ("Qwen2.5-7B-Instruct-1M", 7_000_000_000),
        ("mixtral-8x7b", None),
        ("claude-sonnet-4-5[1m]", None),
        ("model-4bit", None),
        ("gpt-4.1-mini", None),
    ],
)
def test_the_parameters_of_a_model_are_read_from_its_name(name, parameters):
    chat = FakeNamed(name)
    assert parameters_of(chat) == parameters
    assert is_weak(chat) is (parameters is not None and parameters < 3e9)


def test_what_a_server_counted_goes_before_the_name_and_an_argument_before_both():
    assert parameters_of(FakeNamed("tiny-1b", {"parameters": 70_000_000_000})) == 70_000_000_000
    assert not ModelLimits.of(FakeNamed("tiny-1b"), 700, weak=False).weak
    assert ModelLimits.of(FakeNamed("gpt-4.1-mini"), 700, weak=True).weak
    assert LessonExtractor(ScriptedChatModel([]), weak=True).limits.weak


class FakeNamed:
    """What the rule reads of a chat model."""

    profile = None

    def __init__(self, name, metadata=None):
        self.model_name, self.metadata = name, metadata


@pytest.mark.parametrize("tokens", [None, 2_048, 32_768])
def test_the_size_of_the_context_makes_no_model_weak(tokens):
    chat = model(tokens)
    found = LessonExtractor(chat).invoke(Judged(attempt(), SUCCESS))
    assert len(found.items) == 3
    assert "No two lessons say the same" in asked(chat)


def test_a_weak_model_is_asked_for_a_tip_and_sees_the_attempt_as_it_was():
    chat = weak(TIP)
    extractor = LessonExtractor(chat)
    found = extractor.invoke(Judged(attempt(), SUCCESS))
    assert (found.items, found.reason) == ([LESSON], None)
    assert all(detail in asked(chat) for detail in ("Anna", "37", "45", "82", "one short tip"))
    assert "JSON" not in chat.calls[0][0].text + asked(chat)
    assert extractor.caller.asked_how() == {"asked": "plain", "fallbacks": {}}


@pytest.mark.parametrize(("parameters", "known"), [(1_777_088_000, True), (494_032_768, False)])
def test_a_model_of_less_than_a_billion_parameters_is_asked_more_briefly(parameters, known):
    chat = weak(TIP, parameters=parameters)
    assert LessonExtractor(chat).invoke(Judged(attempt(), SUCCESS)).items == [LESSON]
    assert ("what is known" in asked(chat)) is known


@pytest.mark.parametrize(("verdict", "parameters"), [(FAILURE, 1_777_088_000), (SUCCESS, 134_515_008)])
def test_a_model_whose_lessons_are_of_no_use_is_asked_nothing(verdict, parameters):
    assert LessonExtractor(weak(parameters=parameters)).invoke(Judged(attempt(), verdict)).reason == "weak_model"


def test_a_tip_that_names_details_is_asked_for_again_in_a_general_form_and_then_left_out():
    named, general = "When a problem asks what Anna has, add all that she buys.", TIP
    chat = weak(named, general)
    assert LessonExtractor(chat).invoke(Judged(attempt(), SUCCESS)).items == [LESSON]
    assert "details of this one task: Anna" in asked_last(chat)
    found = LessonExtractor(weak(named, named)).invoke(Judged(attempt(), SUCCESS))
    assert (found.items, found.reason, found.dropped) == ([], "dropped", {"task_details": 1})


@pytest.mark.parametrize(
    "said", ["", "Add the", "Read it all again.", "When a problem asks for a sum, " + "add it. " * 6]
)
def test_a_tip_of_no_use_is_asked_for_again(said):
    chat = weak(said, TIP)
    assert LessonExtractor(chat).invoke(Judged(attempt(), SUCCESS)).items == [LESSON]
    assert "Write the tip again, shorter" in asked_last(chat)


@pytest.mark.parametrize(
    ("said", "title", "when", "what"),
    [
        (f"**Tip:** {TIP}", "Sum of two quantities", LESSON["description"], LESSON["content"]),
        (
            "When a problem asks for the price after a discount, a tax, and a tip, subtract the discount first.",
            "Price after a discount, a tax, and a tip",
            "Use this when a problem asks for the price after a discount, a tax, and a tip.",
            "Subtract the discount first.",
        ),
        (
            '"When a problem asks for speed. Divide the distance by the time."',
            "Speed",
            "Use this when a problem asks for speed.",
            "Divide the distance by the time.",
        ),
        (
            "When a problem asks for the total of water, flour, and salt, add the three.",
            "Total of water, flour, and salt",
            "Use this when a problem asks for the total of water, flour, and salt.",
            "Add the three.",
        ),
        (
            "For problems where you need to find out the time that is spent on something in a week (like a long "
            "walk), add it up.",
            "Time that is spent on something in a week",
            "Use this for problems where you need to find out the time that is spent on something in a week (like "
            "a long walk).",
            "Add it up.",
        ),
        (
            "When a problem asks for the total amount of money of different groups with known averages and known "
            "sizes, multiply and add.",
            "Total amount of money of different groups with known averages",
            "Use this when a problem asks for the total amount of money of different groups with known averages and "
            "known sizes.",
            "Multiply and add.",
        ),
        (
            "When a problem asks for what is left, follow these steps:\n1. Add what was used.\n2. Subtract it.",
            "What is left",
            "Use this when a problem asks for what is left.",
            "Follow these steps: Add what was used. Subtract it.",
        ),
    ],
)
def test_the_three_texts_of_a_tip_are_found_by_code(said, title, when, what):
    assert parse_tip(said).items == [{"title": title, "description": when, "content": what}]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (AIMessage("When a problem asks for a sum, add.", response_metadata={"finish_reason": "length"}), "truncated"),
        (AIMessage("When a problem asks for a sum, add the"), "truncated"),
        (AIMessage("I'm sorry, but I can't help with that."), "refused"),
        (AIMessage(" "), "empty"),
        (AIMessage("Read it carefully. Then begin."), "unparsed"),
    ],
)
def test_a_tip_that_is_no_lesson_says_why(said, reason):
    assert (parse_tip(said).items, parse_tip(said).reason) == ([], reason)


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({}, None),
        ({"content": "Subtract the pages read from the total, divided by the"}, "broken_off"),
        ({"content": "Each large and"}, "broken_off"),
        ({"content": "N hours * $N per hour = $N"}, "masked"),
        ({"content": "Add the clips sold in someone to the others."}, "masked"),
        ({"content": "When $N$ is prime, someone who counts factors finds two."}, None),
        ({"content": "Divide by the regular hourly 工资."}, "mixed_scripts"),
        ({"content": "Multiply π by the square of the radius."}, None),
        ({"title": "Understanding the Problem"}, "empty_title"),
        ({"title": "Memory Item 1"}, "empty_title"),
        ({"content": "The problem statement is unclear."}, "about_prompt"),
        ({"content": "Identify what is known. Use the known information to find the unknown."}, "says_nothing"),
        ({"content": "Break the problem into smaller parts, and solve each part step by step."}, "says_nothing"),
        ({"content": "Set up an equation that relates the known values to the unknown. Solve it."}, "says_nothing"),
        ({"content": "Always double-check the calculations and make sure all of it is understood."}, "says_nothing"),
        ({"content": "Always double the weight."}, None),
        ({"content": "Set up an equation for the distance that both have covered."}, None),
        ({"content": "Break the problem into the hours of each day, and add them."}, None),
    ],
)
def test_lessons_of_no_use_as_they_are_worded_are_told_by_why(changed, fault):
    assert wording_fault(LESSON | changed, TASK) == fault


def test_a_second_script_that_the_task_uses_is_no_fault():
    assert wording_fault(LESSON | {"content": "Read 你好 as a greeting."}, "What does 你好 mean?") is None


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
    assert [ModelLimits.of(weak(), most).max_tokens for most in (700, 200)] == [300, 200]

"""How a model is asked for lessons, what is taken of its reply, and when it is asked once more."""

import json

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from reasoningbank_langgraph import Attempt, MemoryItem, RetrievedMemory, Verdict, prompts
from reasoningbank_langgraph.extraction import Judged, LessonExtractor, ModelLimits, accept, ask_lessons, items_schema
from reasoningbank_langgraph.testing import ScriptedChatModel
from reasoningbank_langgraph.text.trajectory import Room

TRIED = Attempt(task="Ann has 27 apples. How many?", messages=[("ai", "I count them.")], answer="all of them")
STRONG, WEAK = ModelLimits(700, Room(), weak=False), ModelLimits(300, Room(), weak=True)


def lesson(name, **more):
    return {"title": f"Rule {name}", "description": f"When {name} occurs", "content": f"Look at {name} first", **more}


def reply(*items):
    return AIMessage(json.dumps({"items": list(items)}))


def taken(*items, cap=3, attempts=(TRIED,)):
    return accept(attempts, reply(*items), cap)


def asking(dialogue, *replies):
    """Return what a dialogue asks for, question by question, and what it ends with."""
    asked = [next(dialogue)]
    try:
        for one in replies:
            asked += [dialogue.send(one)]
    except StopIteration as ended:
        return asked, ended.value
    return asked, None


def test_the_schema_asks_for_three_texts_of_any_length_and_no_more_items_than_the_cap():
    names = ["title", "description", "content"]
    item = {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": names}
    items = {"type": "array", "minItems": 1, "maxItems": 2, "items": item}
    assert items_schema(2) == {"type": "object", "properties": {"items": items}, "required": ["items"]}


@pytest.mark.parametrize(
    ("status", "question"), [("success", prompts.EXTRACT_SUCCESS), ("failure", prompts.EXTRACT_FAILURE)]
)
def test_the_question_shows_the_attempt_its_verdict_and_why(status, question):
    model = ScriptedChatModel([reply(lesson("order"))])
    LessonExtractor(model).invoke(Judged(TRIED, Verdict(status=status, rationale="it was\nchecked")))
    system, user = model.calls[0]
    assert (system.type, system.text) == ("system", prompts.EXTRACT_SYSTEM)
    assert f"Why it is a {status}: it was checked\n" in user.text
    assert f"The attempt ({status}):" in user.text
    places = [user.text.index(text) for text in (TRIED.task, "I count them.", TRIED.answer, question)]
    assert places == sorted(places)
    assert "one to 3 lessons" in user.text


def test_a_verdict_without_a_reason_is_shown_as_one():
    model = ScriptedChatModel([reply(lesson("order"))])
    LessonExtractor(model).invoke(Judged(TRIED, Verdict(status="success")))
    assert "Why it is a success: no reason was given\n" in model.calls[0][1].text


async def test_an_indeterminate_verdict_is_shown_to_no_model():
    model = ScriptedChatModel([])
    judged = Judged(TRIED, Verdict(status="indeterminate", reason="error"))
    for found in (LessonExtractor(model).invoke(judged), await LessonExtractor(model).ainvoke(judged)):
        assert (found.items, found.reason, found.raw) == ([], "indeterminate", None)
    assert model.calls == []


async def test_a_model_that_fails_gives_no_lessons_and_its_error_is_kept():
    extractor = LessonExtractor(ScriptedChatModel(lambda _: ConnectionError("no route")))
    judged = Judged(TRIED, Verdict(status="success"))
    for found in (extractor.invoke(judged), await extractor.ainvoke(judged)):
        assert (found.items, found.reason) == ([], "error")
        assert "no route" in found.raw


def test_a_lesson_is_its_three_texts_and_a_reply_that_gave_one_is_not_kept():
    found = taken(lesson("order", extra="more"), lesson("signs"))
    assert found.items == [lesson("order"), lesson("signs")]
    assert (found.reason, found.raw, found.truncated, found.details) == (None, None, False, ())
    assert found.dropped == found.redacted == {}


def test_what_is_left_out_is_counted_by_why_and_the_reply_is_kept_where_nothing_is_left():
    named = lesson("Ann and 27"), lesson("the 27")
    found = taken(lesson("order"), lesson("order"), *named, lesson("signs"), lesson("digits"), cap=2)
    assert found.items == [lesson("order"), lesson("signs")]
    assert found.dropped == {"copied": 1, "task_details": 2, "over_cap": 1}
    nothing = taken(*named)
    assert (nothing.items, nothing.reason, nothing.dropped) == ([], "dropped", {"task_details": 2})
    assert nothing.details == ("27", "Ann")
    assert nothing.raw == reply(*named).text


def test_a_lesson_that_no_bank_would_hold_is_left_out_as_invalid():
    found = taken(lesson("order", content="x" * 100_000), lesson("signs"))
    assert (found.items, found.dropped) == ([lesson("signs")], {"invalid": 1})


def test_secrets_are_taken_out_of_lessons_and_counted_by_kind():
    secret = lesson("mail", content="Ask ann@example.com or bob@example.com", title="Ask eve@example.com")
    found = taken(secret, lesson("signs", content="Log in with password=hunter22x each time"))
    assert found.items[0]["content"] == "Ask [email removed] or [email removed]"
    assert found.redacted == {"email": 3, "password": 1}


def test_the_secrets_of_a_lesson_that_is_left_out_are_not_counted():
    found = taken(lesson("mail", content="Ask ann@example.com"), cap=0)
    assert (found.items, found.redacted, found.dropped) == ([], {}, {"over_cap": 1})


def test_of_a_long_reply_without_lessons_the_beginning_is_kept():
    found = accept([TRIED], AIMessage("no " * 10_000), 3)
    assert (found.reason, found.raw) == ("unparsed", ("no " * 10_000)[:20_000])


def test_a_reply_that_was_cut_says_so_and_gives_what_was_finished():
    text = json.dumps({"items": [lesson("order"), lesson("signs")]})
    found = accept([TRIED], AIMessage(text[:-20], response_metadata={"finish_reason": "length"}), 3)
    assert (found.items, found.truncated) == ([lesson("order")], True)


@pytest.mark.parametrize(
    ("again", "kept"),
    [
        (lesson("order"), False),
        (lesson("order", title="Another title"), False),
        (lesson("ORDER ", title="Another title"), False),
        (lesson("order", content="Look at " + "order " * 20 + "again"), True),
        (lesson("signs"), True),
    ],
)
def test_a_lesson_the_attempt_was_shown_is_not_learned_again_by_its_content(again, kept):
    shown = MemoryItem(**lesson("order"), outcome="success", task="another")
    attempt = TRIED.model_copy(update={"memories": (RetrievedMemory(item=shown, why="near"),)})
    assert bool(taken(again, attempts=[TRIED, attempt]).items) is kept


def test_a_lesson_with_the_title_and_the_first_words_of_one_that_was_shown_is_a_copy():
    start = "Look at every order of the numbers that the text gives, and then "
    shown = MemoryItem(**lesson("order", content=start + "add them."), outcome="success", task="another")
    attempt = TRIED.model_copy(update={"memories": (RetrievedMemory(item=shown, why="near"),)})
    assert taken(lesson("order", content=start + "take them off."), attempts=[attempt]).dropped == {"copied": 1}
    other = lesson("signs", content=start + "take them off.")
    assert taken(other, attempts=[attempt]).items == [other]
    early = lesson("order", content=start[:40] + "are given.")
    assert taken(early, attempts=[attempt]).items == [early]


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        ("Why did this one work, and which steps should one follow to solve any of them?", False),
        ("first WHY DID THIS ONE  WORK, and which steps should one follow to solve any of them", True),
        ('Be clear. "Why did this one work, and which steps should one follow to solve any of them"! Yes.', False),
        ("Do (When a problem asks for) first", False),
        ("Do\nUse general words: no numbers and no names from this problem\nfirst", False),
        ("Do. Two sentences.", True),
    ],
)
def test_a_sentence_of_the_prompt_is_no_lesson_but_its_words_may_be(sentence, kept):
    assert bool(taken(lesson("order", content=sentence)).items) is kept


def test_the_number_of_a_fence_is_taken_out_of_every_text_of_a_lesson():
    found = taken(
        {"title": "Look 43c2cd2329b0e1d7", "description": "At 43c2cd2329b0e1d7", "content": "43c2cd2329b0e1d7 Do"}
    )
    assert found.items == [{"title": "Look", "description": "At", "content": "Do"}]


@pytest.mark.parametrize(("how", "schema"), [(STRONG, items_schema(2)), (WEAK, None)])
def test_what_is_asked_holds_no_secret_and_the_cap_and_schema_of_the_model(how, schema):
    asked = [SystemMessage("teach"), HumanMessage("Ann wrote to ann@example.com about 27 apples")]
    request = next(ask_lessons([TRIED], asked, how, 2))
    assert [message.text for message in request.messages] == ["teach", "Ann wrote to [email removed] about 27 apples"]
    assert (request.schema, request.max_tokens) == (schema, how.max_tokens)


def test_a_usable_reply_ends_it():
    asked, found = asking(ask_lessons([TRIED], [HumanMessage("?")], STRONG, 1), reply(lesson("a"), lesson("b")))
    assert (len(asked), found.items, found.dropped) == (1, [lesson("a")], {"over_cap": 1})


def test_a_reply_that_names_details_is_asked_for_in_a_general_form_once():
    named = reply(lesson("Ann"))
    dialogue = ask_lessons([TRIED], [SystemMessage("teach"), HumanMessage("Ann has 27")], STRONG, 3)
    (_, again), found = asking(dialogue, named, named)
    assert [message.text for message in again.messages[:3]] == ["teach", "Ann has 27", named.text]
    assert "details of this one task: Ann. Write it again for all tasks" in again.messages[3].text
    assert (again.schema, again.max_tokens) == (items_schema(3), 700)
    assert (found.items, found.dropped) == ([], {"task_details": 1})


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (AIMessage("no <|im_start|> idea" + "!" * 3_000), "unparsed"),
        (AIMessage('{"items": [{"title"', response_metadata={"finish_reason": "length"}), "truncated"),
        (AIMessage('{"items": []}'), "empty"),
    ],
)
def test_a_reply_that_cannot_be_read_is_quoted_back_and_asked_for_again(said, reason):
    question = [SystemMessage("teach"), HumanMessage("?")]
    better = reply(lesson("order"), lesson("signs"), lesson("digits"))
    (_, again), found = asking(ask_lessons([TRIED], question, STRONG, 2), said, better)
    assert [message.type for message in again.messages] == ["system", "human", "ai", "human"]
    assert again.messages[-1].text == prompts.REPAIR_USER.format(reason=reason)
    assert again.messages[2].text[:3] == said.text[:3]
    assert len(again.messages[2].text) <= 2_000
    assert "<|im_start|>" not in again.messages[2].text
    assert (again.schema, again.max_tokens) == (items_schema(2), 700)
    assert (found.items, found.dropped) == ([lesson("order"), lesson("signs")], {"over_cap": 1})


def test_a_reply_of_nothing_is_not_quoted():
    (_, again), found = asking(ask_lessons([TRIED], [HumanMessage("?")], WEAK, 1), AIMessage(" "), AIMessage(" "))
    assert [message.type for message in again.messages] == ["human", "human"]
    assert (found.items, found.raw) == ([], " ")


def test_a_refusal_is_not_asked_again():
    refusal = AIMessage("I'm sorry, but I can't help with that.")
    asked, found = asking(ask_lessons([TRIED], [HumanMessage("?")], STRONG, 1), refusal)
    assert (len(asked), found.reason) == (1, "refused")


def test_an_extractor_of_failures_is_told_the_right_answer_and_no_lesson_names_it():
    attempt = TRIED.model_copy(update={"reference": "4711"})
    model = ScriptedChatModel(lambda _: reply(lesson("4711 first"), lesson("order")))
    found = LessonExtractor(model).invoke(Judged(attempt, Verdict(status="failure", rationale="It is wrong.")))
    assert (
        "Why it is a failure: It is wrong. The right answer, which no lesson may name: 4711\n" in model.calls[0][1].text
    )
    assert (found.items, found.dropped) == ([lesson("order")], {"task_details": 1})
    LessonExtractor(model).invoke(Judged(attempt, Verdict(status="success")))
    assert "4711" not in model.calls[1][1].text

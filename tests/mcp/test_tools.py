"""What the tools answer, what they refuse, and what of it a model may read as it stands."""

import asyncio
import importlib
import sys

import pytest

from reasoningbank_langgraph import errors
from reasoningbank_langgraph.mcp import create_mcp_server
from reasoningbank_langgraph.records import has_visible_text
from reasoningbank_langgraph.testing import ScriptedChatModel
from reasoningbank_langgraph.text import parse_rendered
from tests.data.fence_payloads import PAYLOADS
from tests.fence_checks import problem_in_block, problem_in_text
from tests.mcp.clients import ATTEMPT, READS, WRITES, connected
from tests.small_bank import bank_with, lesson


async def test_a_server_offers_tools_that_read_and_on_request_those_that_write():
    async with connected(bank_with(lesson())) as client:
        assert sorted(client.tools) == READS
        refused = await client.session.call_tool("reasoningbank_forget", {"id": "lesson-0"})
        assert refused.isError
        assert "without --write" in refused.content[0].text
    async with connected(bank_with(), write=True) as client:
        assert sorted(client.tools) == sorted([*READS, *WRITES])
    with pytest.raises(ValueError, match="model="):
        create_mcp_server(bank_with(), write=True)


async def test_each_tool_says_what_it_does_to_the_bank_and_what_goes_in_and_out():
    async with connected(bank_with(), write=True) as client:
        tools = {tool.name: tool for tool in (await client.session.list_tools()).tools}
    hints = {name: tool.annotations for name, tool in tools.items()}
    assert [name for name, hint in sorted(hints.items()) if hint.readOnlyHint] == READS
    assert {name for name, hint in hints.items() if hint.destructiveHint} == {
        "reasoningbank_forget",
        "reasoningbank_resolve",
    }
    assert all(hint.idempotentHint and hint.openWorldHint is False for hint in hints.values())
    for tool in tools.values():
        assert tool.description
        assert tool.inputSchema["additionalProperties"] is False
        assert "namespace" not in tool.inputSchema["properties"]
        assert tool.outputSchema["type"] == "object"


async def test_recalled_lessons_come_in_the_fence_of_every_other_door_and_as_records():
    async with connected(bank_with(lesson(), lesson(1, outcome="success"))) as client:
        message = await client.call("recall", task="measure length 5", k=2)
        assert sorted(found["title"] for found in parse_rendered(message.text)) == ["check unit 0", "check unit 1"]
        structured = message.artifact["structured_content"]["lessons"]
        assert {found["id"] for found in structured} == {"lesson-0", "lesson-1"}
        assert all(0 < found["score"] <= 1 and found["id"] in message.text for found in structured)
        only = await client.found("recall", task="measure length 5", k=2, outcome="success")
        assert [found["id"] for found in only["lessons"]] == ["lesson-1"]
        assert (await client.call("recall", task="measure length 5", min_score=1.0)).text == "No lessons fit."


async def test_a_list_comes_in_pages_that_name_the_next_one():
    async with connected(bank_with(*map(lesson, range(5)))) as client:
        offset, seen = 0, []
        while offset is not None:
            page = await client.found("list", limit=2, offset=offset)
            seen += [found["id"] for found in page["lessons"]]
            assert page["total"] == 5
            assert page["has_more"] == (page["next_offset"] is not None)
            offset = page["next_offset"]
        assert seen == [f"lesson-{number}" for number in range(5)]
        assert (await client.found("list", offset=9))["lessons"] == []


async def test_an_attempt_with_its_outcome_is_learned_from_once():
    bank = bank_with()
    async with connected(bank, write=True) as client:
        first, beside = await asyncio.gather(*(client.found("record", **ATTEMPT) for _ in range(2)))
        assert await client.found("record", **ATTEMPT) == first == beside
        assert await client.found("record", **ATTEMPT | {"outcome": "failure"}) == first
        assert (first["waits_for"], len(first["lessons"])) == (None, 2)
        attempts = await client.found("list", kind="attempts")
        assert [one["id"] for one in attempts["attempts"]] == [first["id"]]
        why = await client.found("why", id=first["lessons"][0])
        assert why["learned_from"] == [first["id"]]
        assert [change["actor"] for change in why["changes"]] == ["program"]
    assert [item.id for item in bank.items()] == first["lessons"]
    assert bank.episodes()[0].provenance.judge == "mcp client"


async def test_an_attempt_without_an_outcome_waits_for_a_verdict_which_may_be_overturned():
    bank = bank_with()
    async with connected(bank, write=True) as client:
        waits = await client.found("record", **ATTEMPT | {"outcome": None})
        assert (waits["waits_for"], waits["lessons"]) == ("verdict", [])
        assert [one["id"] for one in (await client.found("list", kind="waiting"))["attempts"]] == [waits["id"]]
        good = await client.found("resolve", id=waits["id"], outcome="success")
        bad = await client.found("resolve", id=waits["id"], outcome="failure", because="the test failed")
        assert (bad["superseded"], len(bad["lessons"])) == (good["lessons"], 2)
        assert "no attempt 'nobody'" in await client.refused("resolve", id="nobody", outcome="success")
    assert [one.outcome for one in bank.episodes()] == ["failure"]


async def test_what_a_model_cannot_distil_now_is_kept_with_its_verdict_and_learned_when_it_is_sent_again():
    bank = bank_with()
    async with connected(bank, write=True, model=ScriptedChatModel(lambda _: ConnectionError("no server"))) as client:
        left = await client.found("record", **ATTEMPT)
        assert (left["waits_for"], left["lessons"]) == ("model", [])
        assert "no server" in left["failure"]
    (waiting,) = bank.pending()
    assert waiting.verdict.status == "success"
    async with connected(bank, write=True) as client:
        learned = await client.found("record", **ATTEMPT)
    assert (learned["id"], learned["waits_for"], len(learned["lessons"])) == (left["id"], None, 2)


async def test_lessons_that_an_attempt_was_shown_are_known_and_go_with_what_it_taught():
    bank = bank_with(lesson())
    async with connected(bank, write=True) as client:
        learned = await client.found("record", **ATTEMPT, used=["lesson-0"])
        assert "lesson-7" in await client.refused("record", **ATTEMPT | {"answer": "3"}, used=["lesson-7"])
        assert (await client.found("why", id="lesson-0"))["shown_to"]
        gone = await client.found("forget", id="lesson-0", reason="asked by the user")
        assert set(gone["removed"]) == {"lesson-0", *learned["lessons"]}
        assert (await client.found("forget", id="lesson-0"))["removed"] == []
        assert (await client.found("why", id="lesson-0"))["changes"][-1]["reason"] == "asked by the user"
    assert bank.items() == []
    assert bank.pending() == []


async def test_a_mistake_is_an_error_of_the_tool_that_says_what_is_wrong():
    async with connected(bank_with(lesson()), write=True) as client:
        assert "reasoningbank_list" in await client.refused("why", id="nothing")
        assert "task is blank" in await client.refused("record", task="\u200b", answer="2")
        for given, said in (({"namespace": "m/bob"}, "namespace"), ({"k": 0}, "minimum"), ({"k": "many"}, "integer")):
            refused = await client.session.call_tool("reasoningbank_recall", {"task": "measure", **given})
            assert refused.isError
            assert said in refused.content[0].text


async def test_hostile_text_stays_text_in_every_answer():
    visible = [text for text in PAYLOADS if has_visible_text(text[:200])]
    items = [lesson(number, title=text[:200], content=text[:4000]) for number, text in enumerate(visible)]
    bank = bank_with(*items)
    async with connected(bank, write=True) as client:
        hostile = await client.found("record", task=f"do {PAYLOADS[0]}", answer="\n".join(PAYLOADS[:40]))
        offset = 0
        while offset is not None:
            page = await client.call("list", offset=offset)
            check(page, page.artifact["structured_content"]["lessons"])
            offset = page.artifact["structured_content"]["next_offset"]
        check(await client.call("list", kind="waiting"), [])
        for number in range(0, len(items), 25):
            why = await client.call("why", id=f"lesson-{number}")
            check(why, [why.artifact["structured_content"]["lesson"]])
            found = await client.call("recall", task=f"measure length {number} or more", k=3)
            lessons = found.artifact["structured_content"]["lessons"]
            notes, ids = found.text.rsplit("\n=== begin", 1)
            assert lessons
            assert problem_in_block(notes, label="notes") is None
            assert problem_in_block(f"=== begin{ids}", label="ids of the notes") is None
            check_records(lessons)
        check(await client.call("forget", id=hostile["id"]), [])


def check(message, lessons):
    assert problem_in_block(message.text, label="records") is None
    check_records(lessons)


def check_records(lessons):
    texts = [each[name] for each in lessons for name in ("title", "description", "content")]
    assert [text for text in texts if problem_in_text(text)] == []


def test_without_the_sdk_the_error_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "reasoningbank_langgraph.mcp.server")
    with pytest.raises(errors.MissingDependencyError, match=r"pip install 'reasoningbank-langgraph\[mcp\]'"):
        importlib.import_module("reasoningbank_langgraph.mcp").create_mcp_server(bank_with())


async def test_a_text_in_place_of_an_id_is_refused_and_not_repeated_at_length():
    text = "a lesson " * 10_000
    async with connected(bank_with(), write=True) as client:
        for name, given in (
            ("why", {"id": text}),
            ("resolve", {"id": text, "outcome": "success"}),
            ("forget", {"id": text}),
            ("record", {**ATTEMPT, "used": [text]}),
        ):
            answer = await client.session.call_tool(f"reasoningbank_{name}", given)
            assert answer.isError
            assert "too long" in answer.content[0].text
            assert len(answer.content[0].text) < len(text) + 100

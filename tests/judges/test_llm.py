"""A model as judge: what it is asked with, what it may see, and when it is asked again."""

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda

from reasoningbank_langgraph import Attempt, LLMJudge, prompts
from reasoningbank_langgraph.judges.llm import VERDICT_SCHEMA
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.loop_fakes import Capped, Tracer, verdict

ATTEMPT = Attempt(task="add the halves", messages=[("ai", "one whole")], answer="\\boxed{1}")
CUT = AIMessage('{"rationale": "beca', response_metadata={"finish_reason": "length"})


@pytest.mark.parametrize(("reply", "reason"), [("It looks fine to me.", "unparsed"), (CUT, "truncated")])
async def test_a_reply_that_cannot_be_read_is_asked_for_once_more_and_not_shown_again(reply, reason):
    model = ScriptedChatModel([reply, verdict("failure")] * 2)
    judge = LLMJudge(model)
    for judged in (judge(ATTEMPT), await judge.ainvoke(ATTEMPT)):
        assert (judged.status, judged.judge) == ("failure", "llm")
    first, second = model.calls[:2]
    assert second[:-1] == first
    assert second[-1].text == prompts.REPAIR_USER.format(reason=reason)
    assert len(model.calls) == 4


def test_the_model_is_shown_task_steps_and_answer_under_the_rubric():
    model = ScriptedChatModel([verdict()])
    LLMJudge(model)(ATTEMPT)
    system, question = model.calls[0]
    assert system.text == prompts.JUDGE_SYSTEM.format()
    for label, text in (("task", "add the halves"), ("attempt", "one whole"), ("answer", "\\boxed{1}")):
        assert text in question.text.partition(f"=== begin {label} ")[2].partition(f"=== end {label} ")[0]


@pytest.mark.parametrize(("options", "cap"), [({}, 400), ({"max_tokens": 50}, 50)])
async def test_replies_are_capped_when_they_are_asked_for_again_as_well(options, cap):
    model = Capped(["?", verdict()] * 2, caps=[])
    judge = LLMJudge(model, **options)
    judge(ATTEMPT)
    await judge.ainvoke(ATTEMPT)
    assert model.caps == [cap] * 4


class Schemas(ScriptedChatModel):
    """Takes a schema with the question, and keeps it."""

    given: list = []

    def with_structured_output(self, schema, *, include_raw):
        self.given.append(schema)
        return self | RunnableLambda(lambda message: {"raw": message})


def test_a_model_that_takes_a_schema_is_given_that_of_a_verdict_each_time():
    model = Schemas(['{"status": "perhaps"}', verdict()], given=[])
    assert LLMJudge(model)(ATTEMPT).status == "success"
    assert [schema["properties"] for schema in model.given] == [VERDICT_SCHEMA["properties"]] * 2
    assert VERDICT_SCHEMA["properties"]["status"]["enum"] == ["success", "failure"]


@pytest.mark.parametrize("part", ["task", "messages", "answer"])
def test_what_is_shown_fits_beside_the_reply_into_the_context_of_the_model(part):
    long = "a word " * 20_000
    parts = {"task": "t", "answer": "a", "messages": [("ai", "m")]} | {
        part: [("ai", long)] if part == "messages" else long
    }

    def shown(tokens, **options):
        model = ScriptedChatModel([verdict()], profile={"max_input_tokens": tokens})
        LLMJudge(model, **options)(Attempt(**parts))
        return sum(len(message.text) for message in model.calls[0])

    assert shown(4_096) < shown(16_384)
    assert shown(4_096, max_tokens=2_000) < shown(4_096)


async def test_a_model_that_is_too_slow_is_an_outage_that_names_the_limit():
    judge = LLMJudge(ScriptedChatModel(lambda _: verdict(), delay=0.3), time_limit=0.01)
    for judged in (judge(ATTEMPT), await judge.ainvoke(ATTEMPT)):
        assert (judged.status, judged.reason) == ("indeterminate", "error")
        assert judged.rationale.startswith("ModelTimeoutError: judge: no answer within 0.01 s")


async def test_calls_are_traced_once_where_the_caller_traces():
    judge, tracer = LLMJudge(ScriptedChatModel(lambda _: verdict())), Tracer()
    config = {"callbacks": [tracer], "tags": ["mine"]}
    judge.invoke(ATTEMPT, config)
    await judge.ainvoke(ATTEMPT, config)
    for name, tags in tracer.seen:
        assert name == "reasoningbank:judge"
        assert {"mine", "reasoningbank:judge", "nostream"} <= set(tags)
    assert len(tracer.seen) == 2

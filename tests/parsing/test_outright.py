"""A sentence that says outright how the attempt went, against the verdict beside it; other sentences say nothing."""

import pytest
from langchain_core.messages import AIMessage

from reasoningbank_langgraph.parsing import parse_verdict
from tests.conftest import check_each

HELD = '{"status": "success", "confidence": 0.9, "rationale": "each step holds"}'
FAILED = '{"status": "failure", "confidence": 0.8, "rationale": "the units are wrong"}'

FAILURES = [
    "This is a failure.",
    "The answer is wrong.",
    "I judge this a failure.",
    "I judge this as a failure!",
    "I'd call it a failure.",
    "It's a clear failure.",
    "**The final answer is incorrect.**",
    "The agent's answer is wrong because 4 + 4 is 8.",
    "The answer 9 is wrong.",
    "17 times 3 is 51, so the answer is wrong.",
    "It adds twice: the answer is wrong.",
    "The attempt did not succeed.",
    "The answer isn’t correct.",
    "I do not consider this a success.",
    "This cannot be called a success.",
    "The task was not solved.",
    "The attempt is probably a failure.",
    "The sum is 8. This is wrong.",
    "Wrong. The sum is 8.",
    "The answer is right, but the attempt is a failure.",
    "My verdict: failure.",
    "Overall status: failure",
    "Conclusion: the attempt failed",
    "| Verdict | failure |",
    "- The answer is wrong\n- The units are missing",
    'I judge this a "failure".',
    "The аnswer is wrоng.",  # two Cyrillic letters
    "Die Antwort ist falsch.",
    "Der Versuch ist nicht gelungen.",
    "La réponse est fausse.",
    "La réponse n'est pas correcte.",
    "C’est un échec.",
    "La respuesta es incorrecta.",
    "La risposta è sbagliata.",
    "A resposta está errada.",
    "Ответ неверный.",
    "Это провал.",
    "答案是错误的。",
    "因此，这次尝试失败了。它加了两次。",
    "答えは間違いです。",
    "この解答は正しくない。",
]
SUCCESSES = [
    "This is a success.",
    "The answer is correct.",
    "The attempt succeeded.",
    "This is not a failure.",
    "The final answer is not wrong.",
    "Die Antwort ist richtig.",
    "Ответ верный.",
    "答案是正确的。",
]
SILENT = [
    "No step is a failure of logic. All of them hold.",
    "I looked for a failure in each step.",
    "A failure would need a counterexample.",
    "The agent noticed that the answer was wrong and fixed it.",
    "The agent failed, then tried again and succeeded.",
    "The first attempt failed. The second one holds.",
    "The tool call failed once. The next one went through.",
    "The search ran. It failed. It ran again with other words and found the page.",
    "Step 2 is wrong.",
    "- Step 1: correct\n- Step 2: wrong\n- Step 3: correct",
    "If the answer is wrong, the task fails.",
    "Is this a failure? Each step holds.",
    "We must decide whether it is a success or a failure.",
    "Criteria: correct answer, valid steps.",
    "It adds 4 and 4. This is correct. Then it halves. This is wrong. It ends there.",
    'It says "The answer is correct." and "The answer is wrong." at its end.',
    "The attempt claims: the answer is correct.",
    "The attempt ends with:\nThe answer is correct.\nThat is no proof.",
    "> The answer is wrong.\nSo it says.",
    "Der Agent schreibt: Die Antwort ist richtig.",
    "Success! So it prints.",
    "Right, let us see.",
]


@check_each(FAILURES)
def test_a_failure_said_outright_contradicts_a_success(sentence):
    replies = ["{}\n" + HELD, "{} " + HELD, HELD + "\n{}", "{}\nStatus: success", "Thoughts: {}\nStatus: success"]
    for reply in replies:
        verdict = parse_verdict(reply.replace("{}", sentence))
        assert (verdict.status, verdict.reason) == ("indeterminate", "conflict"), reply


@check_each(SUCCESSES)
def test_a_success_said_outright_contradicts_a_failure(sentence):
    for reply in ("{}\n" + FAILED, FAILED + "\n{}", "{}\nStatus: failure"):
        assert parse_verdict(reply.replace("{}", sentence)).reason == "conflict", reply


@check_each(FAILURES)
def test_a_failure_said_outright_agrees_with_a_failure_and_is_none_alone(sentence):
    assert parse_verdict(f"{sentence}\n{FAILED}").status == "failure"
    assert parse_verdict(f"As I see it.\n{sentence}\nSo much for that.").status == "indeterminate"


@check_each(SILENT)
def test_a_sentence_that_says_something_else_contradicts_neither(sentence):
    assert parse_verdict(f"{sentence}\n{HELD}").status == "success"
    assert parse_verdict(f"{sentence}\n{FAILED}").status == "failure"


@pytest.mark.parametrize(
    "taken_back",
    [
        "The answer is correct. However, no step proves it.",
        "The answer is correct, but it is a guess.",
        "The answer is mostly correct.",
        "The answer should be correct.",
    ],
)
def test_a_success_that_is_taken_back_contradicts_no_failure(taken_back):
    assert parse_verdict(f"{taken_back}\n{FAILED}").status == "failure"


def test_prose_beside_a_call_contradicts_it():
    call = {"name": "verdict", "args": {"status": "success"}, "id": "1", "type": "tool_call"}
    assert parse_verdict(AIMessage("This is a failure.", tool_calls=[call])).reason == "conflict"


def test_thinking_may_change_its_mind_and_may_not_end_against_the_verdict():
    weighed = "The answer is wrong. No, wait, 4 + 4 is 8. The answer is correct."
    assert parse_verdict(f"<think>The answer is wrong.</think>{HELD}").status == "success"
    assert parse_verdict(f"{weighed}</think>\n{HELD}").status == "success"
    assert parse_verdict(f"The answer is wrong. It wrote </think>\n{HELD}").reason == "conflict"


def test_a_sentence_in_a_string_of_the_verdict_is_a_text():
    assert parse_verdict('{"status": "success", "rationale": "The first sum is wrong. This is a failure."}').status == (
        "success"
    )

"""Planted secrets are found, and mathematics is left alone."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoningbank_langgraph.records import task_key
from reasoningbank_langgraph.text import redact_secrets
from reasoningbank_langgraph.text.folding import Folded
from reasoningbank_langgraph.text.redaction import RULES, _seen
from tests.conftest import DATA, check_each
from tests.data.planted_secrets import CLEAN, PLANTED
from tests.text.test_fence import HOSTILE

PROBLEMS = sorted(DATA.glob("*.jsonl"))


@check_each(PLANTED)
def test_a_planted_secret_is_taken_out_of_the_text_around_it(kind, text):
    redacted = redact_secrets(f"The agent wrote: {text} and went on.")
    assert redacted.found == {kind: 1}
    assert redacted.text.startswith("The agent wrote: ")
    assert f"[{kind} removed]" in redacted.text


def test_there_are_a_hundred_planted_secrets():
    assert len(PLANTED) >= 100


@check_each(CLEAN)
def test_what_only_looks_like_a_secret_stays(text):
    assert redact_secrets(f"We see {text} here.") == (f"We see {text} here.", {})


@pytest.mark.slow
@pytest.mark.skipif(not PROBLEMS, reason="the math problems are not on this machine")
def test_no_math_problem_or_solution_is_changed():
    texts = [json.loads(line) for path in PROBLEMS for line in path.read_bytes().split(b"\n") if line]
    changed = [
        row["id"] for row in texts for name in ("problem", "solution") if redact_secrets(row.get(name, "")).found
    ]
    assert changed == []


def test_all_kinds_in_one_text_are_counted():
    found = redact_secrets("\n".join(text for _, text in PLANTED)).found
    assert set(found) == {kind for kind, _ in PLANTED}


def test_each_of_a_kind_is_counted_and_words_around_it_stay():
    redacted = redact_secrets("请联系li@example.com或wu@example.com谢谢")
    assert redacted == ("请联系[email removed]或[email removed]谢谢", {"email": 2})
    assert redact_secrets("+1 415 555 0123") == ("[phone removed]", {"phone": 1})
    assert redact_secrets("+1 415 555 0123 +49 30 901820 +8613800138000") == (
        " ".join(["[phone removed]"] * 3),
        {"phone": 3},
    )
    assert redact_secrets("1 +4930901820 +4930901820").found == {}


def test_redacting_again_changes_nothing():
    once = redact_secrets("\n".join(text for _, text in PLANTED)).text
    assert redact_secrets(once) == (once, {})


def test_only_the_secret_is_taken_out_behind_characters_that_are_hidden_or_stand_for_several():
    assert redact_secrets("\u200b\ufb03 password=hunter2x!").text == "\u200b\ufb03 password=[password removed]"


def test_the_name_of_a_password_stays():
    assert redact_secrets("password=hunter2x").text == "password=[password removed]"
    assert redact_secrets("secret = 'abcd1234'").text == "secret = '[password removed]'"


def missed(text):
    return [rule.kind for rule in RULES if rule.pattern.search(text) and not rule.may_find(Folded(text, _seen).small)]


def test_no_rule_is_passed_over_that_finds_something():
    for _, text in PLANTED:
        assert [missed(form) for form in (text, text.upper(), text.title(), text.swapcase())] == [[]] * 4


NAMES = st.sampled_from(
    [
        *("password", "passcode", "secret", "key", "connection_string", "session-id", "credential", "accessToken"),
        *("auth", "pwd", "pass", "sig", "sigV4", "SIG", "signature", "Authorization", "bearer", "basic", "curl", "-u"),
        *("--user", "contrasena", "clave_api", "kennwort", "geheimwort", "api-schluessel", "mot_de_passe", "cle_api"),
        *("motdepasse", "cle secrete", "senha", "chave_api", "parola", "wachtwoord", "adgangskode", "passord"),
        *("salasana", "heslo", "kata sandi", "--token", "code"),
    ]
)
SIGNS = st.sampled_from([" ", ": ", "=", ":", " is ", "?", "&", "://", "@", "+", '"', "'", " => ", "_", "-", ""])
VALUES = st.sampled_from(["hunter2x!", "abcd1234efgh", "eyJhbGciOi.eyJzdWIi.c2ln", "user:pass1", "a@b.cd", "49 30 901"])


@settings(max_examples=300, derandomize=True)
@given(st.lists(NAMES | SIGNS | VALUES, max_size=9).map("".join))
def test_no_rule_is_passed_over_whatever_the_words(text):
    assert missed(text) == []


LATEX = st.sampled_from([r"\frac{1}{2}", "$x_1$", r"\text{token: }", r"\$5", "&=", r"\\", "{a}", "^2"])
PIECES = st.lists(HOSTILE | LATEX | st.sampled_from([text for _, text in PLANTED]), max_size=6).map(" ".join)


@settings(max_examples=200, derandomize=True)
@given(PIECES)
def test_hostile_texts_are_redacted_and_nothing_is_left_to_redact(text):
    once = redact_secrets(text).text
    assert redact_secrets(once).found == {}


WORDS = st.lists(st.text("abcxyzABCéÉßяЯжΣσςλΛ中あ012+=\\{}$^_", min_size=1, max_size=5), min_size=1, max_size=6)
BLANKS = st.sampled_from([" ", "  ", "\t", "\n", "\u00a0", "\u2003", "\r\n", "\u3000"])


@settings(max_examples=200, derandomize=True)
@given(WORDS, BLANKS, BLANKS)
def test_a_task_is_the_same_in_other_case_and_spacing(words, blank, edge):
    plain = task_key(" ".join(words))
    assert task_key(edge + blank.join(words) + edge) == plain
    assert task_key(" ".join(words).upper()) == plain


def test_marks_upon_marks_tell_tasks_apart_up_to_thirty():
    assert task_key("a" + "\u0301" * 29) != task_key("a" + "\u0301" * 30) == task_key("a" + "\u0301" * 99)

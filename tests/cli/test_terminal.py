"""What a bank, a file or a label holds is shown by the command line and never steers the terminal."""

import json
import shlex
import subprocess
import sys
import unicodedata

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from reasoningbank_langgraph import ChromaStore, MemoryBank, embeddings
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.cli.identifiers import format_id, format_namespace, parse_id, parse_namespace
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.bank.test_forgetting import lesson

EVIL = "a\x1b[2J\x1b]0;owned\x07\x9b31m\u202eb\u2066\u200bc"
LABELS = st.lists(st.text(st.characters(exclude_characters=".\x00"), min_size=1), min_size=1, max_size=4)


@given(LABELS.map(tuple))
def test_labels_are_read_as_they_are_shown(labels):
    shown = format_namespace(labels)
    assert parse_namespace(shown) == labels
    assert shlex.split(f"show --namespace {shown}")[2:] == [shown]
    assert not shown.startswith("-")
    assert steering(shown) == []


@given(st.text(min_size=1))
def test_ids_are_read_as_they_are_shown(name):
    shown = format_id(name)
    assert parse_id(shown) == name
    assert shlex.split(shown) == [shown]
    assert steering(shown) == []


def test_ordinary_labels_and_ids_are_shown_as_they_are():
    assert format_namespace(("math", "user_7", "ann@example", "Анна")) == "math/user_7/ann@example/Анна"
    assert format_namespace(("b/c", "50%", "a b", "-x", "'\"")) == "b%2Fc/50%25/a%20b/%2Dx/%27%22"
    assert format_id("run-20261128/line-1.2") == "run-20261128/line-1.2"


@pytest.mark.parametrize("text", ["50%", "%zz", "a/%f", "%ff%fe"])
def test_what_no_bank_shows_is_refused(text):
    with pytest.raises(typer.BadParameter, match=r"%25|no name"):
        parse_namespace(text)


def steering(text):
    """Return the characters that a terminal would obey or hide."""
    return [char for char in text if char != "\n" and unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp")]


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(embeddings, "default_embeddings", HashEmbeddings)
    with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings()) as store:
        texts = {"title": EVIL, "description": EVIL, "content": EVIL, "task": EVIL}
        for labels in (("math", EVIL), ("math", "b/c"), ("math", "b", "c")):
            MemoryBank(store, labels).add([lesson(f"{EVIL}{len(labels)}", thread=EVIL, run="r1", **texts)])
    return tmp_path / "bank"


def call(*words):
    return CliRunner().invoke(app, list(map(str, words)), env={"COLUMNS": "200"})


def test_nothing_in_a_bank_steers_the_terminal(folder, tmp_path):
    there, evil = ("--bank", folder), format_namespace(("math", EVIL))
    file = tmp_path / f"{EVIL.replace('/', '')}.jsonl"
    for words in (
        ("bank", "show", *there),
        ("bank", "show", "--namespace", evil, *there),
        ("bank", "verify", *there),
        ("bank", "export", file, "--namespace", evil, *there),
        ("bank", "import", file, "--namespace", evil, *there),
        ("bank", "forget", "--namespace", evil, "--item", format_id(f"{EVIL}2"), *there),
    ):
        done = call(*words)
        assert done.exit_code == (words[1] == "import"), done.output  # such ids are taken from no file
        assert steering(done.output) == []
    assert "1 lesson removed" in done.output
    assert r"\x1b" in call("bank", "export", file, "--namespace", "math/b/c", *there).output


def test_nothing_in_a_file_or_its_name_steers_the_terminal(folder, tmp_path):
    file, there = tmp_path / f"{EVIL}.jsonl", ("--bank", folder)
    head = {"format": "reasoningbank", "version": 1, "items": 1}
    file.write_text(f"{json.dumps(head)}\n{json.dumps({'id': EVIL, EVIL: 1})}\n")
    for words in (
        ("bank", "import", file, "--namespace", "m", *there),
        ("bank", "import", file, file, "--namespace", "m", *there),
        ("bank", "export", tmp_path / EVIL / "x", "--namespace", "math/b/c", *there),
        ("bank", "export", file, "--namespace", EVIL, *there),
        ("bank", "show", "--namespace", "%" + EVIL, *there),
        ("bank", "show", "--bank", tmp_path / EVIL),
        ("solve", "--file", file, *there),
        ("judge-audit", "--file", file),
        ("experiment", "repeat", "--config", file),
        ("experiment", "stream", "--test", file, "--out", tmp_path / EVIL, "--arms", EVIL),
        ("model", "pull", EVIL),
        ("model", "list", "--dir", file),
        (EVIL,),
    ):
        done = call(*words)
        assert done.output
        assert done.exit_code != 0 or words[1] == "list"
        assert steering(done.output) == [], words


def test_one_tenant_is_not_taken_for_another(folder):
    shown = call("bank", "show", "--bank", folder).output
    assert "math/b%2Fc: 1 lesson" in shown
    assert "math/b/c: 1 lesson" in shown
    done = call("bank", "forget", "--namespace", "math/b%2Fc", "--thread", format_id(EVIL), "--bank", folder)
    assert "1 lesson removed" in done.output
    assert "math/b/c: 1 lesson" in call("bank", "show", "--bank", folder).output
    assert "no lessons in 'math/b%2Fc'" in call("bank", "show", "--namespace", "math/b%2Fc", "--bank", folder).output


@pytest.mark.slow
def test_warnings_and_unforeseen_errors_do_not_steer_it_either():
    code = (
        "import logging; from reasoningbank_langgraph.cli.terminal import prepare; prepare(); evil = chr(27) + '[2J'\n"
        "logging.getLogger('x').warning('careful %s', evil); raise ValueError('lost ' + evil)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert r"careful \x1b[2J" in done.stderr
    assert r"ValueError: lost \x1b[2J" in done.stderr
    assert steering(done.stdout + done.stderr) == []

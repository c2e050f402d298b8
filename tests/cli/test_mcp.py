"""`reasoningbank mcp`: what it refuses before it serves. What it serves is in `tests/mcp`."""

import socket
import sys

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph.cli import app


def call(folder, *words):
    return CliRunner().invoke(app, ["mcp", "--bank", str(folder), *words])


@pytest.mark.parametrize("words", [(), ("--http", "0")])
def test_a_mistyped_namespace_and_a_missing_bank_are_named_and_make_nothing(folder, words):
    done = call(folder, "--namespace", "m/eve", *words)
    assert (done.exit_code, "no lessons in 'm/eve'" in done.output) == (2, True)
    mistyped = folder.with_name("bnak")
    done = call(mistyped, "--namespace", "m/ann", *words)
    assert (done.exit_code, "there is no bank" in done.output) == (2, True)
    assert not mistyped.exists()


@pytest.mark.network
def test_a_taken_port_and_a_short_token_are_named(folder, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = call(folder, "--namespace", "m/ann", "--http", str(taken.getsockname()[1]))
    assert (done.exit_code, "choose another one" in done.output) == (1, True)
    monkeypatch.setenv("REASONINGBANK_MCP_TOKEN", "short")
    done = call(folder, "--namespace", "m/ann", "--http", "0")
    assert (done.exit_code, "at least 16 characters" in done.output) == (2, True)


def test_without_the_sdk_the_command_names_what_to_install(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "reasoningbank_langgraph.mcp.server", raising=False)
    done = call(folder, "--namespace", "m/ann", "--http", "0")
    assert (done.exit_code, "pip install 'reasoningbank-langgraph[mcp]'" in done.output) == (1, True)

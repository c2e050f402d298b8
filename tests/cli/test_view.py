"""`reasoningbank bank view`: what it refuses before it serves. What it serves is in `tests/view`."""

import socket
import sys

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph.cli import app


def call(folder, *words):
    return CliRunner().invoke(app, ["bank", "view", "--bank", str(folder), *words])


def test_a_mistyped_namespace_and_a_missing_bank_are_named_and_make_nothing(folder):
    done = call(folder, "--namespace", "m/eve")
    assert (done.exit_code, "no lessons in 'm/eve'" in done.output) == (2, True)
    mistyped = folder.with_name("bnak")
    done = call(mistyped, "--namespace", "m/ann")
    assert (done.exit_code, "there is no bank" in done.output) == (2, True)
    assert not mistyped.exists()


@pytest.mark.network
def test_a_taken_port_is_named(folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = call(folder, "--namespace", "m/ann", "--port", str(taken.getsockname()[1]))
    assert (done.exit_code, "choose another one" in done.output) == (1, True)


@pytest.mark.parametrize(("package", "module"), [("starlette", "app"), ("uvicorn", "serving"), ("jinja2", "html")])
def test_without_a_package_of_the_extra_the_command_names_what_to_install(folder, monkeypatch, package, module):
    for name in ("app", "serving", "pages", "gate", "html"):
        monkeypatch.delitem(sys.modules, f"reasoningbank_langgraph.view.{name}", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    for name in [name for name in sys.modules if name.startswith(f"{package}.")]:
        monkeypatch.setitem(sys.modules, name, None)
    done = call(folder, "--namespace", "m/ann")
    assert (done.exit_code, "pip install 'reasoningbank-langgraph[view]'" in done.output) == (1, True)
    assert module

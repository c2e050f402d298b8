"""Every code block of the README runs, from top to bottom, on the packaged model; its commands exist."""

import re
import shlex
import subprocess

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph import create_matts
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.conftest import REPOSITORY

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^    (make \w+|reasoningbank .+?)(?:\s+#.*)?$", README, re.MULTILINE)
INLINE = re.findall(r"`(reasoningbank [^`]+)`", README)


@pytest.mark.real_model
def test_the_python_blocks_run_from_top_to_bottom(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "no-call-is-made")
    names = {}
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), names)
    assert "Totals(items=" in capsys.readouterr().out
    assert (tmp_path / "bank").is_dir()


def test_the_picture_of_scaling_is_that_of_its_graph():
    (picture,) = re.findall(r"^```mermaid\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    drawn = set(re.findall(r"(\w+) -(?:->|\. [\w ,]+ \.->) (\w+)$", picture, re.MULTILINE))
    graph = create_matts(lambda state: {}, model=ScriptedChatModel([]), namespace=("math",)).compile()
    edges = {(edge.source.split(":")[-1], edge.target.split(":")[-1]) for edge in graph.get_graph(xray=True).edges}
    assert drawn == {edge for edge in edges if not {"__start__", "__end__"} & set(edge)}


def test_the_example_on_top_has_about_twenty_lines():
    assert len([line for line in BLOCKS[0].splitlines() if line.strip()]) <= 22


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.startswith("make")])
def test_the_make_targets_exist(command):
    done = subprocess.run(
        [*shlex.split(command), "--dry-run"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", [*(command for command in COMMANDS if not command.startswith("make")), *INLINE])
def test_the_commands_and_their_options_exist(command):
    words = shlex.split(command)[1:]
    path = [word for word in words[:2] if re.fullmatch(r"[a-z][a-z0-9-]*", word)]
    shown = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0, shown.output
    for option in (word for word in words if word.startswith("--")):
        assert option in shown.output

"""Each page stands alone: its Python blocks run from top to bottom, its commands exist, its links lead somewhere."""

import re
import shlex
import subprocess
import sys
from functools import cache
from types import ModuleType

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from typer.testing import CliRunner

import reasoningbank_langgraph
from reasoningbank_langgraph import create_matts, errors
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.local import start_local_model
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.conftest import REPOSITORY, check_each
from tests.docs.conftest import Adder

PATHS = [
    *(REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    *sorted(REPOSITORY.glob("docs/**/*.md")),
    *sorted(REPOSITORY.glob("examples/*/README.md")),
]
MAKEFILE = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
PAGES = {path.relative_to(REPOSITORY).as_posix(): path.read_text(encoding="utf-8") for path in PATHS}
BLOCKS = {page: re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) for page, text in PAGES.items()}
SHELL = {
    page: [
        *re.findall(r"^ {4}((?:make|python|reasoningbank) .*(?:\\\n.*)*)", text, re.MULTILINE),
        *"".join(re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)).splitlines(),
        *re.findall(r"`((?:make|python|reasoningbank) [^`\n]+)`", text),
    ]
    for page, text in PAGES.items()
}
COMMANDS = sorted({re.sub(r"^[A-Z_]+=\S+ |\s+#.*$|\\\n", "", line) for lines in SHELL.values() for line in lines})
EXAMPLES = [(page, block) for page in list(BLOCKS) if page.startswith("docs/reference/") for block in BLOCKS.pop(page)]
"""Those of docstrings stand alone, each."""
LIKE_A_USER = """
[[tool.mypy.overrides]]
module = "pages.*"
allow_untyped_defs = true
allow_incomplete_defs = true
allow_untyped_calls = true
allow_any_generics = true
warn_return_any = false
"""


def run(page, blocks, **names):
    names["__name__"] = page
    for block in blocks:
        exec(compile(block, page, "exec"), names)


@pytest.mark.parametrize(("page", "block"), EXAMPLES)
@pytest.mark.usefixtures("offline")
def test_the_examples_of_docstrings_run_where_the_names_they_use_are_there(page, block, monkeypatch):
    mine = ModuleType("my_package")
    mine.MyStore = InMemoryStore
    monkeypatch.setitem(sys.modules, "my_package", mine)
    names = {name: getattr(reasoningbank_langgraph, name) for name in reasoningbank_langgraph.__all__}
    run(page, [block], **names, chat=Adder(), saver=InMemorySaver(), solver=lambda state: {"answer": "5"})


@pytest.mark.parametrize("page", [page for page, blocks in BLOCKS.items() if blocks])
@pytest.mark.usefixtures("offline")
def test_the_python_blocks_of_a_page_run_from_top_to_bottom(page):
    run(page, BLOCKS[page])


@pytest.mark.slow
def test_a_type_checker_has_nothing_to_say_of_the_python_blocks_of_a_page(tmp_path):
    (pages := tmp_path / "pages").mkdir()
    (pages / "__init__.py").touch()
    for number, blocks in enumerate(BLOCKS.values()):
        (pages / f"page_{number}.py").write_text("\n\n".join(blocks), encoding="utf-8")
    settings = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8") + LIKE_A_USER
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    words = ["--config-file", tmp_path / "pyproject.toml", "--no-error-summary", "reasoningbank_langgraph", pages]
    command = [sys.executable, "-m", "mypy", *words]  # the package as in `make lint`, whose cache serves again
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.stdout == ""


@pytest.mark.real_model
def test_the_readme_runs_on_the_packaged_model_too(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "no-call-is-made")
    with start_local_model() as server:
        small = server.chat_model(max_tokens=100)
        monkeypatch.setattr("langchain.chat_models.init_chat_model", lambda _: small)
        run("README.md", BLOCKS["README.md"])
    assert "Totals(items=" in capsys.readouterr().out
    assert (tmp_path / "bank").is_dir()


def test_the_readme_is_short_and_its_example_has_about_twenty_lines():
    assert len(PAGES["README.md"].splitlines()) <= 150
    assert len([line for line in BLOCKS["README.md"][0].splitlines() if line.strip()]) <= 22


def test_the_picture_of_several_attempts_names_the_nodes_of_its_graph():
    pictures = re.findall(r"^```text\n(.*?)^```$", PAGES["docs/how-to/several-attempts.md"], re.MULTILINE | re.DOTALL)
    graph = create_matts(lambda state: {}, model=ScriptedChatModel([]), namespace=("math",)).compile()
    nodes = {name.split(":")[-1] for name in graph.get_graph(xray=True).nodes} - {"__start__", "__end__"}
    assert nodes - {"rollout"} <= set(re.findall(r"\w+", pictures[0]))


def test_every_error_is_explained_by_its_name():
    headings = re.findall(r"^### (.*)$", PAGES["docs/how-to/troubleshooting.md"], re.MULTILINE)
    named = sorted(name for heading in headings for name in heading.split(", "))
    kinds = [name for name, thing in vars(errors).items() if isinstance(thing, type) and name != "ReasoningBankError"]
    assert named == sorted(kinds)


def test_the_guide_for_contributors_names_every_room_and_every_module_beside_them():
    rows = re.findall(r"^\| (`.*?) \|", PAGES["CONTRIBUTING.md"], re.MULTILINE)
    named = sorted(name for row in rows for name in re.findall(r"`(\w+/?)`", row))
    package = [path for path in (REPOSITORY / "reasoningbank_langgraph").iterdir() if path.stem[0] != "_"]
    files = [path.stem for path in package if path.suffix == ".py"]
    assert named == sorted([*files, *(f"{path.name}/" for path in package if path.is_dir())])


@check_each(PAGES)
def test_each_block_of_a_page_is_in_a_language_that_is_checked_or_is_a_picture(page):
    languages = re.findall(r"^```(\w*)\n.*?^```$", PAGES[page], re.MULTILINE | re.DOTALL)
    signatures = {"py"} if page.startswith("docs/reference/") else set()
    assert set(languages) <= {"python", "sh", "text"} | signatures


def test_the_names_that_pages_mention_are_in_the_code():
    files = [
        path
        for place in ("reasoningbank_langgraph", "tests", "examples")
        for path in (REPOSITORY / place).rglob("*.py")
    ]
    code = "".join(
        path.read_text(encoding="utf-8") for path in [*files, REPOSITORY / "Makefile", REPOSITORY / "pyproject.toml"]
    )
    words = set(re.findall(r"\w+", code))
    named = {name for text in PAGES.values() for name in re.findall(r"`[\w.]*?([A-Za-z_]\w*)(?:\([^`]*\))?`", text)}
    assert sorted(named - words) == []


@cache
def help_of(*path):
    shown = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0, shown.output
    return shown.output


@check_each(COMMANDS)
def test_each_command_exists_with_its_options(command):
    program, *words = shlex.split(command)
    if program == "make":
        assert re.search(rf"^{words[0]}:", MAKEFILE, re.MULTILINE)
    elif program == "reasoningbank":
        path = [word for word in words[:2] if re.fullmatch(r"[a-z][a-z0-9-]*", word)]
        assert [word for word in words if word.startswith("--") and word not in help_of(*path)] == []
    elif program == "python":
        script = REPOSITORY / (f"{words[1].replace('.', '/')}.py" if words[0] == "-m" else words[0])
        known = script.read_text(encoding="utf-8").replace("-", "_")
        assert [word for word in words if word.startswith("--") and word[2:].replace("-", "_") not in known] == []


@check_each(PAGES)
def test_the_links_of_each_page_lead_to_files_that_are_there(page):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", PAGES[page]):
        assert target.startswith("https://") or ((REPOSITORY / page).parent / target).exists(), target

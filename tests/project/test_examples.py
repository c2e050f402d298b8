"""The examples are what they say."""

import importlib.util
import json
import sys

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.store.memory import InMemoryStore
from rich.console import Console

from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.testing import HashEmbeddings, ScriptedChatModel
from tests.conftest import REPOSITORY, table_cells
from tests.loop_fakes import indexed_memory, lessons

MATTS = REPOSITORY / "examples" / "matts"
KEPT = sorted(MATTS.glob("*/results.jsonl"))
TOLD = (MATTS / "README.md").read_text(encoding="utf-8")
PROBLEMS = [Problem("a", "2 + 3", "5"), Problem("b", "7 + 2", "9"), Problem("c", "1 + 1", "2")]


def loaded(path):
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def compare(monkeypatch):
    """The comparison of attempts, with an embedder that needs no model."""
    monkeypatch.setattr("reasoningbank_langgraph.store.indexing.default_embeddings", HashEmbeddings)
    return loaded(REPOSITORY / "examples" / "matts" / "compare.py")


def five(messages):
    """Solve everything with 5; distil one lesson; nine tokens a call."""
    text = lessons("add up") if "teach problem solving" in messages[0].text else "so \\boxed{5}"
    usage = {"input_tokens": 6, "output_tokens": 3, "total_tokens": 9}
    return AIMessage(text, usage_metadata=usage, response_metadata={"model_name": "five"})


def test_the_comparison_counts_each_arm_and_goes_on_where_it_was_stopped(compare, tmp_path):
    chat, arms = ScriptedChatModel(five), compare.arms([1, 3])
    assert [arm.name for arm in arms] == ["parallel-1", "parallel-3", "sequential-3"]
    with (tmp_path / "results.jsonl").open("w") as results:
        stopped = compare.run_arm(arms[0], chat, PROBLEMS, tmp_path, 50)
        results.write(json.dumps(next(stopped)) + "\n")
        stopped.close()
    assert [row["id"] for row in compare.run_arm(arms[0], chat, PROBLEMS, tmp_path, 50)] == ["b", "c"]
    (first,) = compare.read_rows(tmp_path)
    assert (first["right"], first["tokens"], first["lessons"]) == (True, 18, 1)
    (parallel, sequential) = (list(compare.run_arm(arm, chat, PROBLEMS[1:2], tmp_path, 50)) for arm in arms[1:])
    assert [row["right"] for row in (*parallel, *sequential)] == [False, False]
    assert (parallel[0]["shown"], parallel[0]["tokens"], sequential[0]["checks"]) == (0, 36, 2)
    arms = compare.by_arm([first, *parallel, *sequential])
    assert list(arms) == ["parallel-1", "parallel-3", "sequential-3"]
    assert compare.cost(arms["parallel-1"])[:2] + compare.cost(arms["parallel-1"])[-3:-2] == ["1/1", "1.000", "18"]
    assert compare.cost(arms["parallel-3"])[:1] == ["0/1"]


def test_the_comparison_tests_each_arm_against_one_attempt_on_the_same_problems(compare):
    pytest.importorskip("scipy", reason="needs the extra `experiments`")
    right = {"parallel-1": "0011111111", "parallel-3": "1111111110", "sequential-3": "0000000000"}
    rows = [
        {"arm": arm, "id": n, "right": digit == "1"} for arm, digits in right.items() for n, digit in enumerate(digits)
    ]
    lines = compare.against_one(compare.by_arm(rows))
    assert lines["parallel-3"][:2] == ["2", "1"]
    assert lines["parallel-3"][2].startswith("+10.0 [")
    assert lines["parallel-3"][3] == "1.000"
    assert lines["sequential-3"][:2] == ["0", "8"]
    assert lines["sequential-3"][3] == "0.016"  # 2 * 0.5 ** 8, and the smaller of two p values counts twice
    assert compare.against_one({"parallel-3": rows[:1]}) == {}
    console = Console(width=100, record=True)
    console.print(compare.table("against one attempt", ("fixed", "broken", "points", "p"), lines))
    assert "sequential-3" in console.export_text()


@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.parent.name)
def test_the_tables_of_a_kept_comparison_are_those_of_its_rows(compare, kept):
    pytest.importorskip("scipy", reason="needs the extra `experiments`")
    arms = compare.by_arm(compare.read_rows(kept.parent))
    assert list(arms) == [arm.name for arm in compare.arms([1, 3, 5])]
    assert len({tuple(row["id"] for row in of_arm) for of_arm in arms.values()}) == 1  # the same problems, in order
    expected = [[name, *compare.cost(of_arm)] for name, of_arm in arms.items()]
    expected += [[name, *cells] for name, cells in compare.against_one(arms).items()]
    (section,) = [part for part in TOLD.split("\n## ") if part.startswith(f"{kept.parent.name}\n")]
    assert [cells for cells in table_cells(section) if cells[0] in arms] == expected


def test_the_measurements_have_the_figures_of_the_comparison(compare):
    page = (REPOSITORY / "docs" / "measurements.md").read_text(encoding="utf-8")
    told = [cells for cells in table_cells(page) if len(cells) == 7]
    for name, of_arm in compare.by_arm(compare.read_rows(MATTS / "multiarith-qwen2.5-coder-0.5b")).items():
        right, _, once, any_of, _, *spent = compare.cost(of_arm)
        assert [name.replace("-", ", k = "), right, once, any_of, *spent] in told


@pytest.mark.real_model
async def test_the_graph_that_langgraph_json_names_solves_and_learns(monkeypatch):
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    settings = json.loads((REPOSITORY / "langgraph.json").read_text())
    path, name = settings["graphs"]["math_solver"].split(":")
    assert settings["store"]["index"]["embed"] == f"{path}:embed"
    spec = importlib.util.spec_from_file_location("math_solver_graph", REPOSITORY / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        assert getattr(module, name).name == "math_solver"
        store = InMemoryStore(index={"dims": 384, "embed": module.embed, "fields": ["lesson"]})
        result = await module.builder.compile(store=store).ainvoke({"task": "What is 10 + 10?", "reference": "20"})
        assert result["verdict"]["judge"] == "reference"
        assert len(result["written"]) == len(store.search(("math",)))
    finally:
        module.model.close()


class WithTools(ScriptedChatModel):
    def bind_tools(self, tools, **options):
        return self


def test_the_transcript_of_an_agent_shows_its_calls_their_errors_the_verdict_and_what_is_remembered():
    shop = loaded(REPOSITORY / "examples" / "agent" / "shop.py")

    def reply(messages):
        if "teach problem solving" in messages[0].text:
            return AIMessage(lessons("name orders in full"))
        results = [message for message in messages if isinstance(message, ToolMessage)]
        if results and results[-1].status == "success":
            return AIMessage("It was shipped.")
        order = "ANN-17" if results else "17"
        return AIMessage(f'```json\n{{"name": "status", "arguments": {{"order": "{order}"}}}}\n```')

    said = "\n".join(shop.transcript(WithTools(reply), indexed_memory()))
    first, second = said.split("\n## ")[1:3]
    assert "`status(order='17')`" in first
    assert "*status*: there is no order '17'" in first
    assert "`status(order='ANN-17')`" in first
    assert "judged: success" in first
    assert "memory learns: name orders in full" in first
    assert "memory shows how it solved: What is the status of order 17 of Ann?" in second
    assert "judged: failure" in second

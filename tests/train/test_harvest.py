"""Attempts that were checked become training data: in the solver's own prompt, each once, and nothing else."""

import hashlib
import json
import stat
import subprocess
import sys
from inspect import signature

import pytest
from langchain_core.messages import convert_to_openai_messages

from reasoningbank_langgraph import MemoryBank, Scaling
from reasoningbank_langgraph.errors import HarvestError
from reasoningbank_langgraph.experiments.folder import alone_in
from reasoningbank_langgraph.experiments.memories import ShownMemory
from reasoningbank_langgraph.experiments.solving import prompt_of
from reasoningbank_langgraph.math_solver import create_math_solver
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.testing import ScriptedChatModel
from reasoningbank_langgraph.train.harvest import harvest, read_card
from tests.loop_fakes import indexed_memory, learner
from tests.train.attempts import NAMESPACE, TASKS, attempt, bank_of, learned, left_out, rows_in, run_of, said

TWO = [attempt("a"), attempt("b", TASKS[1], "63 / 9 = 7, so each gets \\boxed{7}.")]


def solved(replies, store, **options):
    """Let the bundled solver work on a task with these replies; return what it was asked."""
    solver = ScriptedChatModel(replies)
    graph = create_math_solver(solver, judge_model=learner(), namespace=NAMESPACE, **options).compile(store=store)
    graph.invoke({"task": TASKS[0], "reference": "72"})
    return solver.calls


def test_a_prompt_is_byte_for_byte_what_the_bundled_solver_and_the_harness_send_without_memory(tmp_path):
    store = indexed_memory()
    (asked,) = solved(["Half of 48 is 24, and 48 + 24 = \\boxed{72}."], store)
    MemoryBank(store, NAMESPACE).harvest(tmp_path / "out", validation=0)
    (made,) = rows_in(tmp_path / "out")
    assert made["prompt"] == convert_to_openai_messages(asked)
    roles = {"system": "system", "human": "user"}
    harness = prompt_of(Problem("p", TASKS[0]), ShownMemory())
    assert made["prompt"] == [{"role": roles[role], "content": text} for role, text in harness]
    assert said([made]) == ["Half of 48 is 24, and 48 + 24 = \\boxed{72}."]


def test_the_attempts_of_matts_make_an_example_and_a_pair(tmp_path):
    store, wrong, right = indexed_memory(), "48 + 48 = 96, so \\boxed{96}.", "48 + 24 = 72, so \\boxed{72}."
    solved([wrong, right, right], store, scaling=Scaling(k=3, select="majority", max_concurrency=1))
    MemoryBank(store, NAMESPACE).harvest(tmp_path / "out", validation=0)
    assert said(rows_in(tmp_path / "out")) == [right]
    (pair,) = rows_in(tmp_path / "out", "preferences.jsonl")
    assert (said([pair], "chosen"), said([pair], "rejected")) == ([right], [wrong])


def test_another_solver_has_a_prompt_of_its_own_and_may_answer_with_a_word(tmp_path):
    bank = bank_of(attempt("a", "Is water wet?", "Yes"))
    with pytest.raises(HarvestError, match="1 answer alone"):
        bank.harvest(tmp_path / "out")
    bank.harvest(tmp_path / "out", prompt=lambda task: [("user", f"Q: {task}")])
    (made,) = rows_in(tmp_path / "out")
    assert (made["prompt"], said([made])) == ([{"role": "user", "content": "Q: Is water wet?"}], ["Yes"])


@pytest.mark.parametrize("judge", ["reference", "oracle", "tool", "tool:run_tests"])
def test_a_verdict_that_was_checked_makes_a_row(judge, tmp_path):
    assert left_out(bank_of(attempt("a", judge=judge)), tmp_path / "out") == {}


@pytest.mark.parametrize("judge", ["llm", "self-consistency", "user", "", "toolbox", "llm:reference"])
def test_an_opinion_makes_a_row_only_if_its_judge_is_named(judge, tmp_path):
    bank = bank_of(TWO[1], attempt("a", judge=judge))
    assert left_out(bank, tmp_path / "checked") == {"not verified": 1}
    assert left_out(bank, tmp_path / "believed", judges=("reference", judge)) == {}
    assert [len(rows_in(tmp_path / name)) for name in ("checked", "believed")] == [1, 2]


def test_the_card_names_the_source_of_every_row_and_the_digest_of_every_file(tmp_path):
    bank = bank_of(*TWO, attempt("c", TASKS[2], "500 - 100 = 400, so \\boxed{400}.", shown=("a",)))
    made = bank.harvest(tmp_path / "out")
    assert made == read_card(tmp_path / "out")
    for origin in made.rows:
        line = (tmp_path / "out" / origin.file).read_text().splitlines()[origin.line - 1]
        (source,) = origin.sources
        episode = next(one for one in bank.episodes() if one.id == source.id)
        assert json.loads(line)["id"] == origin.id
        assert json.loads(line)["completion"][0]["content"] == episode.solution
        assert (source.namespace, source.attempt_digest) == (NAMESPACE, episode.provenance.attempt_digest)
        assert (source.judge, source.shown) == ("reference", episode.shown)
    for name, file in made.files.items():
        assert hashlib.sha256((tmp_path / "out" / name).read_bytes()).hexdigest() == file.sha256
    page = (tmp_path / "out" / "card.md").read_text()
    assert all(f"`{origin.id}`" in page and f"`{origin.sources[0].id}`" in page for origin in made.rows)
    assert "math/ann" in page
    assert "A row weighs 2 if its task was missed first" in page
    again = bank.harvest(tmp_path / "again")
    assert again.digest == made.digest


def test_the_files_are_for_their_owner_alone(tmp_path):
    bank_of(*TWO).harvest(tmp_path / "out")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "out").iterdir()}
    assert (stat.S_IMODE((tmp_path / "out").stat().st_mode), modes) == (0o700, {0o600})


def test_another_namespace_of_the_store_is_never_read(tmp_path):
    store = indexed_memory()
    bank_of(attempt("theirs", TASKS[1], "63 / 9 = 7, so \\boxed{7}."), store=store, namespace=("math", "bob"))
    bank_of(attempt("mine"), store=store).harvest(tmp_path / "out", validation=0)
    assert [source.id for row in read_card(tmp_path / "out").rows for source in row.sources] == ["mine"]


def test_a_harvest_changes_no_bank_and_can_be_of_the_past(tmp_path):
    bank = bank_of(attempt("a"))
    moment = bank.episodes()[0].created_at
    before = len(bank.log())
    bank.harvest(tmp_path / "out", validation=0)
    assert len(bank.log()) == before
    with pytest.raises(HarvestError, match="there are no solutions"):
        bank.as_of(moment.replace(year=2000)).harvest(tmp_path / "past")


@pytest.mark.parametrize("options", [{"samples": 0}, {"validation": 1}, {"validation": -0.1}])
def test_a_number_that_makes_no_sense_is_refused(options, tmp_path):
    with pytest.raises(ValueError, match="samples is 1 or more"):
        bank_of(*TWO).harvest(tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_folder_with_a_harvest_or_other_things_is_not_written_to(tmp_path):
    bank, out = bank_of(*TWO), tmp_path / "out"
    bank.harvest(out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(HarvestError, match="holds a harvest already"):
        bank.harvest(out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear")
    with pytest.raises(HarvestError, match=r"other things \(letter.txt\)"):
        bank.harvest(tmp_path / "home")
    with pytest.raises(HarvestError, match="is no folder"):
        bank.harvest(tmp_path / "home" / "letter.txt")
    (own := tmp_path / "own").mkdir()
    for name in ("train.jsonl", "validation.jsonl"):
        (own / name).write_text("by hand")
    with pytest.raises(HarvestError, match=r"other things \(train.jsonl, validation.jsonl\)"):
        bank.harvest(own)
    assert [path.read_text() for path in own.iterdir()] == ["by hand"] * 2


def test_two_harvests_into_one_folder_are_kept_apart(tmp_path):
    bank, out = bank_of(*TWO), tmp_path / "out"
    out.mkdir()
    with alone_in(out), pytest.raises(HarvestError, match=r"out is in use by process \d+"):
        bank.harvest(out)
    assert bank.harvest(out).files


def test_one_name_is_one_and_not_its_letters(tmp_path):
    bank, run = bank_of(*TWO, attempt("c", judge="")), run_of(tmp_path / "run", learned())
    (path := tmp_path / "test.jsonl").write_text('{"problem": "How high is the sky?", "answer": "4"}')
    made = bank.harvest(tmp_path / "out", judges="reference", runs=str(run), arms="learning", not_in=path)
    assert (made.judges, made.runs, [one.name for one in made.not_in]) == (("reference",), ("run",), ["test.jsonl"])
    assert made.left_out["not verified"] == 1


def test_the_method_of_a_bank_and_the_function_have_the_same_options():
    method, function = (
        {
            name: option.default
            for name, option in signature(made).parameters.items()
            if option.kind.name == "KEYWORD_ONLY"
        }
        for made in (MemoryBank.harvest, harvest)
    )
    assert method == function


@pytest.mark.slow
def test_importing_it_loads_nothing_heavy():
    heavy = ["torch", "transformers", "trl", "peft", "pandas", "scipy", "chromadb", "matplotlib"]
    code = f"""if True:
        import sys, langchain_core.language_models  # of which old versions load transformers
        before = set(sys.modules)
        import reasoningbank_langgraph.train.harvest
        print([name for name in {heavy} if name in sys.modules.keys() - before])"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

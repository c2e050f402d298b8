"""`reasoningbank bank export`, `import`, `quarantine` and `forget`: lessons go from bank to bank, and away."""

import json

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph import ChromaStore, Episode, MemoryBank, embeddings
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.records import Provenance
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.bank.test_forgetting import family, lesson


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(embeddings, "default_embeddings", HashEmbeddings)
    with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings()) as store:
        family(store)
    return tmp_path / "bank"


def call(*words, answer=None):
    return CliRunner().invoke(app, ["bank", *map(str, words)], input=answer, env={"COLUMNS": "200"})


def left(folder, namespace="m"):
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        return sorted(item.id for item in MemoryBank(store, namespace).items())


def test_lessons_travel_from_bank_to_bank(folder, tmp_path):
    done = call("export", tmp_path / "m.jsonl", "--namespace", "m", "--bank", folder)
    assert "5 lessons written" in done.output
    call("forget", "--namespace", "m", "--item", "gran", "--bank", folder)
    done = call("import", tmp_path / "m.jsonl", "--namespace", "m", "--bank", folder)
    assert "4 lessons added to m, 1 already there" in done.output
    assert len(left(folder)) == 5


def test_a_bad_file_is_refused_with_its_line(folder, tmp_path):
    (tmp_path / "m.jsonl").write_text("no json")
    done = call("import", tmp_path / "m.jsonl", "--namespace", "m", "--bank", folder)
    assert done.exit_code == 1
    assert "line 1" in done.output
    assert "nothing was imported" in done.output


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (["--item", "gran"], ["stranger"]),
        (["--thread", "t1", "--no-cascade"], ["child1", "child2", "grandchild", "stranger"]),
        (["--run", "r2"], ["child2", "gran", "stranger"]),
        (["--experience", "stranger"], ["child1", "gran", "grandchild"]),
    ],
)
def test_forgetting_names_what_is_gone(folder, words, kept):
    done = call("forget", "--namespace", "m", *words, "--bank", folder)
    assert done.exit_code == 0, done.output
    assert f"{5 - len(kept)} lesson" in done.output
    assert left(folder) == kept


@pytest.mark.parametrize("words", [[], ["--item", "gran", "--run", "r1"]])
def test_forgetting_takes_one_selector(folder, words):
    done = call("forget", "--namespace", "m", *words, "--bank", folder)
    assert done.exit_code == 2
    assert len(left(folder)) == 5


@pytest.mark.parametrize("name", ["nobody", ""])
@pytest.mark.parametrize("option", ["item", "thread", "run", "experience"])
def test_a_mistyped_id_forgets_nothing_and_is_an_error(folder, option, name):
    done = call("forget", "--namespace", "m", f"--{option}", name, "--bank", folder)
    assert done.exit_code == 2
    assert f"Invalid value for --{option}" in done.output
    assert f"there is no {name!r} in 'm': `bank show` and `bank episodes` list the ids" in done.output
    assert len(left(folder)) == 5


@pytest.mark.parametrize(
    "words",
    [
        ["show"],
        ["episodes"],
        ["export", "out.jsonl"],
        ["quarantine", "gran"],
        ["merge", "gran"],
        ["forget", "--item", "gran"],
    ],
)
@pytest.mark.parametrize(
    ("name", "problem"), [("mm", "no lessons in 'mm': `bank show` lists the namespaces"), ("", "is empty")]
)
def test_a_mistyped_namespace_is_an_error_of_every_command(folder, words, name, problem):
    done = call(*words, "--namespace", name, "--bank", folder)
    assert done.exit_code in (1, 2)
    assert problem in done.output
    assert len(left(folder)) == 5


@pytest.mark.parametrize("exists", [False, True])
def test_lessons_fill_a_new_bank_and_the_command_says_where_and_with_which_embedder(folder, tmp_path, exists):
    new = tmp_path / "deep" / "new"
    if exists:
        new.mkdir(parents=True)
    call("export", tmp_path / "m.jsonl", "--namespace", "m", "--bank", folder)
    done = call("import", tmp_path / "m.jsonl", "--namespace", "n/ann", "--bank", new)
    assert done.exit_code == 0, done.output
    assert f"new bank at {new}, made with the embedder HashEmbeddings(hash-embeddings)" in done.output
    assert "5 lessons added to n/ann, 0 already there" in done.output
    assert left(new, ("n", "ann")) == left(folder)


@pytest.mark.parametrize(
    ("file", "namespace", "said"),
    [
        ("none.jsonl", "m", "cannot be read"),
        ("m.jsonl", "m//n", "is empty"),
        ("bad.jsonl", "m", "nothing was imported"),
    ],
)
def test_what_cannot_be_imported_makes_no_bank(folder, tmp_path, file, namespace, said):
    (tmp_path / "bad.jsonl").write_text("no json")
    call("export", tmp_path / "m.jsonl", "--namespace", "m", "--bank", folder)
    done = call("import", tmp_path / file, "--namespace", namespace, "--bank", tmp_path / "new")
    assert done.exit_code == 1
    assert said in done.output
    assert not (tmp_path / "new").exists()


def test_a_folder_with_other_things_becomes_no_bank(folder, tmp_path):
    call("export", tmp_path / "m.jsonl", "--namespace", "m", "--bank", folder)
    before = sorted(tmp_path.iterdir())
    done = call("import", tmp_path / "m.jsonl", "--namespace", "m", "--bank", tmp_path)
    assert done.exit_code == 2
    assert "holds no bank, but other things" in done.output
    assert sorted(tmp_path.iterdir()) == before


def statuses(folder):
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        return {item.id: item.status for item in MemoryBank(store, "m").items() if item.status != "active"}


def test_lessons_are_merged_and_brought_back(folder):
    done = call("merge", "gran", "stranger", "--content", "do both", "--namespace", "m", "--bank", folder)
    assert done.exit_code == 0, done.output
    assert "2 lessons merged into" in done.output
    merged = done.output.split()[-1]
    assert statuses(folder) == {"gran": "superseded", "stranger": "superseded"}
    done = call("merge", merged, "--undo", "--namespace", "m", "--bank", folder)
    assert done.exit_code == 0, done.output
    assert done.output.split() == ["2", "lessons", "now", "active", "gran", "stranger"]
    assert statuses(folder) == {merged: "superseded"}


@pytest.mark.parametrize(
    ("words", "problem"), [(["gran"], "two lessons"), (["gran", "nobody"], "no 'nobody'"), (["gran", "--undo"], "undo")]
)
def test_what_cannot_be_merged_is_named(folder, words, problem):
    done = call("merge", *words, "--namespace", "m", "--bank", folder)
    assert done.exit_code in (1, 2)
    assert problem in done.output
    assert statuses(folder) == {}


def test_lessons_are_quarantined_and_brought_back(folder):
    done = call("quarantine", "gran", "child1", "--namespace", "m", "--bank", folder)
    assert done.exit_code == 0, done.output
    assert "2 lessons now quarantined" in done.output
    assert statuses(folder) == {"gran": "quarantined", "child1": "quarantined"}
    assert "[success, quarantined] title gran" in call("show", "--bank", folder).output
    done = call("quarantine", "gran", "stranger", "--undo", "--namespace", "m", "--bank", folder)
    assert "1 lesson now active" in done.output
    assert "stranger (was active before)" in done.output
    assert statuses(folder) == {"child1": "quarantined"}


def test_a_quarantine_leaves_what_was_superseded(folder):
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        MemoryBank(store, "m").set_status("gran", "superseded")
    for undo in ([], ["--undo"]):
        done = call("quarantine", "gran", *undo, "--namespace", "m", "--bank", folder)
        assert "gran (was superseded before)" in done.output
        assert statuses(folder) == {"gran": "superseded"}


@pytest.mark.parametrize(
    ("words", "said"),
    [(("gran", "nobody"), "no 'nobody' in 'm': `bank show`"), (("gran", ""), "no '' in 'm'"), ((), "Missing")],
)
def test_a_mistyped_id_quarantines_nothing(folder, words, said):
    done = call("quarantine", *words, "--namespace", "m", "--bank", folder)
    assert done.exit_code == 2
    assert said in done.output
    assert statuses(folder) == {}


@pytest.fixture
def neighbours(folder):
    """Banks of tenants whose names resemble that of `m`, or who are below it."""
    names = [("ma",), ("m", "below"), ("other", "m")]
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        for name in names:
            MemoryBank(store, name).add([lesson("gran")])
    return names


@pytest.mark.parametrize(("words", "answer"), [(["--yes"], None), ([], "y\n")])
def test_a_whole_namespace_goes_and_no_other(folder, neighbours, words, answer):
    done = call("forget", "--namespace", "m", "--all", *words, "--bank", folder, answer=answer)
    assert done.exit_code == 0, done.output
    assert ("Delete 5 lessons of m for good?" in done.output) is bool(answer)
    assert "5 lessons removed from m\n" in done.output
    assert left(folder) == []
    assert [left(folder, name) for name in neighbours] == [["gran"]] * 3


@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_without_a_yes_nothing_goes(folder, answer):
    done = call("forget", "--namespace", "m", "--all", "--bank", folder, answer=answer)
    assert done.exit_code == 1
    assert len(left(folder)) == 5


@pytest.mark.parametrize(
    "words", [["--namespace", "M"], ["--namespace", "other"], ["--namespace", "m", "--run", "r1"], []]
)
def test_no_namespace_goes_that_is_not_named_exactly(folder, neighbours, words):
    done = call("forget", *words, "--all", "--yes", "--bank", folder)
    assert done.exit_code == 2
    assert len(left(folder)) == 5
    assert [left(folder, name) for name in neighbours] == [["gran"]] * 3


def test_episodes_are_listed_and_printed_whole_and_forgotten_by_the_id_shown(folder):
    kept = Episode(id="e 1", task="what \x1b[2J is", solution="look", answer="4", outcome="failure")
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        MemoryBank(store, "m").add([], episodes=[kept])
    done = call("episodes", "--bank", folder)
    assert done.exit_code == 0, done.output
    assert "m: 1 episode" in done.output
    assert "~episodes" not in done.output + call("show", "--bank", folder).output
    assert "[failure] what" in done.output
    assert "\x1b" not in done.output
    done = call("episodes", "--json", "--namespace", "m", "--bank", folder)
    assert json.loads(done.output) == {"namespace": ["m"], **kept.to_json()}
    done = call("forget", "--namespace", "m", "--item", "e%201", "--bank", folder)
    assert "0 lessons and 1 episode removed\n  e%201\n" in done.output
    assert call("episodes", "--json", "--bank", folder).output == ""
    assert len(left(folder)) == 5


@pytest.mark.parametrize(("words", "place"), [(["--thread", "t9"], "\n  e1\n"), (["--all", "--yes"], " from n\n")])
def test_a_bank_of_episodes_alone_can_be_forgotten_and_says_so(folder, words, place):
    source = Provenance(thread_id="t9")
    kept = Episode(id="e1", task="what", solution="look", answer="4", outcome="failure", provenance=source)
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        MemoryBank(store, "n").add([], episodes=[kept])
    done = call("forget", "--namespace", "n", *words, "--bank", folder)
    assert done.exit_code == 0, done.output
    assert f"0 lessons and 1 episode removed{place}" in done.output
    assert call("episodes", "--json", "--bank", folder).output == ""

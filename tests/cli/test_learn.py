"""`reasoningbank learn`: old threads of SQLite or Postgres, read and learned from, with a report."""

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from typer.testing import CliRunner

from reasoningbank_langgraph import ChromaStore, MemoryBank, embeddings
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.local import model_choice
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.learn.past import ask, chat, teacher
from tests.postgres import database, postgres  # noqa: F401 - fixtures

GRAPH = """
from langgraph.graph import START, MessagesState, StateGraph

builder = StateGraph(MessagesState)
builder.add_node("answer", lambda state: {})
builder.add_edge(START, "answer")
graph = builder.compile()


def make_graph():
    return graph
"""


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(embeddings, "default_embeddings", HashEmbeddings)
    choose(monkeypatch, teacher())
    with SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite")) as saver:
        fill(saver)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fill(saver):
    graph = chat(checkpointer=saver)
    ask(graph, "one", "two", thread="t1")
    ask(graph, "three", thread="t2", user="bob")
    ask(graph, "nobody's", thread="t\x1b[2J3", user=None)


def choose(monkeypatch, model):
    chosen = model_choice.ResolvedModel(model, "a scripted model: for tests")
    monkeypatch.setattr(model_choice, "resolve_model", lambda *_, **__: chosen)


def call(*words):
    return CliRunner().invoke(app, ["learn", *map(str, words)], env={"COLUMNS": "200"})


def tasks(folder, user):
    with ChromaStore.from_path(folder / "bank", embeddings=HashEmbeddings()) as store:
        return [item.task for item in MemoryBank(store, ("math", user)).items()]


def test_threads_of_a_file_are_learned_from_once_and_the_report_says_what_was_left_out(folder):
    words = ["threads.sqlite", "--namespace", "math/{user_id}", "--bank", "bank"]
    done = call(*words)
    assert done.exit_code == 0, done.output
    assert "3 threads read: 3 attempts learned from, 3 lessons written, 1 left out" in done.output
    assert "no_namespace: 1" in done.output
    assert "thread t%1B%5B2J3 no_namespace" in done.output
    assert "\x1b[2J" not in done.output
    assert (tasks(folder, "ann"), tasks(folder, "bob")) == (["one", "two"], ["three"])
    again = call(*words, "--since", "2020-01-01")
    assert "0 attempts learned from, 0 lessons written, 4 left out" in again.output
    assert "already_learned: 3" in again.output
    assert "0 threads read" in call(*words, "--since", "2100-01-01T00:00+02:00").output
    shown = CliRunner().invoke(app, ["bank", "show", "--bank", "bank"], env={"COLUMNS": "200"}).output
    assert "math/ann: " in shown
    assert "user_id" not in shown


@pytest.mark.parametrize("name", ["./mine.py:graph", "mine:builder", "mine:make_graph"])
def test_the_graph_is_named_as_langgraph_names_it(folder, name, monkeypatch):
    (folder / "mine.py").write_text(GRAPH, encoding="utf-8")
    done = call("threads.sqlite", "--namespace", "math/{user_id}", "--graph", name, "--bank", "bank")
    assert done.exit_code == 0, done.output
    assert "3 attempts learned from" in done.output


def test_a_model_that_fails_ends_with_an_error_and_the_next_call_goes_on(folder, monkeypatch):
    words = ["threads.sqlite", "--namespace", "math/{user_id}", "--bank", "bank"]
    choose(monkeypatch, teacher(fails=lambda question: ConnectionError("no server") if "three" in question else None))
    done = call(*words)
    assert done.exit_code == 1
    assert "outage: 1" in done.output
    assert "no server" in done.output
    choose(monkeypatch, teacher())
    assert call(*words).exit_code == 0
    assert tasks(folder, "bob") == ["three"]


def test_a_mistake_is_named_and_no_bank_and_no_table_is_made(folder):
    (folder / "empty.sqlite").touch()
    (folder / "text").write_text("a text that is not a database at all", encoding="utf-8")
    namespace = ["--namespace", "math/{user_id}"]
    wrong = [
        (["nothing.sqlite", *namespace], "there is no file"),
        (["empty.sqlite", *namespace], "no file of a checkpointer"),
        (["text", *namespace], "no file of a checkpointer"),
        (["threads.sqlite", *namespace, "--since", "yesterday"], "is no time"),
        (["threads.sqlite", *namespace, "--graph", "nowhere:graph"], "names no graph"),
        (["threads.sqlite", *namespace, "--graph", "json:graph"], "names no graph"),
        (["threads.sqlite"], "--namespace"),
    ]
    for words, problem in wrong:
        done = call(*words, "--bank", "bank")
        assert done.exit_code == 2, done.output
        assert problem in " ".join(done.output.replace("│", " ").split()), done.output
    assert not (folder / "bank").exists()
    assert not (folder / "nothing.sqlite").exists()
    assert (folder / "empty.sqlite").stat().st_size == 0


@pytest.mark.slow
def test_threads_of_a_database_are_learned_from(folder, database):  # noqa: F811 - the fixture
    from langgraph.checkpoint.postgres import PostgresSaver

    words = ["--namespace", "math/{user_id}", "--bank", "bank"]
    assert "the database cannot be read: UndefinedTable" in call(database, *words).output
    with PostgresSaver.from_conn_string(database) as saver:
        saver.setup()
        fill(saver)
    done = call(database, *words)
    assert done.exit_code == 0, done.output
    assert "3 attempts learned from" in done.output
    assert (tasks(folder, "ann"), tasks(folder, "bob")) == (["one", "two"], ["three"])

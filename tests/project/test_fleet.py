"""The example fleet: a claim ends with its worker, the report sees what is wrong, and all of it runs."""

import importlib
import subprocess
import sys

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from reasoningbank_langgraph.math_solver import create_math_solver
from reasoningbank_langgraph.math_solver.problems import read_problems
from tests.conftest import REPOSITORY
from tests.loop_fakes import indexed_memory
from tests.postgres import database, postgres  # noqa: F401 - fixtures

FLEET = REPOSITORY / "examples" / "fleet"
PROBLEMS = REPOSITORY / "examples" / "math_solver" / "problems.jsonl"
MODULES = ["servers", "work", "scripted", "report", "worker"]


@pytest.fixture
def fleet(monkeypatch):
    """The modules of the example, by name."""
    pytest.importorskip(
        "langgraph.checkpoint.postgres", reason="needs langgraph-checkpoint-postgres", exc_type=ImportError
    )
    monkeypatch.syspath_prepend(str(FLEET))
    for name in MODULES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield {name: importlib.import_module(name) for name in MODULES}
    for name in MODULES:
        sys.modules.pop(name, None)


def test_a_claim_keeps_others_away_until_its_session_ends(fleet, database):  # noqa: F811
    claimed, connect = fleet["work"].claimed, fleet["work"].open_connection
    with connect(database) as mine, connect(database) as other, connect(database) as admin:
        with claimed(mine, "task") as free:
            assert free
            with claimed(other, "task") as again, claimed(other, "another task") as elsewhere:
                assert (again, elsewhere) == (False, True)
        with claimed(other, "task") as free:
            assert free
        holding = claimed(mine, "task")
        assert holding.__enter__()
        admin.execute("SELECT pg_terminate_backend(%s, 5000)", (mine.info.backend_pid,))
        with claimed(other, "task") as free:
            assert free
        with pytest.raises(Exception, match=r"terminating|closed"):
            holding.__exit__(None, None, None)


@pytest.fixture
def worked(fleet):
    """Three tasks that one worker did in memory: the app, its store, the place and the tasks."""
    problems, store = read_problems(PROBLEMS, 3), indexed_memory()
    chat = fleet["scripted"].scripted_model(problems, "worker-0")
    app = create_math_solver(chat, namespace=fleet["work"].NAMESPACE).compile(checkpointer=InMemorySaver(), store=store)
    place = fleet["work"].Place("", 0, "run")
    for problem in problems:
        fleet["worker"].go_on(app, place, problem, "worker-0")
    return app, store, place, problems


def reported(fleet, worked):
    app, store, place, problems = worked
    return fleet["report"].make_report(app, fleet["work"].bank_of(store), place, problems, killed=0, resumed=0)


def test_a_report_of_what_was_learned_once_is_sound(fleet, worked, capsys):
    report = reported(fleet, worked)
    assert report.sound
    assert (report.finished, report.learned, report.lessons) == (3, 3, 6)
    assert report.lines()[-1] == "every attempt was learned exactly once"
    app, _, place, problems = worked
    fleet["worker"].go_on(app, place, problems[0], "worker-1")
    assert "worker-1" not in capsys.readouterr().out


def test_a_report_names_lessons_that_are_missing_changed_or_there_twice(fleet, worked):
    store = worked[1]
    first, second, *_ = items = fleet["work"].bank_of(store).items()
    namespace = fleet["work"].NAMESPACE
    store.delete(namespace, first.id)
    row = store.get(namespace, second.id).value
    store.put(namespace, second.id, {**row, "content": "other words"})
    report = reported(fleet, worked)
    assert (report.missing, report.duplicates, report.sound) == (2, 0, False)
    last = store.get(namespace, items[-1].id).value
    store.put(namespace, "again", {**last, "id": "again", "experience_id": "again"})
    assert reported(fleet, worked).duplicates == 2
    assert "NOT" in reported(fleet, worked).lines()[-1]


def test_a_task_that_was_never_begun_is_not_finished(fleet, worked):
    report = reported(fleet, (*worked[:3], read_problems(PROBLEMS, 4)))
    assert (report.tasks, report.finished, report.sound) == (4, 3, False)


@pytest.mark.slow
@pytest.mark.network
def test_four_workers_of_whom_two_are_killed_learn_every_attempt_once(postgres):  # noqa: F811
    command = [sys.executable, str(FLEET / "run.py"), "--fake-embeddings", "--limit", "24", "--postgres", postgres]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=REPOSITORY, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    *_, tasks, workers, attempts, duplicates, missing, end = done.stdout.splitlines()
    assert tasks.split(maxsplit=1)[1] == "24, finished 24"
    assert workers.split()[1:3] == ["2", "killed,"]
    assert int(workers.split()[3]) >= 1
    assert attempts.split()[1:3] == ["24", "learned,"]
    assert (duplicates.split()[1], missing.split()[1]) == ("0", "0")
    assert end == "every attempt was learned exactly once"

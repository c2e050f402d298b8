"""The arm that retrieves by levels: from linked lessons, beside the arm that costs the same."""

import pytest

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.errors import InvalidRecordError
from reasoningbank_langgraph.experiments.report import write_report
from reasoningbank_langgraph.experiments.summarise import summarise
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.testing import HashEmbeddings

from . import worlds
from .fake_rows import needs_extra

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("levels")
    sets = {
        name: worlds.unlike_problems(folder / name, 8, start=start) for name, start in (("train", 0), ("test", 100))
    }
    chat, settings = worlds.model(), worlds.config(folder, arms=("baseline", "memory", "levels"), **sets)
    return chat, worlds.carry_out(settings, folder / "out", chat)


def test_what_each_problem_is_shown_is_what_the_linked_bank_retrieves_by_levels(done):
    run = done[1]
    rows = worlds.by_arm(run)["levels"]
    with ChromaStore.from_path(run.out / "banks", embeddings=HashEmbeddings()) as store:
        bank = MemoryBank(store, ("experiment", "learning-all-linked"))
        flat = MemoryBank(store, ("experiment", "learning-all"))
        assert [item.near for item in flat.items()] == [""] * len(flat.items())
        assert [item.title for item in bank.items()] == [item.title for item in flat.items()]
        assert any(item.near for item in bank.items())
        for row in rows:
            found = bank.search(row.problem, task_id=row.id, levels=True)
            assert row.shown == tuple(memory.item.id for memory in found if memory.item.id not in row.dropped)
    assert len(rows) == 6


def test_its_control_makes_as_many_calls_and_is_shown_as_many_lessons(done):
    chat, run = done
    arms = worlds.by_arm(run)
    solving = [messages for messages in chat.calls if worlds.is_solving(messages)]
    assert len(solving) == 8 + 3 * 6
    shown = [[len(row.shown) + len(row.dropped) for row in arms[name]] for name in ("memory", "levels")]
    assert shown[0] == shown[1]


@needs_extra
def test_it_is_compared_with_the_baseline_and_with_flat_retrieval(done):
    summary = summarise(done[1].results.rows, done[1].config)
    groups = {(found.arm, found.against): found.group for found in summary.comparisons}
    assert groups == {("memory", "baseline"): "arm", ("levels", "baseline"): "arm", ("levels", "memory"): "levels"}


@needs_extra
def test_the_page_asks_whether_levels_are_better(done):
    write_report(done[1].out)
    assert "Are lessons retrieved by levels better" in (done[1].out / "report.html").read_text()


def test_it_needs_that_arm_and_a_bank_that_does_not_change(tmp_path):
    with pytest.raises(InvalidRecordError, match="name this arm too"):
        worlds.config(tmp_path, arms=("baseline", "levels"))
    with pytest.raises(InvalidRecordError, match="phase1"):
        worlds.config(tmp_path, "stream", arms=("memory", "levels"))

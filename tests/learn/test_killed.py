"""Killed with SIGKILL at every step, a walk goes on in the next process and ends like an undisturbed one."""

import pytest

from tests.killed import found_by
from tests.threads_crash_child import ALL


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """What `threads_crash_child` found."""
    return found_by("threads_crash_child", tmp_path_factory.mktemp("killed"))


@pytest.mark.slow
def test_it_is_killed_at_every_call_and_before_and_after_every_write_also_that_of_the_mark(killed):
    assert {name.rpartition(" ")[0] for name in killed} == {"call", "before write", "after write"}
    assert len(killed) == 2 * len(ALL) + 2 * (len(ALL) + 1)
    assert all(found["killed"] for found in killed.values())


@pytest.mark.slow
def test_what_is_there_after_a_kill_is_whole_and_the_next_walk_does_the_rest_once(killed):
    for name, found in killed.items():
        first, second = found["found"], found["left"]
        assert first["ok"], name
        assert first["tasks"] == first["episodes"] == ALL[: len(first["tasks"])], name
        assert second["tasks"] == second["episodes"] == ALL, name
        assert second["ids"][: len(first["ids"])] == first["ids"], name
        assert found["asked"] == ALL[len(first["tasks"]) :], name
        assert second["ok"], name
    assert len({tuple(found["left"]["ids"]) for found in killed.values()}) == 1

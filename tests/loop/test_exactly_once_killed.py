"""Killed with SIGKILL at every step that leaves something on disk, a run goes on and ends like an undisturbed one."""

import pytest

from tests.killed import found_by
from tests.postgres import database, postgres  # noqa: F401 - fixtures

INSIDE = ["retrieve before it reads", "solve", "judge", "extract", "consolidate before it writes"]
BETWEEN = [f"checkpoint after {step}" for step in ("input", "start", "retrieve", "solve", "judge", "extract")]
AT_THE_END = ["consolidate after it wrote", "result of consolidate", "checkpoint after consolidate"]


SAVERS = [pytest.param(saver, marks=pytest.mark.xdist_group(f"killed on {saver}")) for saver in ("sqlite", "postgres")]


@pytest.fixture(scope="module", params=SAVERS)
def killed(request, tmp_path_factory):
    """What `crash_child` found for one kind of checkpointer."""
    url = [request.getfixturevalue("postgres")] if request.param == "postgres" else []
    return found_by("crash_child", request.param, tmp_path_factory.mktemp("killed"), *url)


def of_each(killed, judge):
    return {point: judge(found) for point, found in killed["points"].items()}


@pytest.mark.slow
def test_a_run_is_killed_inside_every_node_and_between_all_of_them(killed):
    assert set(INSIDE + BETWEEN + AT_THE_END) <= set(killed["points"])
    assert all(of_each(killed, lambda found: found["killed"]).values())


@pytest.mark.slow
def test_wherever_a_run_is_killed_it_ends_like_an_undisturbed_one(killed):
    first, second = killed["calm"]  # lessons that were not checkpointed are extracted again, and then differ
    assert len(first) != len(second)
    expected = of_each(killed, lambda found: first if found["lessons"] else second)
    assert of_each(killed, lambda found: found["told"]) == expected
    assert of_each(killed, lambda found: found["ids"]) == of_each(killed, lambda found: found["written"])


@pytest.mark.slow
def test_a_killed_run_leaves_all_lessons_of_its_attempt_or_none_and_goes_on_with_the_same_ids(killed):
    assert of_each(killed, lambda found: found["before"]) == of_each(
        killed, lambda found: found["ids"][: len(found["before"])]
    )
    assert {point for point, found in killed["points"].items() if len(found["before"]) == 6} == set(AT_THE_END)
    assert {len(found["before"]) for found in killed["points"].values()} == {3, 6}
    known = {point: found for point, found in killed["points"].items() if found["lessons"]}
    assert set(AT_THE_END) | {"consolidate before it writes"} <= set(known)
    assert all(found["ids"][3:6] == found["lessons"] for found in known.values())


@pytest.mark.slow
def test_wherever_a_run_is_killed_each_attempt_leaves_one_episode_beside_its_lessons(killed):
    assert set(of_each(killed, lambda found: len(found["episodes"])).values()) == {3}
    assert all(of_each(killed, lambda found: found["experiences"][0] == found["experiences"][1]).values())


@pytest.mark.slow
def test_wherever_a_run_is_killed_what_each_attempt_used_is_counted_once(killed):
    assert [point for point, calls in of_each(killed, lambda found: found["calls"]).items() if calls != [3, 3]] == []

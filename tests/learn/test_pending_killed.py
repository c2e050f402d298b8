"""Killed with SIGKILL at every step, learning from an attempt that waits goes on and ends like an undisturbed one."""

import pytest

from tests.killed import found_by

WORKS = ["defer", "outage", "background", "resolve", "overturn", "return", "overdue"]


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """What `pending_crash_child` found."""
    return found_by("pending_crash_child", tmp_path_factory.mktemp("killed"), timeout=900)


@pytest.mark.slow
@pytest.mark.parametrize("work", WORKS)
def test_the_next_life_ends_like_an_undisturbed_one_and_nothing_is_there_twice(killed, work):
    calm, points = killed[work].values()
    assert points
    assert any("before write" in name for name in points)
    assert any("after write" in name for name in points)
    for name, found in points.items():
        assert found["killed"], name
        assert found["left"] == calm["left"], name


@pytest.mark.slow
@pytest.mark.parametrize("work", WORKS)
def test_at_no_moment_is_an_attempt_lost_or_half_learned(killed, work):
    for name, found in killed[work]["points"].items():
        first = found["found"]
        written = "after write" in name or work not in ("defer", "outage", "background")
        assert len(first["pending"]) + len(first["episodes"]) >= written, name
        in_use = [title for title, status, _ in first["items"] if status == "active"]
        assert in_use in ([], ["one", "two"]), name
        assert first["ok"], name


@pytest.mark.slow
def test_undisturbed_each_work_does_what_its_name_says(killed):
    lessons = [["one", "active", "success"], ["two", "active", "success"]]
    old = [[title, "superseded", outcome] for title, _, outcome in lessons]
    others = [["one", "active", "failure"], ["two", "active", "failure"]]
    calm = {work: killed[work]["calm"]["left"] for work in WORKS}
    assert calm["defer"] == {"items": [], "episodes": [], "pending": [None], "ok": True}
    assert calm["outage"] == {"items": [], "episodes": [["success", 0]], "pending": ["success"], "ok": True}
    for work in ("background", "resolve", "overdue"):
        assert calm[work] == {"items": lessons, "episodes": [["success", 0]], "pending": [], "ok": True}
    assert calm["overturn"] == {"items": [*old, *others], "episodes": [["failure", 1]], "pending": [], "ok": True}
    assert sorted(calm["return"]["items"]) == sorted(
        [*lessons, *([title, "superseded", outcome] for title, _, outcome in others)]
    )
    assert calm["return"]["episodes"] == [["success", 2]]

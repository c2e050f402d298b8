"""Killed with SIGKILL at every step, a run of `redistil` or its undoing goes on and ends like an undisturbed one."""

import pytest

from tests.killed import found_by


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """What `redistil_crash_child` found."""
    return found_by("redistil_crash_child", tmp_path_factory.mktemp("killed"))


def of_each(killed, judge, work=""):
    return {point: judge(found) for point, found in killed.items() if point.startswith(work)}


def in_use(said):
    """Titles of the lessons in use, by their experience."""
    found = {}
    for experience, title, status, _ in said["items"]:
        if status == "active":
            found.setdefault(experience, []).append(title)
    return found


@pytest.mark.slow
def test_it_is_killed_before_and_after_every_write_and_every_call(killed):
    assert {point.rpartition(" ")[0] for point in killed} == {
        *(f"redistil: {step}" for step in ("call", "before write", "after write")),
        *(f"undo: {step}" for step in ("before write", "after write")),
    }
    assert len(killed) == 15
    assert all(of_each(killed, lambda found: found["killed"]).values())


@pytest.mark.slow
def test_a_killed_run_leaves_of_each_experience_the_old_lessons_in_use_or_the_new_ones(killed):
    for point, found in killed.items():
        for experience, titles in in_use(found["found"]).items():
            number = experience.removeprefix("e")
            assert titles in ([f"title a{number}", f"title b{number}"], ["one", "two"]), point
        assert set(in_use(found["found"])) == {"e0", "e1", "e2"}
        assert found["found"]["ok"]


@pytest.mark.slow
def test_the_next_run_does_the_rest_and_writes_nothing_twice(killed):
    whole = {f"e{number}": ["one", "two"] for number in range(3)}
    old = {f"e{number}": [f"title a{number}", f"title b{number}"] for number in range(3)}
    assert list(of_each(killed, lambda found: in_use(found["left"]), "redistil").values()) == [whole] * 9
    assert list(of_each(killed, lambda found: in_use(found["left"]), "undo").values()) == [old] * 6
    ends = of_each(killed, lambda found: sorted(item[-1] for item in found["left"]["items"]))
    assert len({tuple(end) for end in ends.values()}) == 1
    assert {len(end) for end in ends.values()} == {12}
    asked = of_each(killed, lambda found: sum("call" in step for step in found["steps"]), "redistil")
    done = of_each(killed, lambda found: list(in_use(found["found"]).values()).count(["one", "two"]), "redistil")
    assert {point: asked[point] + done[point] for point in asked} == dict.fromkeys(asked, 3)

"""Killed with SIGKILL at every step, a harvest is whole or none, and the same call makes it."""

import pytest

from tests.killed import found_by


@pytest.mark.slow
def test_a_killed_harvest_is_whole_or_none_and_the_same_call_makes_it(tmp_path):
    found = found_by("harvest_crash_child", tmp_path)
    calm, points = found["calm"], found["points"]
    assert len(points) == 8
    assert sum("before the disk" in point for point in points) == 6
    for point, each in points.items():
        assert each["killed"], point
        assert ("card.json" in each["found"]) == point.startswith("after the card"), point
        assert each["left"] == calm["left"], point
        assert each["names"] == calm["names"], point

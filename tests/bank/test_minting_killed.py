"""Killed with SIGKILL around the write of an attempt, a run decides on its lessons as an undisturbed one does."""

import pytest

from tests.killed import found_by


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """What `minting_crash_child` found."""
    return found_by("minting_crash_child", tmp_path_factory.mktemp("killed"))


@pytest.mark.slow
def test_a_killed_run_decides_like_an_undisturbed_one_and_so_does_a_replay(killed):
    calm = killed["calm"]
    assert ["check the units", "convert at first", "active", "check the units"] in calm["items"]
    assert [status for _, _, status, _ in calm["items"]].count("quarantined") == 2
    assert [row[2] for row in calm["left out"][0]] == ["run_cap"]
    for point in ("before write 0", "after write 0"):
        assert killed[point]["killed"], point
        for each in ("second", "third"):
            there = killed[point][each]
            assert (there["items"], there["ok"]) == (calm["items"], True), point
            assert [row[0][2] for row in there["left out"]] == ["run_cap"], point


@pytest.mark.slow
def test_a_killed_merge_leaves_the_originals_in_use_or_the_merged_lesson_and_is_done_again(killed):
    before = [["title a", "active"], ["title b", "active"]]
    merged = [["title a", "superseded"], ["title b", "superseded"], ["title a", "active"]]
    undone = [*before, ["title a", "superseded"]]
    found = {point: lives for point, lives in killed.items() if ":" in point}
    assert [point.partition(":")[0] for point in found] == ["merge"] * 2 + ["undo"] * 4
    for point, lives in found.items():
        assert lives["killed"], point
        assert lives["found"]["items"] in (before, merged, undone), point
        assert lives["left"]["items"] == (merged if point.startswith("merge") else undone), point
        assert lives["found"]["ok"], point
        assert lives["left"]["ok"], point

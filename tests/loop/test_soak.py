"""After a long run, memory holds no more than its bank, and the folder each lesson once and little else."""

import pytest

from tests.benchmarks.soak import soak

TASKS = 150


@pytest.mark.slow
def test_a_long_run_loses_and_doubles_nothing_and_takes_no_more_room_than_its_lessons(tmp_path):
    found = soak(tmp_path, TASKS)
    assert (found.twice, found.lost) == (0, 0)
    assert found.ledger == f"{TASKS} rows, 0 forks: complete"
    half, end = found.memory[1], found.memory[3]
    assert end.bank > 1.5 * half.bank
    assert end.beside < 1.05 * half.beside
    assert found.vacuumed < 2 * found.fresh

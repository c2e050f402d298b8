"""General lessons make a level of their own where nothing is similar, and nowhere else."""

import pytest

from reasoningbank_langgraph.policies import GENERAL, LOW, by_levels

FAR = {"near": LOW - 0.01, "wide": 0.3, "wider": 0.1}


@pytest.mark.parametrize(
    ("scores", "tasks", "levels"),
    [
        (FAR, {"wide": GENERAL, "wider": 9}, [["wide", "wider"], ["near"]]),
        (FAR, {"wide": GENERAL - 1}, [["near", "wide", "wider"]]),
        (FAR, dict.fromkeys(FAR, 9), [["near", "wide", "wider"], []]),
        ({**FAR, "near": LOW}, {"wide": 9}, [["near", "wide", "wider"]]),
        (FAR, {}, [["near", "wide", "wider"]]),
        ({}, {"wide": 9}, [[]]),
    ],
    ids=["far", "two tasks", "all general", "near", "unknown", "empty bank"],
)
def test_general_ones_come_before_the_others_if_even_the_best_is_not_similar(scores, tasks, levels):
    found = by_levels(scores, tasks)
    assert [list(level) for level in found] == levels
    assert {key: score for level in found for key, score in level.items()} == scores

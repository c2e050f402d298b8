"""`reasoningbank bank stats` says what each bank holds and what was used for it, for people and as JSON."""

import json

import pytest

from reasoningbank_langgraph import ChromaStore, MemoryBank
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.bank.test_forgetting import lesson
from tests.cli.test_log import bank_command

USAGE = {
    "judge": {"calls": 2, "input_tokens": 1_500, "output_tokens": 40, "total_tokens": 1_540},
    "solve": {"input_tokens": 20, "output_tokens": 5, "total_tokens": 25},
}


@pytest.fixture
def folder(tmp_path):
    with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings()) as store:
        MemoryBank(store, ("math", "ann")).add([lesson("one")], usage=USAGE)
        MemoryBank(store, ("math", "bob")).add([lesson("one")])
    return tmp_path / "bank"


def test_each_step_has_a_line_and_tokens_of_memory_stand_beside_those_of_the_solver(folder):
    text = bank_command("stats", "--namespace", "math/ann", "--bank", folder).stdout
    assert "math/ann: 1 lesson of 1 attempt" in text
    assert "judge     calls 2, tokens in 1,500, tokens out 40\n" in text
    assert "tokens    memory 1,540, solver 25\n" in text
    assert "embed     texts " in text
    assert "bob" not in text


def test_as_json_there_is_a_line_for_each_bank_also_for_one_that_is_empty_by_now(folder):
    bank_command("forget", "--all", "--yes", "--namespace", "math/ann", "--bank", folder)
    ann, bob = map(json.loads, bank_command("stats", "--json", "--bank", folder).stdout.splitlines())
    assert (ann["namespace"], ann["totals"]["items"], bob["totals"]["items"]) == (["math", "ann"], 0, 1)
    assert {step: ann["usage"][step] for step in USAGE} == USAGE
    assert bob["usage"].keys() == {"embed"}

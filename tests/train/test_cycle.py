"""From attempts to weights that are used, and back: a random model of two layers learns to answer 7, whatever is asked.

Nothing is faked but the model that made the attempts.
"""

import json

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph import MemoryBank
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.local.model_choice import resolve_model
from reasoningbank_langgraph.math_solver import create_math_solver, solve_prompt
from reasoningbank_langgraph.testing import ScriptedChatModel
from reasoningbank_langgraph.train.adapters import list_adapters
from tests.loop_fakes import indexed_memory, lessons

pytestmark = [pytest.mark.slow, pytest.mark.network]
SAID = "1+6,\\boxed{7}"
"""No letter is in it twice, so what comes next follows from the last one."""
KINDS = [
    "Lea has {} plums and eats {} of them. How many are left?",
    "What is {} minus {}?",
    "A rope of {} metres loses {} metres at one end. How long is it then?",
    "There were {} guests, {} of whom left early. Count those that stayed to the end!",
    "From a book with {} pages somebody tore {}: which number remains?",
]
TASKS = [
    *(kind.format(number, number - 7) for kind in KINDS for number in range(8, 16)),
    "Two shelves carry 5 and 2 books. How many do they carry together?",
    "Tom is 10, and his sister is 3 years younger. How old is she?",
]
PROBLEMS = [
    "How many days has a week?",
    "How many dwarfs live with Snow White?",
    "Name the prime between five and eleven.",
    "How many colours has a rainbow, as children learn it?",
    "What do the eyes on opposite sides of a die add up to?",
    "How many seas does a sailor boast of?",
    "On how many hills was Rome built?",
    "How many notes are there before the octave?",
]
SETTINGS = ["--targets", "o_proj,gate_proj,up_proj,down_proj", "--rank", 32, "--batch", 1, "--learning-rate", 0.01]


def call(*words, code=0):
    done = CliRunner().invoke(app, [*map(str, words)], env={"COLUMNS": "200"})
    assert done.exit_code == code, done.output
    return done.output


def bank_of_attempts():
    """A bank that a solver filled which knows the answer."""
    chat = ScriptedChatModel(lambda messages: lessons("say 7") if "teach" in messages[0].text else SAID)
    graph = create_math_solver(chat, namespace=("math",)).compile(store=indexed_memory())
    for task in TASKS:
        graph.invoke({"task": task, "reference": "7"})
    return MemoryBank(graph.store, ("math",))


def answered(folder):
    with resolve_model(str(folder), max_tokens=20) as resolved:
        return resolved.description, resolved.chat.invoke(solve_prompt({"task": PROBLEMS[0]})).text


def test_a_tiny_model_is_harvested_for_tuned_tried_used_and_taken_back(tmp_path):
    from tests.train.tiny import write_tiny_model

    base, validation, adapters = (
        write_tiny_model(tmp_path / "tiny.gguf"),
        tmp_path / "held.jsonl",
        tmp_path / "adapters",
    )
    validation.write_text("\n".join(json.dumps({"problem": text, "answer": "7"}) for text in PROBLEMS))
    bank_of_attempts().harvest(tmp_path / "harvest", not_in=[validation])
    data = ["--data", tmp_path / "harvest", "--base", base]
    call("tune", *data, "--out", adapters / "sevens", "--epochs", 2, *SETTINGS)
    call("tune", *data, "--out", adapters / "hardly", "--epochs", 0.02, *SETTINGS)
    trial = ["--problems", validation, "--max-tokens", 20]

    assert "hardly against the base: 0 of 8 right" in call("adapter", "accept", adapters / "hardly", *trial, code=1)
    assert answered(adapters)[0].startswith("tiny on this machine: the base, as no adapter of")
    printed = call("adapter", "accept", adapters / "sevens", *trial)
    assert "sevens against the base: 8 of 8 right, 0 without" in printed
    assert "left out" not in printed
    assert answered(adapters) == (f"tiny+sevens on this machine: the adapter in use in {adapters}", SAID)
    assert "the base, without an adapter, is in use" in call("adapter", "rollback", adapters)
    assert answered(adapters)[1] != SAID
    assert {one.name: one.state for one in list_adapters(adapters)} == {"hardly": "not better", "sevens": "rolled back"}

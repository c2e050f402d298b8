"""What a probe advises follows from what was shown, and the Python it prints can be run."""

import json

import pytest

from reasoningbank_langgraph import prompts
from reasoningbank_langgraph.errors import ExperimentError, InvalidRecordError
from reasoningbank_langgraph.experiments.banks import given_bank
from reasoningbank_langgraph.experiments.probe import (
    RECURRING,
    SHOWN,
    advise,
    probe_config,
    reply_lengths,
    what_is_shown,
)
from reasoningbank_langgraph.experiments.summarise import summarise
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.testing import ScriptedChatModel

from . import worlds
from .fake_rows import config, needs_extra, row

NOTHING = dict.fromkeys(SHOWN, 30)
FOUND = {
    "nothing": (NOTHING, "guard", "lessons", ["was shown to change anything", "true difference of", "A guard finds"]),
    "lessons": (
        {**NOTHING, "memory": 48, "examples": 40},
        "lessons",
        "lessons",
        ["memory gained on baseline: +30.0 points", "memory gained on random", "memory gained on filler"],
    ),
    "examples, like any other": (
        {**NOTHING, "examples": 48, "examples-random": 47},
        "examples",
        "examples",
        ["examples gained on baseline", "No difference between examples and examples-random could be shown"],
    ),
    "a rule": ({**NOTHING, "long": 50, "memory": 48}, "rule", None, ["long gained on baseline", "needs no memory"]),
    "any text": (
        {**NOTHING, "filler": 12, "random": 11, "memory": 12, "examples": 20, "examples-random": 19},
        "gate",
        "examples",
        ["with any text before the task: use the gate", "text about nothing: −30.0 points [", "50 after text about n"],
    ),
    "both forms": ({**NOTHING, "memory": 10, "examples": 12}, "gate", "examples", ["lessons and with an example"]),
    "lessons alone": (
        {**NOTHING, "memory": 12},
        "guard",
        "examples",
        ["memory lost to baseline", "it is what it says", "No difference between examples and baseline"],
    ),
}  # fmt: skip


def advice_on(right):
    rows = [
        row(arm, f"p{number}", number < count, memory="notes" * (arm not in ("baseline", "long")),
            reply="." * (80 if arm == "baseline" else 50))
        for arm, count in right.items()
        for number in range(60)
    ]  # fmt: skip
    return advise(summarise(rows, config(arms=tuple(right))), reply_lengths(rows))


@needs_extra
@pytest.mark.parametrize("case", FOUND)
def test_the_advice_follows_from_what_was_shown_and_says_why(case):
    right, use, form, reasons = FOUND[case]
    advice = advice_on(right)
    assert advice.use == use
    assert [reason for reason in reasons if reason.casefold() not in advice.reason.casefold()] == []
    assert (f'show="{form}"' in advice.python) is (form is not None)
    assert ("on_disagreement" in advice.python) is (use == "gate")
    assert ("guard=Guard()" in advice.python) is (use not in ("gate", "rule"))


@needs_extra
@pytest.mark.parametrize("case", FOUND)
def test_the_advice_is_the_same_where_near_copies_may_be_shown(case):
    right, use, form, _ = FOUND[case]
    advice = advice_on({RECURRING.get(arm, arm): count for arm, count in right.items()})
    assert advice.use == use
    assert (f'show="{form}"' in advice.python) is (form is not None)


@needs_extra
@pytest.mark.parametrize("case", FOUND)
def test_the_python_of_an_advice_runs(case):
    names = {"solver": lambda state: {"answer": "5"}, "model": ScriptedChatModel([]), "rules": "Solve it."}
    exec(advice_on(FOUND[case][0]).python, names)
    if "graph" in names:
        assert names["graph"].compile()
    else:
        assert names["rules"] == f"Solve it. {prompts.EVERY_STEP}"


def test_a_probe_learns_from_the_first_third_of_a_file_and_compares_on_the_rest(tmp_path):
    file = worlds.unlike_problems(tmp_path / "all.jsonl", 36)
    made = probe_config(file)
    assert (made.train, made.test, made.train_limit, made.arms) == (file, file, 12, tuple(SHOWN))
    again = probe_config(file, recurring=True)
    assert again.arms == ("baseline", "long", "filler", "random", "memory", "recurring-random", "recurring")
    assert [what_is_shown(arm) for arm in again.arms] == list(SHOWN.values())
    with pytest.raises(
        ExperimentError, match=r"17 problems of .* are learned from and 19 others are left: .* 20 or more"
    ):
        probe_config(file, learn=17)
    file.write_text(json.dumps({"problem": "1 + 1"}) + "\n")
    with pytest.raises(ExperimentError, match="no answer"):
        probe_config(file, learn=1, bank=tmp_path, namespace=("math",))


@pytest.mark.parametrize("changes", [{"namespace": ()}, {"train": "t"}, {"bank_sizes": (2,)}, {"protocol": "scaling"},
                                     {"arms": ("baseline", "vote+matts")}])  # fmt: skip
def test_a_bank_that_is_there_is_not_learned(changes):
    with pytest.raises(InvalidRecordError, match="a bank that is there is shown as it is"):
        config(**{"train": None, "bank": "bank", "namespace": ("math",), **changes})


def test_an_encrypted_bank_is_not_copied_into_the_folder_of_an_experiment(tmp_path):
    with ChromaStore.from_path(tmp_path / "bank", index=None, encryption_key=bytes(16)):
        pass
    given = config(train=None, bank=tmp_path / "bank", namespace=("math",))
    with (
        ChromaStore.from_path(tmp_path / "out", index=None) as store,
        pytest.raises(ExperimentError, match=r"is encrypted, .* keeps its texts in the clear"),
    ):
        given_bank(store, given, tmp_path)

"""A folder of an adapter, or of several, is a model that a command can name."""

import json

import pytest

from reasoningbank_langgraph.errors import AdapterError, ModelUnavailableError
from reasoningbank_langgraph.files import append_line
from reasoningbank_langgraph.local.adapters import HISTORY, Decision
from reasoningbank_langgraph.local.model_choice import resolve_model
from reasoningbank_langgraph.local.tuned import digest
from tests.train.adapted import adapter_in


@pytest.fixture
def adapter(tmp_path):
    """The folder of an adapter, as a card describes it."""
    (base := tmp_path / "base.gguf").write_bytes(b"weights")
    (folder := tmp_path / "adds").mkdir()
    card = {"base": str(base), "base_sha256": digest(base), "adapter": "adds.gguf"}
    (folder / "card.json").write_text(json.dumps(card))
    return folder


def test_the_folder_of_an_adapter_means_its_base_with_the_adapter(adapter, started):
    resolved = resolve_model(str(adapter))
    assert (started[0].path, started[0].adapter) == (str(adapter.parent / "base.gguf"), adapter / "adds.gguf")
    assert "the tuned model you named" in resolved.description


def test_an_adapter_is_not_put_on_other_weights(adapter, started):
    base = adapter.parent / "base.gguf"
    base.write_bytes(b"others")
    with pytest.raises(ModelUnavailableError, match=r"base\.gguf is not the file that it was tuned on"):
        resolve_model(str(adapter))
    base.unlink()
    with pytest.raises(ModelUnavailableError, match=r"is not a GGUF file on this disk: start_local_model\(GGUF"):
        resolve_model(str(adapter))
    (adapter / "card.json").write_text("{}")
    with pytest.raises(ModelUnavailableError, match="its card is damaged or of other things"):
        resolve_model(str(adapter))
    assert started == []


def test_an_adapter_whose_training_was_cut_off_is_no_name_of_a_model_elsewhere(started, tmp_path):
    (begun := tmp_path / "adds").mkdir()
    (begun / "settings.json").write_text("{}")
    with pytest.raises(ModelUnavailableError, match=r"has not come to its end: `reasoningbank tune` with the same"):
        resolve_model(str(begun))
    assert started == []


def test_a_folder_of_adapters_is_the_one_in_use_or_their_base(started, tmp_path):
    sums, more = (adapter_in(tmp_path / "adapters", name) for name in ("sums", "more"))
    chosen = [resolve_model(str(tmp_path / "adapters")).description]
    told = {"base_sha256": digest(tmp_path / "base.gguf"), "outcome": "accepted"}
    for folder in (sums, more):
        decision = Decision(adapter=folder.name, sha256=digest(folder / f"{folder.name}.gguf"), **told)
        append_line(tmp_path / "adapters" / HISTORY, decision.to_json())
    chosen.append(resolve_model(str(tmp_path / "adapters")).description)
    chosen.append(resolve_model(str(sums)).description)
    assert [server.adapter for server in started] == [None, more / "more.gguf", sums / "sums.gguf"]
    assert {server.path for server in started} == {str(tmp_path / "base.gguf")}
    assert [description.partition(": ")[2] for description in chosen] == [
        f"the base, as no adapter of {tmp_path / 'adapters'} is accepted",
        f"the adapter in use in {tmp_path / 'adapters'}",
        "the tuned model you named",
    ]


def test_a_folder_whose_adapter_in_use_has_changed_is_no_model(started, tmp_path):
    sums = adapter_in(tmp_path / "adapters", "sums")
    told = {"adapter": "sums", "sha256": "another", "base_sha256": "its", "outcome": "accepted"}
    append_line(tmp_path / "adapters" / HISTORY, Decision(**told).to_json())
    with pytest.raises(AdapterError, match=r"weights are not those that were accepted"):
        resolve_model(str(sums.parent))
    assert started == []

"""What is read from a model's file before a server is started, and files and folders that are refused."""

import importlib.util
import os

import pytest

from reasoningbank_langgraph.errors import MissingDependencyError, ModelServerError, ModelUnavailableError
from reasoningbank_langgraph.local import model as local
from reasoningbank_langgraph.local import packaged_model_path, start_local_model
from reasoningbank_langgraph.local.gguf import read_head
from reasoningbank_langgraph.local.model_files import MODEL_FILES


def string(text):
    return len(text).to_bytes(8, "little") + text.encode()


def number(name, value):
    return string(f"llama.{name}") + (4).to_bytes(4, "little") + value.to_bytes(4, "little")


def gguf(*pairs):
    return b"GGUF" + (3).to_bytes(4, "little") + bytes(8) + len(pairs).to_bytes(8, "little") + b"".join(pairs)


NAME = string("general.name") + (8).to_bytes(4, "little") + string("tiny")
LANGUAGES = (
    string("general.languages") + (9).to_bytes(4, "little") + (8).to_bytes(4, "little") + (2).to_bytes(8, "little")
) + (string("en") + string("fr"))


def numbers(name, *values):
    head = string(f"llama.{name}") + (9).to_bytes(4, "little") + (4).to_bytes(4, "little")
    return head + len(values).to_bytes(8, "little") + b"".join(value.to_bytes(4, "little") for value in values)


CONTEXT = number("context_length", 8192)
SIZES = [number("block_count", 30), number("embedding_length", 576), number("attention.head_count", 9)]


def test_the_context_of_a_model_is_read_from_its_file(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf(NAME, LANGUAGES, CONTEXT) + b"rest")
    assert read_head(path) == (8192, None)
    path.write_bytes(gguf(NAME))
    assert read_head(path) == (None, None)


@pytest.mark.parametrize(
    ("heads", "taken"),
    [
        ([number("attention.head_count_kv", 3)], 30 * 3 * (64 + 64) * 2),
        ([number("attention.head_count_kv", 3), number("attention.key_length", 128)], 30 * 3 * (128 + 128) * 2),
        ([numbers("attention.head_count_kv", 4, 0, 2)], (4 + 0 + 2) * (64 + 64) * 2),
        ([number("attention.head_count_kv", 3), number("attention.value_length", 32)], 30 * 3 * (64 + 32) * 2),
        ([], None),
    ],
    ids=["derived", "wide keys", "layer by layer", "narrow values", "not said"],
)
def test_what_a_token_of_context_takes_is_read_from_the_file(tmp_path, heads, taken):
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf(*SIZES, *heads, CONTEXT))
    assert read_head(path) == (8192, taken)


@pytest.mark.parametrize(
    ("n_ctx", "cache_bytes", "slots"),
    [(4096, 23_040, 8), (4096, 114_688, 3), (4096, 524_288, 1), (65_536, 114_688, 1), (4096, None, 1)],
    ids=["small model", "1.7 billion weights", "7 billion weights", "long context", "not said"],
)
def test_fewer_contexts_are_kept_where_they_would_fill_the_memory(n_ctx, cache_bytes, slots):
    assert local._slots(n_ctx, cache_bytes) == slots


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "cannot be read: No such file"),
        (b"", "is not a GGUF"),
        (b"PK\x03\x04 a zip file", "is not a GGUF"),
        (gguf(NAME, LANGUAGES, CONTEXT)[:60], "cut off or damaged"),
        (gguf(b"\xff" * 40), "cut off or damaged"),
        (gguf(string("x") + (77).to_bytes(4, "little")), "cut off or damaged"),
    ],
    ids=["missing", "empty", "zip", "cut off", "huge length", "unknown type"],
)
def test_what_is_no_model_is_refused_by_name(tmp_path, content, problem, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    path = tmp_path / "m.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelServerError, match=problem) as error:
        start_local_model(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(("usable", "threads"), [(1, 1), (2, 2), (3, 2), (4, 2), (16, 8)])
def test_a_model_takes_half_of_the_processors_and_two_of_two(usable, threads, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(usable)), raising=False)
    assert local._spare_cpus() == threads


def test_a_folder_is_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    with pytest.raises(ModelServerError, match="it is a folder, a pipe or a device, not a file"):
        start_local_model(tmp_path)


def test_without_the_packages_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"xllamacpp.*\[local\].*no wheel.*set OPENAI_BASE_URL"):
        start_local_model()


def test_without_the_packaged_model_the_command_that_fetches_it_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ModelUnavailableError, match=r"run `reasoningbank model pull SmolLM2-135M` once"):
        packaged_model_path()
    pulled = MODEL_FILES["SmolLM2-135M"].path()
    pulled.parent.mkdir(parents=True)
    pulled.touch()
    assert packaged_model_path() == pulled

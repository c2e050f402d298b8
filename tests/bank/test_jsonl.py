"""Export and import of a bank: nothing lost on the way, all or nothing, and every bad line is named."""

import json
import os
import tracemalloc
from pathlib import Path

import pytest
from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph import MemoryBank
from reasoningbank_langgraph.errors import ImportFileError, NotAFileError, StoreError
from reasoningbank_langgraph.records import utc_now
from tests.bank.test_forgetting import STORES, lesson
from tests.loop_fakes import Switched, indexed_memory, open_store

HEAD = '{"format": "reasoningbank", "version": 1, "items": 1}'
HOSTILE = "a\u2028b\u2029c\x85d \u202e <|im_start|> \\frac{1}{2} 日本 \x0b ok"


def bank(store):
    return MemoryBank(store, ("m",))


def filled(store):
    full = bank(store)
    full.add([lesson("a0", task="red green", experience="a"), lesson("a1", task="red green", experience="a")])
    full.add([lesson("b", task=HOSTILE, content=HOSTILE, tags=("x", "y"), valid_until=utc_now())])
    full.add([lesson("c", used=("a0",))])
    full.set_status(["c"], "quarantined")
    return full


def line(**changes):
    entry = {**lesson("z").to_json(), **changes}
    return json.dumps({name: value for name, value in entry.items() if value is not ...})


@STORES
def test_an_exported_bank_comes_back_equal_and_as_findable(kind, tmp_path):
    with open_store(kind, tmp_path / "one") as one, open_store(kind, tmp_path / "two") as two:
        source, target = filled(one), bank(two)
        assert source.export_jsonl(tmp_path / "bank.jsonl") == 4
        assert target.import_jsonl(tmp_path / "bank.jsonl") == (4, 0)
        assert target.items() == source.items()
        assert [memory.item.id for memory in target.search("red green blue")] == ["a0", "a1"]
        assert target.import_jsonl(tmp_path / "bank.jsonl") == (0, 4)
        assert target.items() == source.items()


def test_an_export_replaces_a_file_and_leaves_no_draft(tmp_path):
    path = tmp_path / "bank.jsonl"
    path.write_text("old")
    filled(indexed_memory()).export_jsonl(path)
    assert [found.name for found in tmp_path.iterdir()] == ["bank.jsonl"]
    lines = path.read_bytes().split(b"\n")
    assert json.loads(lines[0]) == {"format": "reasoningbank", "version": 1, "items": 4}
    assert len(lines) == 6


def test_lines_end_with_the_byte_10_and_with_nothing_else(tmp_path):
    path = tmp_path / "bank.jsonl"
    raw = json.dumps(lesson("z", content=HOSTILE).to_json(), ensure_ascii=False)
    path.write_bytes(f"{HEAD}\r\n{raw}\r\n\n".encode())
    target = bank(indexed_memory())
    assert target.import_jsonl(path) == (1, 0)
    assert target.get("z").content == lesson("z", content=HOSTILE).content


@pytest.mark.parametrize(
    ("content", "where", "problem"),
    [
        (b"", 1, "format"),
        (b"\xef\xbb\xbf" + f"{HEAD}\n{line()}".encode(), 1, "not JSON"),
        (b'{"format": "other", "version": 1, "items": 0}', 1, "format"),
        (b'{"format": "reasoningbank", "version": 2, "items": 0}', 1, "newer version"),
        (b'{"format": "reasoningbank", "version": 6, "items": 0, "episodes": 0}', 1, "newer version"),
        (b'{"format": "reasoningbank", "version": 1}', 1, "number of items"),
        *(
            (f'{{"format": "reasoningbank", "version": {version}, "items": 0}}'.encode(), 1, "format and version")
            for version in ("-1", "0", "true", '"1"', "1.0", "null")
        ),
        *(
            (f'{{"format": "reasoningbank", "version": 1, "items": {items}}}'.encode(), 1, "number of items")
            for items in ("-1", "true", '"0"', "0.0")
        ),
        (f"{HEAD}\n{line(created_at='9999-12-31T23:59:59-14:00')}".encode(), 2, "outside the years"),
        (f"{HEAD}\n{line(valid_until='0001-01-01T00:00:00+14:00')}".encode(), 2, "outside the years"),
        (f"{HEAD}\n{line(id='a' + chr(27) + '[2J')}".encode(), 2, "control characters"),
        (f"{HEAD}\n{line(experience_id='a' + chr(0x9B))}".encode(), 2, "control characters"),
        (f'{HEAD}\n{line(id=...)[:-1]}, "id": "\\ud800"}}'.encode(), 2, "MemoryItem.id"),
        (f"{HEAD}\n{line(utility={'used': -1})}".encode(), 2, "utility.used"),
        (f"{HEAD}\n".encode(), None, "incomplete"),
        (f"{HEAD}\n{line()}\n{line(id='y')}\n".encode(), None, "incomplete"),
        (f"{HEAD}\n{line()[:50]}".encode(), 2, "not JSON"),
        (f"{HEAD}\n\n[]".encode(), 3, "not an item"),
        (f"{HEAD}\n".encode() + b'{"title": "\xff"}', 2, "not JSON"),
        (f'{HEAD}\n{{"id": "a", "id": "b"}}'.encode(), 2, "'id' appears twice"),
        (f'{HEAD}\n{line()[:-1]}, "verifier_score": NaN}}'.encode(), 2, "NaN is not a number"),
        (f'{HEAD}\n{line(verifier_score=...)[:-1]}, "verifier_score": 1e400}}'.encode(), 2, "1e400 is not a number"),
        (f'{HEAD}\n{{"x": {"9" * 5000}}}'.encode(), 2, "not JSON"),
        (HEAD.encode() + b"\n" + b"[" * 100_000, 2, "not JSON"),
        (HEAD.encode() + b"\n" + b" " * 2_000_001, 2, "longer than"),
        (f"{HEAD}\n{line(id=...)}".encode(), 2, "has no id"),
        (f"{HEAD}\n{line(id='')}".encode(), 2, "MemoryItem.id"),
        (f"{HEAD}\n{line(extra=1)}".encode(), 2, "extra"),
        (f"{HEAD}\n{line(title=7)}".encode(), 2, "MemoryItem.title"),
        (f"{HEAD}\n{line(title=' ')}".encode(), 2, "blank"),
        (f"{HEAD}\n{line(content='x' * 5000)}".encode(), 2, "5000 characters"),
        (f"{HEAD}\n{line(outcome='great')}".encode(), 2, "outcome"),
        (f"{HEAD}\n{line(created_at='yesterday')}".encode(), 2, "created_at"),
        (f"{HEAD}\n{line(verifier_score=1.5)}".encode(), 2, "verifier_score"),
        (f"{HEAD.replace('1}', '2}')}\n{line()}\n{line()}".encode(), 3, "line 2 as well"),
        (
            "\n".join([HEAD.replace("1}", "6}"), *(line(id=str(n), experience_id="e") for n in range(6))]).encode(),
            7,
            "more than 5 items",
        ),
    ],
    ids=lambda value: "" if isinstance(value, bytes) else str(value),  # the bytes hold the time: no two workers agree
)
def test_a_bad_file_is_refused_with_its_line_and_nothing_is_imported(content, where, problem, tmp_path):
    path = tmp_path / "bank.jsonl"
    path.write_bytes(content)
    target = bank(indexed_memory())
    with pytest.raises(ImportFileError, match="nothing was imported") as caught:
        target.import_jsonl(path)
    assert (caught.value.path, caught.value.line) == (path, where)
    assert problem in str(caught.value)
    assert target.items() == []


def test_a_line_without_an_end_is_not_read_whole(tmp_path):
    path = tmp_path / "bank.jsonl"
    with path.open("wb") as file:
        file.truncate(60_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(ImportFileError, match="line 1: is longer than"):
            bank(indexed_memory()).import_jsonl(path)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()


def test_one_bad_line_among_many_stops_all(tmp_path):
    path = tmp_path / "bank.jsonl"
    lines = [line(id=str(number), experience_id=str(number)) for number in range(50)]
    lines[37] = line(id="37", outcome="great")
    path.write_text("\n".join([HEAD.replace("1}", "50}"), *lines]))
    target = bank(indexed_memory())
    with pytest.raises(ImportFileError, match="line 39"):
        target.import_jsonl(path)
    assert target.items() == []


def test_an_id_that_means_something_else_here_is_refused(tmp_path):
    path = tmp_path / "bank.jsonl"
    bank(first := indexed_memory()).add([lesson("a"), lesson("z", experience="a")])
    bank(first).export_jsonl(path)
    target = bank(indexed_memory())
    target.add([lesson("z", content="something else")])
    with pytest.raises(
        ImportFileError, match=r"bank\.jsonl, line 3: the bank has an item with the id 'z' and another text"
    ):
        target.import_jsonl(path)
    assert [item.id for item in target.items()] == ["z"]


@pytest.mark.parametrize("field", ["title", "description", "content", "task", "outcome"])
def test_an_item_that_differs_in_what_it_says_is_another_one(field, tmp_path):
    path, target = tmp_path / "bank.jsonl", bank(indexed_memory())
    path.write_text(f"{HEAD}\n{line(**{field: 'failure'})}")
    target.add([lesson("z")])
    with pytest.raises(
        ImportFileError, match=r"bank\.jsonl, line 2: the bank has an item with the id 'z' and another text"
    ):
        target.import_jsonl(path)
    path.write_text(f"{HEAD}\n{line(tags=['x'], verifier_score=0.5)}")
    assert target.import_jsonl(path) == (0, 1)


def test_an_export_that_fails_leaves_the_old_file_and_no_draft(tmp_path, monkeypatch):
    def full(_):
        raise OSError("disk full")

    path = tmp_path / "bank.jsonl"
    path.write_text("old")
    monkeypatch.setattr("reasoningbank_langgraph.bank.exchange.jsonl.os.fsync", full)
    with pytest.raises(OSError, match="disk full"):
        filled(indexed_memory()).export_jsonl(path)
    assert [(found.name, found.read_text()) for found in tmp_path.iterdir()] == [("bank.jsonl", "old")]


def test_a_long_import_is_written_in_batches_of_whole_experiences(tmp_path, monkeypatch):
    class Noting(InMemoryStore):
        def batch(self, ops):
            batches.append([op.key[0] for op in ops if isinstance(op, PutOp) and "~" not in op.namespace[-1]])
            return super().batch(ops)

    source, target, batches = bank(indexed_memory()), bank(Noting()), []
    for name, number in (("a", 2), ("b", 1), ("c", 2), ("d", 3), ("e", 5)):
        source.add([lesson(f"{name}{place}", experience=name) for place in range(number)])
    source.export_jsonl(tmp_path / "bank.jsonl")
    monkeypatch.setattr("reasoningbank_langgraph.bank.exchange.importing.BATCH", 3)
    assert target.import_jsonl(tmp_path / "bank.jsonl") == (13, 0)
    assert [batch for batch in batches if batch] == [[*"aab"], [*"cc"], [*"ddd"], [*"eeeee"]]


def odd_paths(folder):
    os.mkfifo(folder / "pipe")
    (folder / "folder").mkdir()
    (folder / "link").symlink_to("pipe")
    return [folder / "pipe", folder / "folder", folder / "link", Path("/dev/zero"), Path("/dev/null")]


def test_what_is_no_file_is_named_at_once(tmp_path):
    for path in (tmp_path / "nothing.jsonl", *odd_paths(tmp_path)):
        with pytest.raises(ImportFileError, match=f"{path}: cannot be read"):
            bank(indexed_memory()).import_jsonl(path)


def test_an_export_replaces_files_only(tmp_path):
    for path in odd_paths(tmp_path):
        kind = path.lstat().st_mode
        with pytest.raises(NotAFileError, match="name a file"):
            filled(indexed_memory()).export_jsonl(path)
        assert path.lstat().st_mode == kind
    assert sorted(found.name for found in tmp_path.iterdir()) == ["folder", "link", "pipe"]


def test_the_ends_of_time_are_taken_over(tmp_path):
    path, target = tmp_path / "bank.jsonl", bank(indexed_memory())
    path.write_text(f"{HEAD}\n{line(valid_until='9999-12-31T23:59:59Z', created_at='0001-01-01T00:00:00Z')}")
    assert target.import_jsonl(path) == (1, 0)
    assert [memory.item.id for memory in target.search("some other task")] == ["z"]


def test_secrets_stay_out_of_the_bank_whoever_adds_them(tmp_path):
    secret = "write to ann@example.org with AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENG"
    path, target = tmp_path / "bank.jsonl", bank(indexed_memory())
    path.write_text(f"{HEAD}\n{line(title=secret, description=secret, content=secret, task=secret, tags=[secret])}")
    target.import_jsonl(path)
    assert target.import_jsonl(path) == (0, 1)
    target.add([lesson("y", task=secret, content=secret, title="a@b.org " * 25)])
    assert target.add([lesson("y", task=secret, content=secret, title="a@b.org " * 25)]).added == 0
    held = json.dumps([row.value for row in target.store.search(("m",))])
    assert len(target.items()) == 2
    assert "example.org" not in held
    assert "wJalr" not in held
    assert target.search(secret) == []


def test_a_store_that_fails_in_the_middle_is_left_as_it_was(tmp_path, monkeypatch):
    source = bank(indexed_memory())
    for number in range(7):
        source.add([lesson(f"{number}")])
    source.export_jsonl(tmp_path / "bank.jsonl")
    monkeypatch.setattr("reasoningbank_langgraph.bank.exchange.importing.BATCH", 2)
    target = bank(Switched())
    target.add([lesson("mine")])
    failures = iter([None, None, StoreError("disk full")])
    target.store.writes = lambda: next(failures, None)
    with pytest.raises(StoreError, match="disk full"):
        target.import_jsonl(tmp_path / "bank.jsonl")
    assert [item.id for item in target.items()] == ["mine"]
    assert target.import_jsonl(tmp_path / "bank.jsonl") == (7, 0)


def test_an_attempt_that_is_here_under_other_ids_is_skipped(tmp_path):
    from tests.loop.test_exactly_once import item

    source, target = bank(indexed_memory()), bank(indexed_memory())
    source.add([item(0, "e1"), item(1, "e1")])
    target.add([item(0, "e2"), item(1, "e2")])
    source.export_jsonl(tmp_path / "bank.jsonl")
    assert target.import_jsonl(tmp_path / "bank.jsonl") == (0, 2)


def test_attempts_that_the_bank_does_not_know_are_taken_over_with_what_tells_them_from_others(tmp_path):
    from tests.loop.test_exactly_once import item

    source, target = bank(indexed_memory()), bank(indexed_memory())
    source.add([item(0, "e1"), item(1, "e1")])
    source.export_jsonl(tmp_path / "bank.jsonl")
    assert target.import_jsonl(tmp_path / "bank.jsonl") == (2, 0)
    assert target.import_jsonl(tmp_path / "bank.jsonl") == (0, 2)
    assert target.add([item(0, "e2"), item(1, "e2")]).added == 0
    assert [one.id for one in target.items()] == [one.id for one in source.items()]

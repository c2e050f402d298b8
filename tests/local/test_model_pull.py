"""Fetching model files: whole, resumed, broken and refused, against a server on loopback."""

import importlib.util
import resource
import signal
import sys
import threading
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph.cli.model import model_app
from reasoningbank_langgraph.errors import (
    DownloadChecksumError,
    DownloadDiskError,
    DownloadInterruptedError,
    DownloadRefusedError,
    ModelDownloadError,
    UnknownModelFileError,
)
from reasoningbank_langgraph.local import model_files
from reasoningbank_langgraph.local.model_files import MODEL_FILES, PACKAGED, model_file, pull
from tests.local.hub import CONTENT, ENTRY, Hub


@pytest.fixture
def hub():
    with Hub() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def impatient(monkeypatch):
    """A network that is broken for good is given up after seconds; here at once. Blocks are of 10 MB; here they fit."""
    monkeypatch.setattr("huggingface_hub.file_download.time", SimpleNamespace(sleep=lambda seconds: None))
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 10_000)


def fetch(hub, directory, entry=ENTRY):
    return pull(entry, base_url=hub.address, directory=directory)


def ranges(hub):
    return [headers.get("Range") for headers in hub.requests]


@pytest.mark.network
@pytest.mark.parametrize("trouble", [{}, {"redirect": True}, {"pause": 0.05}], ids=["plain", "redirected", "slow"])
def test_a_pulled_file_is_whole_and_leaves_no_part(hub, tmp_path, trouble):
    vars(hub).update(trouble)
    path = fetch(hub, tmp_path / "new" / "folder")
    assert path.read_bytes() == CONTENT
    assert [file.name for file in path.parent.iterdir()] == ["Tiny-1-Q8_0.gguf"]


@pytest.mark.network
def test_a_terminal_is_shown_the_progress(hub, tmp_path, monkeypatch):
    terminal = StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    fetch(hub, tmp_path)
    assert "Tiny-1-Q8_0.gguf: 100%" in terminal.getvalue()


@pytest.mark.network
def test_a_server_learns_nothing_of_the_user(hub, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    fetch(hub, tmp_path)
    (headers,) = hub.requests
    assert headers["User-Agent"] == "reasoningbank-langgraph"
    assert "Authorization" not in headers
    assert "hf_secret" not in str(headers)


@pytest.mark.network
def test_a_file_that_is_there_is_not_fetched_again(hub, tmp_path):
    first = fetch(hub, tmp_path)
    assert fetch(hub, tmp_path) == first
    assert ranges(hub) == [None]


@pytest.mark.network
@pytest.mark.parametrize("knows_ranges", [True, False], ids=["ranges", "no ranges"])
def test_a_broken_pull_is_continued(hub, tmp_path, impatient, capsys, knows_ranges):
    hub.cut_at, hub.ranges = 100_000, knows_ranges
    with pytest.raises(DownloadInterruptedError, match=r"broke.*run the same command again to resume"):
        fetch(hub, tmp_path)
    assert "Trying to resume" not in capsys.readouterr().err
    assert not ENTRY.path(tmp_path).exists()
    hub.cut_at, before = None, len(hub.requests)
    assert fetch(hub, tmp_path).read_bytes() == CONTENT
    assert ranges(hub)[before:] == ["bytes=100000-"]


@pytest.mark.network
def test_a_short_break_goes_unnoticed(hub, tmp_path, impatient):
    class Once(int):
        """A cut that is mended by the next request."""

        def __sub__(self, start):
            hub.cut_at = None
            return int(self) - start

    hub.cut_at = Once(100_000)
    assert fetch(hub, tmp_path).read_bytes() == CONTENT
    assert ranges(hub) == [None, "bytes=100000-"]


@pytest.mark.network
def test_a_pull_stopped_before_the_last_check_asks_for_nothing_more(hub, tmp_path):
    (tmp_path / "Tiny-1-Q8_0.gguf.part").write_bytes(CONTENT)
    assert fetch(hub, tmp_path).read_bytes() == CONTENT
    assert hub.requests == []


@pytest.mark.network
def test_a_part_longer_than_the_file_is_thrown_away(hub, tmp_path):
    (tmp_path / "Tiny-1-Q8_0.gguf.part").write_bytes(CONTENT + b"more")
    assert fetch(hub, tmp_path).read_bytes() == CONTENT


@pytest.mark.network
def test_wrong_bytes_are_refused_and_deleted(hub, tmp_path):
    hub.content = CONTENT[:-1] + b"!"
    with pytest.raises(DownloadChecksumError, match=f"should be {ENTRY.sha256}"):
        fetch(hub, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.network
def test_a_part_of_another_file_is_found_out(hub, tmp_path):
    (tmp_path / "Tiny-1-Q8_0.gguf.part").write_bytes(b"x" * 1000)
    with pytest.raises(DownloadChecksumError):
        fetch(hub, tmp_path)
    assert fetch(hub, tmp_path).read_bytes() == CONTENT


@pytest.mark.network
def test_a_page_instead_of_the_file_is_refused_and_not_kept(hub, tmp_path):
    hub.content = b"<html>please log in</html>"
    with pytest.raises(DownloadChecksumError, match="its SHA-256 is"):
        fetch(hub, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.network
@pytest.mark.parametrize("status", [401, 404, 500])
def test_a_refusal_names_address_and_status(hub, tmp_path, status):
    hub.status = status
    with pytest.raises(DownloadRefusedError, match=rf"{hub.address}/someone/.*HTTP {status}"):
        fetch(hub, tmp_path)


@pytest.mark.network
def test_a_silent_server_is_given_up(hub, tmp_path, impatient, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DOWNLOAD_TIMEOUT", 0.05)
    hub.cut_at, hub.pause = 65_536, 0.5
    with pytest.raises(DownloadInterruptedError, match="timed out"):
        fetch(hub, tmp_path)


@pytest.mark.network
def test_no_server_is_an_interruption(tmp_path, impatient):
    with pytest.raises(DownloadInterruptedError, match="Connection refused"):
        pull(ENTRY, base_url="http://127.0.0.1:9", directory=tmp_path)


@pytest.mark.parametrize("address", ["file:///etc", "ftp://host", "host/without/scheme"])
def test_only_web_addresses_are_fetched(tmp_path, address):
    with pytest.raises(DownloadRefusedError, match="http"):
        pull(ENTRY, base_url=address, directory=tmp_path)


def test_a_file_that_cannot_fit_is_refused_before_the_first_byte(tmp_path):
    with pytest.raises(DownloadDiskError, match=r"GB free, .* more are needed"):
        pull(replace(ENTRY, size=10**18), base_url="http://127.0.0.1:9", directory=tmp_path)


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(DownloadDiskError, match="taken"):
        pull(ENTRY, directory=tmp_path / "taken")


@contextmanager
def no_file_longer_than(size):
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.network
def test_a_disk_that_refuses_bytes_midway_keeps_what_it_took(hub, tmp_path, impatient):
    with no_file_longer_than(150_000), pytest.raises(DownloadDiskError, match="File too large"):
        fetch(hub, tmp_path)
    assert fetch(hub, tmp_path).read_bytes() == CONTENT
    assert ranges(hub)[1] is not None


def test_every_listed_file_is_pinned():
    for name, entry in MODEL_FILES.items():
        assert entry.name == name
        assert len(entry.sha256) == 64
        if entry.member is None:
            assert len(entry.revision) == 40
            assert entry.url().startswith("https://huggingface.co/Qwen/")
        assert model_file(name) is entry


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(UnknownModelFileError, match=r"'Qwen9'.*Qwen3-0\.6B, Qwen3-1\.7B"):
        model_file("Qwen9")


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setitem(model_files.MODEL_FILES, "Tiny-1", ENTRY)


@pytest.mark.network
def test_the_command_prints_the_path_and_how_to_use_it(hub, tmp_path, tiny):
    result = CliRunner().invoke(model_app, ["pull", "Tiny-1", "--from", hub.address, "--dir", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{ENTRY.path(tmp_path)}\nUse it with: --model {ENTRY.path(tmp_path)}\n"
    assert ENTRY.path(tmp_path).read_bytes() == CONTENT


@pytest.mark.network
def test_the_command_without_a_folder_uses_the_cache(hub, tmp_path, tiny, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    result = CliRunner().invoke(model_app, ["pull", "Tiny-1", "--from", hub.address])
    assert result.exit_code == 0, result.output
    assert "Use it with: --model Tiny-1\n" in result.stdout
    assert (tmp_path / ".cache/reasoningbank/models/Tiny-1-Q8_0.gguf").exists()


@pytest.mark.network
def test_the_command_fails_with_one_line(hub, tmp_path, tiny):
    hub.status = 404
    result = CliRunner().invoke(model_app, ["pull", "Tiny-1", "--from", hub.address, "--dir", str(tmp_path)])
    assert result.exit_code == 1
    assert f"Error: {ENTRY.url(hub.address)}: HTTP 404 Not Found\n" in result.stderr
    assert "Traceback" not in result.output


def test_the_command_refuses_an_unknown_name():
    result = CliRunner().invoke(model_app, ["pull", "Qwen9"])
    assert result.exit_code == 1
    assert "choose one of" in result.stderr


def test_the_list_tells_what_is_on_disk(tmp_path, tiny, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    ENTRY.path(tmp_path).write_bytes(CONTENT)
    MODEL_FILES["Qwen3-0.6B"].path(tmp_path).with_suffix(".gguf.part").write_bytes(b"x")
    lines = CliRunner().invoke(model_app, ["list", "--dir", str(tmp_path)]).stdout.splitlines()
    states = {name: next(line for line in lines if name in line) for name in MODEL_FILES}
    assert "yes" in states["Tiny-1"]
    assert "0%, pull again to resume" in states["Qwen3-0.6B"]
    assert " no " in states["Qwen3-1.7B"]


@pytest.mark.parametrize("found", [True, False])
def test_the_list_knows_the_packaged_model_inside_its_package(tmp_path, monkeypatch, found):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("HOME", str(tmp_path))
    package = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: package)
    if found:
        (tmp_path / MODEL_FILES[PACKAGED].file).touch()
    lines = CliRunner().invoke(model_app, ["list"]).stdout.splitlines()
    assert (" yes " if found else " no ") in next(line for line in lines if PACKAGED in line)


def test_every_download_error_can_be_caught_as_one():
    kinds = (DownloadRefusedError, DownloadInterruptedError, DownloadDiskError, DownloadChecksumError)
    assert all(issubclass(kind, ModelDownloadError) for kind in kinds)

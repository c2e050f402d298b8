"""The command as a process, looked at with a real browser that runs scripts if it finds any."""

import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager

import httpx
import pytest

from reasoningbank_langgraph import ChromaStore, MemoryBank
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.conftest import REPOSITORY
from tests.view.test_hostile_text import BREAKOUTS, WORDS, hostile

pytestmark = [pytest.mark.slow, pytest.mark.network]
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
NAMESPACE = ("m", "ann")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("view") / "bank"
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        bank = MemoryBank(store, NAMESPACE)
        for number, text in enumerate([*WORDS[:30], *BREAKOUTS]):
            bank.add([hostile(number, text)])
        MemoryBank(store, ("m", "bob")).add([hostile(1, "of somebody else")])
    return folder


@contextmanager
def served(folder):
    """Yield the address that the command prints, and end it with Ctrl-C."""
    command = [sys.executable, "-m", "tests.view.served", str(folder), "m/ann"]
    unbuffered = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, cwd=REPOSITORY, env=unbuffered, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0


def test_the_command_prints_an_address_that_opens_one_namespace_on_loopback(folder):
    with served(folder) as address, httpx.Client(follow_redirects=True) as browser:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/enter\?token=[\w-]{43}", address)
        shown = browser.get(address)
        assert shown.status_code == 200
        assert "of 39 lessons" in shown.text
        assert "server" not in shown.headers
        assert "of somebody else" not in browser.get(shown.url.join("/?words=else")).text


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
def test_in_a_browser_hostile_lessons_run_nothing_and_load_nothing(folder, tmp_path):
    with served(folder) as address:
        flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}", "--dump-dom"]
        done = subprocess.run([BROWSER, *flags, address], capture_output=True, text=True, timeout=120, check=True)
    assert "<title>Lessons · m/ann</title>" in done.stdout
    assert done.stdout.count("<li>") == len([*WORDS[:30], *BREAKOUTS])
    assert re.findall(r"<(?:script|img|iframe|svg|meta http)[ >]|\son\w+=(?=[^<]*>)", done.stdout) == []

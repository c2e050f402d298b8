"""The command as a process, on the standard streams and over HTTP on loopback, with a client of LangChain."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import httpx
import pytest
from langchain_mcp_adapters.client import MultiServerMCPClient
from mcp.shared.exceptions import McpError

from reasoningbank_langgraph import ChromaStore, MemoryBank
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.conftest import REPOSITORY
from tests.mcp.clients import ATTEMPT, READS, client_of
from tests.small_bank import NAMESPACE, lesson

pytestmark = [pytest.mark.slow, pytest.mark.network]
PROGRAM = ["-m", "tests.mcp.served", "mcp", "--namespace", "m/ann", "--bank"]
TOKEN = "a-token-that-is-long-enough"


class Talkative(HashEmbeddings):
    """Has the name of the embedder of the process."""

    __module__ = "__main__"


@contextmanager
def opened(folder):
    with ChromaStore.from_path(folder, embeddings=Talkative()) as store:
        yield MemoryBank(store, NAMESPACE)


@pytest.fixture
def folder(tmp_path):
    with opened(tmp_path / "bank") as bank:
        bank.add([lesson()])
        MemoryBank(bank.store, ("m", "bob")).add([lesson(1)])
    return tmp_path / "bank"


def stdio(folder, *words, **environment):
    arguments = [*PROGRAM, str(folder), *words]
    started = {
        "command": sys.executable,
        "args": arguments,
        "cwd": str(REPOSITORY),
        "env": {**os.environ, **environment},
    }
    return MultiServerMCPClient({"bank": {"transport": "stdio", **started}})


async def test_on_the_standard_streams_an_agent_reads_one_namespace_and_nothing_else_is_printed_there(folder):
    async with stdio(folder).session("bank") as session:
        client = await client_of(session)
        assert sorted(client.tools) == READS
        found = await client.found("recall", task="measure a length", k=5, max_items=5)
        assert [one["id"] for one in found["lessons"]] == ["lesson-0"]
        assert (await client.found("list"))["total"] == 1


@pytest.fixture
def http(folder):
    """A server that writes, and its address."""
    command = [sys.executable, *PROGRAM, str(folder), "--write", "--http", "0"]
    here = {**os.environ, "REASONINGBANK_MCP_TOKEN": TOKEN}
    with subprocess.Popen(command, cwd=REPOSITORY, env=here, stdout=subprocess.PIPE, text=True) as process:
        lines = iter(process.stdout.readline, "")
        yield next(line.strip() for line in lines if line.startswith("http://"))
        process.send_signal(signal.SIGINT)


async def test_over_http_several_clients_share_a_bank_and_each_needs_the_token(http, folder):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    client = MultiServerMCPClient({"bank": {"transport": "streamable_http", "url": http, "headers": headers}})
    tools = {tool.name: tool for tool in await client.get_tools()}
    record = tools["reasoningbank_record"]
    answers = await asyncio.gather(*(record.ainvoke(ATTEMPT | {"answer": f"{number}"}) for number in (1, 2, 1)))
    assert len({answer[0]["text"] for answer in answers}) >= 2
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    async with httpx.AsyncClient() as web:
        for wrong in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}):
            refused = await web.post(http, json=asked, headers=wrong)
            assert (refused.status_code, "token" in refused.text) == (401, True)
        for page in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
            refused = await web.post(http, json=asked, headers={**headers, **page})
            assert refused.status_code in (403, 421)


async def test_a_server_killed_while_it_learns_loses_nothing_and_the_next_one_learns_it_once(folder):
    left = {"before write 0": (0, 0), "call 0": (1, 0), "after write 1": (0, 1)}
    for step, (waiting, learned) in left.items():
        async with stdio(folder, "--write", DIES=step).session("bank") as session:
            client = await client_of(session)
            with pytest.raises(McpError, match="closed"):
                await client.call("record", **ATTEMPT | {"answer": step})
        with opened(folder) as bank:
            assert [one.answer for one in bank.pending()].count(step) == waiting
            assert [one.answer for one in bank.episodes()].count(step) == learned
    async with stdio(folder, "--write").session("bank") as session:
        client = await client_of(session)
        for step in left:
            assert len((await client.found("record", **ATTEMPT | {"answer": step}))["lessons"]) == 2
    with opened(folder) as bank:
        assert (len(bank.items()), len(bank.episodes()), bank.pending()) == (1 + 2 * 3, 3, [])
        assert {change.actor for change in bank.log()} == {"program", "mcp"}

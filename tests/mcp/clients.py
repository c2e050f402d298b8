"""A client as agents of LangChain are one: the tools of a server through `langchain-mcp-adapters`."""

from contextlib import asynccontextmanager

from langchain_mcp_adapters.tools import load_mcp_tools
from mcp.shared.memory import create_connected_server_and_client_session

from reasoningbank_langgraph.mcp import create_mcp_server
from tests.loop_fakes import learner

READS = ["reasoningbank_list", "reasoningbank_recall", "reasoningbank_why"]
WRITES = ["reasoningbank_forget", "reasoningbank_record", "reasoningbank_resolve"]
ATTEMPT = {"task": "add two apples", "answer": "2", "steps": "I counted them.", "outcome": "success"}


class Client:
    """Calls tools by the end of their name."""

    def __init__(self, session, tools):
        self.session, self.tools = session, {tool.name: tool for tool in tools}

    async def call(self, name, **given):
        """Return what a tool answers: its message, with the structured result as `artifact`."""
        tool = f"reasoningbank_{name}"
        return await self.tools[tool].ainvoke({"type": "tool_call", "id": "1", "name": tool, "args": given})

    async def found(self, name, **given):
        """Return the structured result of a tool."""
        message = await self.call(name, **given)
        assert message.status == "success", message.text
        return message.artifact["structured_content"]

    async def refused(self, name, **given):
        """Return the error of a tool."""
        message = await self.call(name, **given)
        assert message.status == "error"
        return message.text


async def client_of(session):
    return Client(session, await load_mcp_tools(session))


@asynccontextmanager
async def connected(bank, **settings):
    settings = {"model": learner(titles=("one", "two"))} | settings if settings.get("write") else settings
    server = create_mcp_server(bank, **settings)
    async with create_connected_server_and_client_session(server) as session:
        yield await client_of(session)

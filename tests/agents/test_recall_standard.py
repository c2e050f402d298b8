"""The tool passes LangChain's standard tests of tools."""

from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from reasoningbank_langgraph import create_recall_tool
from tests.agents.agent_fakes import BANK, bank_with


class _Recall:
    @property
    def tool_constructor(self):
        return create_recall_tool(namespace=BANK, store=bank_with())

    @property
    def tool_invoke_params_example(self):
        return {"query": "How long is this table?"}


class TestUnit(_Recall, ToolsUnitTests):
    pass


class TestIntegration(_Recall, ToolsIntegrationTests):
    pass

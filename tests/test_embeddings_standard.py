"""The packaged embedder and the one for tests pass LangChain's standard tests of embedders."""

import pytest
from langchain_tests.integration_tests import EmbeddingsIntegrationTests
from langchain_tests.unit_tests import EmbeddingsUnitTests

from reasoningbank_langgraph import default_embeddings
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.test_embeddings import needs_model


class _Hash:
    embeddings_class = HashEmbeddings


class _Packaged:
    @property
    def embeddings_class(self):
        return type(default_embeddings())

    @pytest.fixture
    def model(self):
        return default_embeddings()


class TestHashUnit(_Hash, EmbeddingsUnitTests):
    pass


class TestHashIntegration(_Hash, EmbeddingsIntegrationTests):
    pass


@needs_model
class TestPackagedUnit(_Packaged, EmbeddingsUnitTests):
    pass


@needs_model
@pytest.mark.slow
class TestPackagedIntegration(_Packaged, EmbeddingsIntegrationTests):
    pass

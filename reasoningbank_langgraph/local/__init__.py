"""TODO-MAP local"""

from reasoningbank_langgraph.local.model import LocalModelServer, packaged_model_path, start_local_model

__all__ = ["LocalModelServer", "packaged_model_path", "start_local_model"]

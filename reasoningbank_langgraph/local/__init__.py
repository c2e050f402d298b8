"""A language model on this machine: model files, and a server on loopback that only this process can use.

- `model`: `start_local_model`, and the running server it returns
- `server_process`: a server program as a child process: it ends with this one, and the end of its log is kept
- `server_program`: the program in that process: llama.cpp's server for one GGUF model, on loopback
- `tuned`: a model that was tuned: the folder of an adapter, whose card names its base
- `adapters`: adapters of one base in a folder: what was decided on each, and which one is in use
- `model_choice`: the model a command works with: the one named, else the best that the environment offers
- `model_files`: the models that can be downloaded, where they lie on disk, and how they get there
- `model_wheel`: a model file out of a Python package
- `gguf`: the metadata of a model file: enough to reject other files and to know what the model needs
"""

from reasoningbank_langgraph.local.adapters import adapter_in_use
from reasoningbank_langgraph.local.model import LocalModelServer, packaged_model_path, start_local_model

__all__ = ["LocalModelServer", "adapter_in_use", "packaged_model_path", "start_local_model"]

"""A language model on this machine: model files, and a server on loopback that only this process can use.

- `model`: a language model on this machine, behind an OpenAI-compatible server that only this process can use
- `server_process`: a server program as a child process: it ends with this one, says where it listens
- `server_program`: the program behind `local.model`: serves one GGUF model on loopback. Run as a file, never imported
- `model_choice`: the model a command works with: the one named, else the best that the environment offers
- `model_files`: models as files: which can be pulled, where they lie on disk, and how they get there
- `model_wheel`: a model file out of a Python package
- `gguf`: the head of a GGUF model file: enough to refuse what is none, and to know what the model needs
"""

from reasoningbank_langgraph.local.model import LocalModelServer, packaged_model_path, start_local_model

__all__ = ["LocalModelServer", "packaged_model_path", "start_local_model"]

"""From a bank to weights: training data from attempts that were right, and adapters of a local model.

- `harvest`: training data from attempts that were checked, with a card that says where each row comes from
- `adapters`: adapters side by side: used only if better than what they replace, and taken out of use again
- `improvement`: does a model get better by what it solved itself? Experiments whose arms are tuned
- `tuning`: `tune`: train a LoRA adapter, stop where the validation loss does, go on after a kill
- `settings`: how an adapter is trained
- `trainer`: the trainer of TRL as `tune` sets it up, and how far it is
- `base`: the model that is tuned, from a GGUF file or a Hugging Face folder
- `rows`: the conversations to learn from and to stop by, each split into prompt and completion
- `adapter_file`: an adapter as a GGUF file, which llama.cpp loads beside its base
- `card`: what an adapter was made from and how well it fits, for programs and for readers
"""

from reasoningbank_langgraph.train.card import Card, Point
from reasoningbank_langgraph.train.settings import TuneSettings
from reasoningbank_langgraph.train.trainer import TuneProgress
from reasoningbank_langgraph.train.tuning import tune

__all__ = ["Card", "Point", "TuneProgress", "TuneSettings", "tune"]

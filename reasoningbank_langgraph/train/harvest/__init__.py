"""Training data from attempts that were checked, with a card that says where each row comes from.

- `making`: from a bank and from runs of experiments to the files of a harvest
- `solutions`: solutions that were graded, from the episodes of a bank and from the rows of experiments
- `examples`: which of them a model may learn from, which are copies, and what each task weighs
- `held_out`: problems of evaluation files, and what would give them away
- `split`: tasks held back for validation, near copies together
- `folder`: the folder of a harvest: files that TRL reads, and the card last, so that it is whole or none
- `card`: what a harvest says of itself, and where each of its rows comes from
- `fed`: which rows of a harvest an attempt fed that is forgotten or tainted since
"""

from reasoningbank_langgraph.train.harvest.card import Harvest, Origin, read_card
from reasoningbank_langgraph.train.harvest.fed import TaintedRow, tainted_rows
from reasoningbank_langgraph.train.harvest.making import harvest
from reasoningbank_langgraph.train.harvest.solutions import CHECKS, Source

__all__ = ["CHECKS", "Harvest", "Origin", "Source", "TaintedRow", "harvest", "read_card", "tainted_rows"]

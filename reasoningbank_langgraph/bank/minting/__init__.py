"""Which new lessons a bank takes, by a policy, and which old ones make room for them.

- `choice`: whether a policy suits a bank, and how similar near copies are by the embedder of its store
- `neighbours`: the lessons of a bank that are like a new one, as far as its branch may see them
- `deciding`: what becomes of the lessons of an attempt, decided once and written down with them
- `evicting`: old lessons that make room in a full bank
"""

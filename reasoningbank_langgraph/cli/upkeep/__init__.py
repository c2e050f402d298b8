"""What is done with the lessons of a bank as a whole, and what is told of them.

- `redistil`: `reasoningbank bank redistil`: lessons made anew from the episodes, and the way back
- `prune`: `reasoningbank bank prune`: lessons taken out of use by rule, and the way back
- `history`: `reasoningbank bank log`, `why` and `graph`: each change, and where a lesson comes from and what it did
- `rekey`: `reasoningbank bank rekey`: another encryption key for a bank, or its first one
- `encryption`: the keys of encrypted banks, which commands read from the environment, never from their own line
- `contradictions`: `reasoningbank bank contradictions`: similar lessons that a model holds for opposite advice
- `migrate`: `reasoningbank import-from`: the lessons of another memory, taken over or only looked at
"""

"""What is done with the lessons of a bank as a whole, and what is told of them.

- `redistil`: `reasoningbank bank redistil`: lessons made anew from the episodes, and the way back
- `prune`: `reasoningbank bank prune`: lessons taken out of use by rule, and the way back
- `stats`: `reasoningbank bank stats`: what a bank holds, and what memory has used for it
- `log`: `reasoningbank bank log`: every change of a bank, and whether the record of them is complete
- `why`: `reasoningbank bank why` and `graph`: where a lesson comes from, what it did since, and what came of it
- `rekey`: `reasoningbank bank rekey`: another encryption key for a bank, or its first one
- `encryption`: the keys of encrypted banks, which commands read from the environment, never from their own line
- `view`: `reasoningbank bank view`: a page to look into a bank, on loopback
- `contradictions`: `reasoningbank bank contradictions`: similar lessons that a model holds for opposite advice
- `migrate`: `reasoningbank import-from`: the lessons of another memory, taken over or only looked at
"""

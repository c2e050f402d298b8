"""From a bank to weights.

- `harvest`: `reasoningbank harvest`: training data from attempts that were checked, and what forgotten ones fed
- `adapter`: `reasoningbank adapter`: adapters side by side, used only if better, and taken out of use again
- `tune`: `reasoningbank tune`: an adapter of a local model, trained on the conversations of a file
"""

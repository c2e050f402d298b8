"""From a bank to weights.

- `harvest`: `reasoningbank harvest`: training data from attempts that were checked, and what forgotten ones fed
- `tune`: `reasoningbank tune`: an adapter of a local model, trained on the conversations of a file
"""

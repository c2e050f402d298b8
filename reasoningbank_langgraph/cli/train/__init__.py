"""From a bank to weights.

- `harvest`: `reasoningbank harvest`: training data from attempts that were checked, and what forgotten ones fed
"""

"""From a bank to weights.

- `harvest`: training data from attempts that were checked, with a card that says where each row comes from
"""

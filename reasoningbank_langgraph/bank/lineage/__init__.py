"""A bank as a graph: what each lesson was born from, where it was shown, what took its place.

- `graph`: lessons and episodes with the relations between them, and their export
- `why`: reading the graph of a bank, and what it says of one lesson
- `contradictions`: lessons for the same situation that give opposite advice, found by a model on request
"""

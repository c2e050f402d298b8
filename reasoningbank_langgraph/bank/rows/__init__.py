"""What a bank knows beside its lessons and episodes, each in a namespace of its own beside theirs.

- `crediting`: what is known of the worth of each lesson: a row for each, with what every group of attempts said of it
- `pending`: the attempts that wait for a verdict or for a model: a row for each, until it is learned from
- `guarding`: what the guard of a bank knows: a row for each model, and one for each task that counted in a test
- `ledger`: every change of a bank: a row in the batch that makes the change, naming the hashes of those before
- `log`: reading the ledger of a bank, and checking that it is complete
"""

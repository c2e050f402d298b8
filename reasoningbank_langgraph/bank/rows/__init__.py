"""What a bank knows beside its lessons and episodes, each in a namespace of its own beside theirs.

- `crediting`: what is known of the worth of each lesson: a row for each, with what every group of attempts said of it
- `guarding`: what the guard of a bank knows: a row for each model, and one for each task that counted in a test
"""

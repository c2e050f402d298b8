"""Work on a whole bank: expired items removed, damage found, vectors made anew.

- `ttl`: expired items removed, once or regularly in the background
- `repair`: a bank checked against itself and against Chroma's index
- `migration`: a bank written anew into a second collection, which then replaces the first
"""

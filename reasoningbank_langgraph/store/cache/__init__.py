"""What a store keeps in memory, so that a search does not ask Chroma, and its copy on disk.

- `collection`: one collection as this process sees it: its rows, its cache, and the lock of the one writer
- `cache`: the namespace prefixes in memory, within a limit in bytes, and snapshots of them for searches
- `namespace`: the items and vectors of one namespace; an item may stay in a file until it is needed
- `matrix`: unit vectors in one growing array, ranked by similarity to a query
- `saved_prefixes`: the prefixes saved beside Chroma's files, and whether they still match the database
- `prefix_file`: one prefix as a file that is mapped into memory instead of being read
"""

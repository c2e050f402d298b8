"""What a store keeps in memory, so that a search does not ask Chroma, and its copy on disk.

- `cache`: items and vectors in memory: what a search reads instead of asking Chroma
- `collection`: what the stores on one collection share within a process: the rows, what is in memory of them
- `namespace`: the items and vectors of one namespace in memory; an item may stay in a file until it is asked for
- `matrix`: unit vectors in one growing array, and their ranking by similarity to a query
- `prefix_file`: a region of memory as a file that is mapped instead of read: vectors as they are
- `saved_prefixes`: regions of memory kept beside Chroma's files
"""

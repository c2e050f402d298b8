"""A bank as a file, out and in.

- `jsonl`: the file a bank is exported to: a header line, then one record a line
- `importing`: adding what a file holds to a bank: all of it or none
"""

"""A bank as a file, out and in.

- `jsonl`: the file a bank is exported to: a header line, then one record a line
- `importing`: adding what a file holds to a bank: all of it or none
- `foreign`: files of other memories as lessons: line by line, with what is left out and why
- `migrating`: taking over what other memories hold: once, and only to look at it on request
- `harvesting`: training data from the attempts of a bank
"""

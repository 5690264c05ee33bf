"""Shared by the tests of `mappings` and `score`."""

LLAMA = ("score", "--workload", "llama-3.1-8b", "--device", "h100", "--devices", "16", "--batch", "64", "--top", "3")

"""Servers whose accelerators share rings with memory nodes, and the nodes with each other where these are shared."""

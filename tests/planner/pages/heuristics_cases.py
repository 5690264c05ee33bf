"""Shared by the tests of `heuristics` and `improve`."""

from tests.costmodel.dataflow.streams.cases import chain

PROGRAM = chain([1, 1, 1], [1, 1, 1], [6, 4, 2])

"""What a search over mappings looked at, counted in the ways in which searches are compared."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from costmodel.parallelism.mappings import Bools, Mappings
from costmodel.pricing.candidates import Candidates
from costmodel.workloads import TransformerTraining, Workload


@dataclass(frozen=True)
class SearchCounts:
    """Numbers of configurations: mappings, each with every order of its ranks that differs."""

    listed: int = 0
    """that divide the workload; orders beyond the first are counted where a mapping fits in memory"""
    fitting: int = 0
    """of these, those that fit in memory and have collectives"""
    as_calculon: int = 0
    """of these that fit, mappings that Calculon's own search would count as valid"""
    priced: int = 0
    """candidates: those that fit, under each plan of their collectives"""

    @classmethod
    def of(cls, num_mappings: int, found: Candidates) -> Self:
        """Of so many mappings and the candidates that were listed for them; rows of one mapping stand together."""
        begins = np.ones(len(found), np.bool_)
        begins[1:] = found.mapping[1:] != found.mapping[:-1]
        is_ordered = begins.copy()
        is_ordered[1:] |= found.order[1:] != found.order[:-1]
        fitting, mappings = int(is_ordered.sum()), found.mapping[begins]
        common = in_calculon(found.workload, found.mappings)[mappings]
        return cls(num_mappings + fitting - len(mappings), fitting, int(common.sum()), len(found))

    def __add__(self, other: "SearchCounts") -> "SearchCounts":
        return SearchCounts(*(mine + theirs for mine, theirs in zip(self._numbers, other._numbers, strict=True)))

    @property
    def _numbers(self) -> tuple[int, ...]:
        return self.listed, self.fitting, self.as_calculon, self.priced


def in_calculon(workload: Workload, m: Mappings) -> Bools:
    """Which mappings Calculon's llm-optimal-execution lists too, shape (M,); it trains dense models alone.

    Equal stages of whole chunks, tensor ranks that divide the hidden size and the tokens of a micro-batch, optimizers
    whole or sharded. Source: calculon-ai/calculon, calculon/llm/llm.py, get_all_tensor_parallelisms to
    get_valid_microbatch_sizes.
    """
    if not isinstance(workload, TransformerTraining) or workload.shape.experts > 1:
        return np.zeros(len(m), np.bool_)
    shape, tensor = workload.shape, m.tensor.astype(np.int64)
    chunks = m.pipeline.astype(np.int64) * m.interleave
    divides = (shape.hidden % tensor == 0) & (shape.layers % chunks == 0)
    divides &= m.micro_batch.astype(np.int64) * workload.sequence % tensor == 0
    return np.asarray(divides & (m.context == 1) & (m.zero <= 1) & (m.schedule == 0))

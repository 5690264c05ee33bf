"""Serving jobs that differ in their users and in the lengths of requests alone, listed and priced as one workload."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Self

import numpy as np
from pydantic import PrivateAttr

from costmodel.parallelism.mappings import Floats, Ints, Mappings
from costmodel.pricing.opgraph import Shapes
from costmodel.workloads.transformer.inference import TransformerInference
from costmodel.workloads.transformer.lengths import Lengths

OWN = ("concurrency", "input_tokens", "output_tokens", "limits")
"""fields in which such jobs differ"""


class JoinedServing(TransformerInference):
    """Each mapping says whose it is (`Mappings.job`); all else that the fields say is that of every job."""

    _jobs: tuple[TransformerInference, ...] = PrivateAttr(default=())

    @classmethod
    def of(cls, jobs: Sequence[TransformerInference]) -> Self:
        """Of jobs with one `joining_key`."""
        found = cls.model_construct(**{name: getattr(jobs[0], name) for name in TransformerInference.model_fields})
        found._jobs = tuple(jobs)
        return found

    def joined_mappings(self, sizes: Sequence[Sequence[int]]) -> Mappings:
        """Those of each job on its own sizes, one job after the other."""
        divisions = {own: self.divisions(*own) for own in dict.fromkeys(map(tuple, sizes))}
        every = [divisions[tuple(own)] for own in sizes]
        job = np.repeat(np.arange(len(every), dtype=np.int32), [len(each) for each in every])
        return self.with_users(replace(Mappings.concatenate(every), job=job))

    @property
    def jobs(self) -> tuple[TransformerInference, ...]:
        """By the numbers that mappings have."""
        return self._jobs

    @cached_property
    def rounds_of_jobs(self) -> Floats:
        """`rounds_per_step` of each job."""
        return np.array([job.rounds_per_step for job in self._jobs])

    @cached_property
    def users_of_jobs(self) -> Ints:
        rows = [job.numbers_of_users for job in self._jobs]
        most = max(map(len, rows))
        return np.array([(*row, *[0] * (most - len(row))) for row in rows])

    def lengths_of(self, shapes: Shapes) -> Lengths:
        of = shapes.columns["job"].astype(np.int64)
        return Lengths(*self._lengths_of_jobs[:, of])

    @cached_property
    def _lengths_of_jobs(self) -> Floats:
        """Shape (3, jobs)."""
        lengths = [(job.input_tokens, job.new_tokens, job.output_tokens) for job in self._jobs]
        return np.array(lengths, np.float64).T


def joining_key(job: TransformerInference) -> str:
    """Jobs with the same one may be joined; "" of a job that may not.

    Kernels are chosen for all requests alike: a prompt of one new token has that of tokens, parts of prompts may be of
    any length.
    """
    if job.chunk is not None or job.new_tokens <= 1:
        return ""
    return job.model_dump_json(exclude=set(OWN))

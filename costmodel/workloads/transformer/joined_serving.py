"""Serving jobs that differ in their users and in the lengths of requests alone, listed and priced as one workload."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Self

import numpy as np
from pydantic import PrivateAttr

from costmodel.parallelism.mappings import Floats, Mappings
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
        every = [job.with_users(divisions[tuple(own)]) for job, own in zip(self._jobs, sizes, strict=True)]
        return Mappings.concatenate([replace(m, job=np.full_like(m.job, j)) for j, m in enumerate(every)])

    def lengths_of(self, shapes: Shapes) -> Lengths:
        of = shapes.columns["job"].astype(np.int64)
        lengths = [(job.input_tokens, job.new_tokens, job.output_tokens) for job in self._jobs]
        return Lengths(*np.array(lengths, np.float64).T[:, of])

    def users_served(self, m: Mappings) -> Floats:
        users = np.empty(len(m))
        for j, job in enumerate(self._jobs):
            rows = np.flatnonzero(m.job == j)
            users[rows] = job.users_served(m.take(rows))
        return users


def joining_key(job: TransformerInference) -> str:
    """Jobs with the same one may be joined; "" of a job that may not.

    Kernels are chosen for all requests alike: a prompt of one new token has that of tokens, parts of prompts may be of
    any length.
    """
    if job.chunk is not None or job.new_tokens <= 1:
        return ""
    return job.model_dump_json(exclude=set(OWN))

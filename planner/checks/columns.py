"""Devices of all jobs of a plan as columns: names are read once, and most rules see at once that no job breaks them."""

from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import FabricBase
from costmodel.parallelism.configuration import Configuration
from planner.checks.names import Tile, admitted, once
from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.plan import Assignment, Plan

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
NOWHERE = -(1 << 40)
"""added to numbers of names that the cluster does not have"""
MOST = 1 << 40
"""more than there are devices: numbers of a plan may be larger than any array holds"""


class DeviceColumns(NamedTuple):
    """N devices of J admitted jobs, those of one job by rank after those of the other."""

    start: Ints
    """(J + 1,): where the devices of each job begin"""
    job: Ints
    """(N,): whose each device is"""
    device: Ints
    """(N,): server x devices of a server + slot; -1 for a name that the cluster does not have"""
    server: Ints
    """(N,): its server, -1 where there is none"""
    kind: Ints
    """(J,): number of the configuration of each job"""
    configurations: tuple[Configuration, ...]
    """by number, each object once"""

    @property
    def num_devices(self) -> Ints:
        """Devices of each job, shape (J,)."""
        return np.diff(self.start)

    @property
    def ranks(self) -> Ints:
        """Ranks of the configuration of each job, shape (J,)."""
        return np.array([min(each.num_devices, MOST) for each in self.configurations], np.int64)[self.kind]

    @property
    def blocks(self) -> Ints:
        """Ranks of a block of each job, shape (J,)."""
        return np.array([min(each.block, MOST) for each in self.configurations], np.int64)[self.kind]

    @property
    def place_in_block(self) -> Ints:
        """How far each rank is from the first one of its block, shape (N,)."""
        return np.asarray((np.arange(len(self.job)) - self.first_of_job) % self.blocks[self.job])

    @property
    def first_of_job(self) -> Ints:
        """Where the job of each device begins, shape (N,)."""
        return self.start[:-1][self.job]

    def jobs_with(self, devices: Bools) -> Bools:
        """Jobs that have some of these devices, shape (J,)."""
        return np.asarray(np.bincount(self.job[devices], minlength=len(self.kind)) > 0)


@once
def columns(instance: Instance, plan: Plan) -> DeviceColumns:
    """DeviceColumns of a plan, in the order of `admitted`."""
    assignments = [assignment for _, assignment in admitted(instance, plan)]
    start = np.cumsum([0, *(len(each.devices) for each in assignments)])
    job = np.repeat(np.arange(len(assignments)), np.diff(start))
    device = numbers(instance.cluster.fabric, chain.from_iterable(each.devices for each in assignments))
    objects = {id(each.configuration): each.configuration for each in assignments}
    number = {key: i for i, key in enumerate(objects)}
    kind = np.array([number[id(each.configuration)] for each in assignments], np.int64)
    server = device // instance.cluster.fabric.devices_per_server
    return DeviceColumns(start, job, device, server, kind, tuple(objects.values()))


class _Numbers(dict[str, int]):
    """Numbers by name, NOWHERE for unknown names."""

    def __missing__(self, name: str) -> int:
        return NOWHERE


def numbers(fabric: FabricBase, names: Iterable[str]) -> Ints:
    """Numbers of devices, -1 for unknown names."""
    servers, slots = _Numbers(fabric.servers_by_name), _Numbers(fabric.slots_by_name)
    per_server = fabric.devices_per_server
    found = [per_server * servers[head] + slots[tail] for head, _, tail in map(str.rpartition, names, repeat("."))]
    return np.asarray(np.maximum(np.array(found, np.int64), -1))


def marked(fabric: FabricBase, tiles: set[Tile]) -> Bools:
    """Which devices are among these tiles, by number, with one place more for devices that are not there."""
    marks = np.zeros(fabric.num_devices + 1, np.bool_)
    marks[[server * fabric.devices_per_server + slot for server, slot in tiles]] = True
    return marks


def chosen(instance: Instance, plan: Plan, jobs: Bools) -> Iterator[tuple[Job, Assignment]]:
    """Some of the admitted jobs, (J,): those that a rule looks at one by one."""
    whole = admitted(instance, plan)
    yield from (whole[j] for j in np.flatnonzero(jobs).tolist())

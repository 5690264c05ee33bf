"""The files of each format, by name."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path

from costmodel.fabrics import Fabric
from planner.integrations.exports import astra_sim, chakra
from planner.integrations.exports.graph import graphml_text
from planner.integrations.exports.groups import GroupRun, group_runs
from planner.integrations.exports.held import Held, held_of
from planner.integrations.exports.msccl_xml import (
    DEFAULT_STEPS,
    MAX_ALGORITHMS,
    MAX_STEPS,
    Algorithm,
    most_steps,
    msccl_xml,
)
from planner.integrations.exports.nccl_tuner import tuner_text
from planner.integrations.exports.sidecar import sidecar_text
from planner.integrations.exports.slices import slices_text
from planner.integrations.slices.hosts import Hosts
from planner.integrations.wiring.cables import CableTable
from planner.integrations.wiring.cross_connects import cross_connects, document
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.plan import Plan

File = tuple[str, str | bytes]
"""(name, content)"""
DEFAULT_MESSAGE_BYTES = 2**20


@dataclass(frozen=True)
class Source:
    """An instance and its plan to export; InputError, naming `where`, for a plan that lacks parts of a format."""

    instance: Instance
    plan: Plan
    where: str
    message_bytes: int = DEFAULT_MESSAGE_BYTES
    """what a traced call reduces or exchanges"""
    wiring: Path | None = None
    """cables of the optical switches; None: as `planner wiring new` would have them"""
    before: Plan | None = None
    """whose circuits are on already"""
    partitions: Path | None = None
    """names of cubes for a scheduler; None: those of the fabric"""
    hosts: tuple[Path, Path] | None = None
    """kubernetes.yaml and the nodes of the cluster, by which jobs inside cubes are partitions; None: these are left
    out"""
    tell: Callable[[str], None] = field(default=lambda text: None, compare=False)
    """told of what a format cannot say and leaves out"""

    @property
    def fabric(self) -> Fabric:
        return self.instance.cluster.fabric

    @cached_property
    def runs(self) -> tuple[GroupRun, ...]:
        """All-reduces and all-to-alls over circuits."""
        return group_runs(self.instance, self.plan, self.where)

    @cached_property
    def held(self) -> tuple[Held, ...]:
        """All circuits."""
        return held_of(self.instance, self.plan, self.where)


def export_files(format_name: str, source: Source) -> Iterator[File]:
    """Files of a format for a plan."""
    yield from FORMATS[format_name](source)


def warnings_of(files: Iterable[File]) -> Iterator[str]:
    """Warnings on parts of files that programs may refuse to read."""
    for name, content in files:
        if name.endswith(".xml") and isinstance(content, str) and (steps := most_steps(content)) > DEFAULT_STEPS:
            yield (
                f"{name}: a threadblock has {steps} steps; the MSCCL executor as it is built by default takes "
                f"{DEFAULT_STEPS}: build it with MSCCL_MAX_NUM_STEPS of at least {steps}"
            )


def _msccl(source: Source) -> Iterator[File]:
    """One algorithm for each dimension of a job; a process loads those of its job, so the limits are a job's."""
    is_empty = True
    for job, runs in groupby(source.runs, key=lambda run: run.job):
        mine = [*_few_steps(runs, source.tell)]
        if len(mine) > MAX_ALGORITHMS:
            raise ValueError(
                f"job {job}: algorithms: MSCCL loads at most {MAX_ALGORITHMS}, got {len(mine)}; "
                "export the most used sizes"
            )
        is_empty = is_empty and not mine
        for run, text in mine:
            yield f"{run.stem}.xml", text
            yield f"{run.stem}.circuits.json", sidecar_text(Held.of_run(run), source.fabric)
    if is_empty:
        raise ValueError(f"every all-to-all takes more steps than the {MAX_STEPS} that MSCCL numbers")


def _few_steps(runs: Iterable[GroupRun], tell: Callable[[str], None]) -> Iterator[tuple[GroupRun, str]]:
    """XML of all-reduces, and of those all-to-alls whose relays a threadblock can number."""
    for run in runs:
        try:
            text = msccl_xml(Algorithm(run.stem, run.schedule))
        except ValueError as error:
            if run.schedule.collective != "all_to_all":
                raise ValueError(f"job {run.job}: {error}") from None
            tell(f"{run.stem} is left out: {error}")
        else:
            yield run, text


def _chakra(source: Source) -> Iterator[File]:
    """Traces of one group of each dimension, a workload that calls it once, and files of ASTRA-sim."""
    for run in source.runs:
        for rank, nodes in enumerate(chakra.trace_nodes(run.schedule, source.message_bytes)):
            yield f"{run.stem}.{rank}.et", chakra.trace_bytes(nodes)
            yield f"{run.stem}.{rank}.json", chakra.trace_text(nodes)
            call = [chakra.collective_node(run.schedule.collective, source.message_bytes)]
            yield f"{run.stem}.workload.{rank}.et", chakra.trace_bytes(call)
        yield f"{run.stem}.network.yml", astra_sim.network_text(run.schedule, run.plan.limits)
        yield f"{run.stem}.system.json", astra_sim.system_text(run.schedule.collective, run.stem)
        yield f"{run.stem}.memory.json", astra_sim.memory_text()
        yield f"{run.stem}.circuits.json", sidecar_text(Held.of_run(run), source.fabric)


def _tuner(source: Source) -> Iterator[File]:
    """NCCL tunes no all-to-alls."""
    reducing = [run for run in source.runs if run.schedule.collective == "all_reduce"]
    if not reducing:
        raise InputError(source.where, "assignments", "no job reduces over circuits; NCCL tunes nothing else")
    for run in reducing:
        yield f"{run.stem}.tuner.csv", tuner_text(run)


def _circuits(source: Source) -> Iterator[File]:
    for held in source.held:
        yield f"{held.stem}.circuits.json", sidecar_text(held, source.fabric)


def _graphml(source: Source) -> Iterator[File]:
    for held in source.held:
        yield f"{held.stem}.graphml", graphml_text(held)


def _cross_connects(source: Source) -> Iterator[File]:
    """One file for all switches."""
    instance, wiring = source.instance, source.wiring
    table = CableTable.of(source.fabric) if wiring is None else CableTable.load(wiring)
    before = {} if source.before is None else cross_connects(instance, source.before, table)
    yield "crossconnects.json", json.dumps(document(before, cross_connects(instance, source.plan, table)), indent=1)


def _slices(source: Source) -> Iterator[File]:
    hosts = None if source.hosts is None else Hosts.load(*source.hosts, source.instance.cluster)
    yield "slices.yaml", slices_text(source.instance, source.plan, source.partitions, hosts)


FORMATS: dict[str, Callable[[Source], Iterator[File]]] = {
    "msccl": _msccl,
    "chakra": _chakra,
    "tuner": _tuner,
    "circuits": _circuits,
    "graphml": _graphml,
    "crossconnects": _cross_connects,
    "slices": _slices,
}

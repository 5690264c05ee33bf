"""The files of each format, by name."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from planner.exports import astra_sim, chakra
from planner.exports.graph import graphml_text
from planner.exports.groups import GroupRun
from planner.exports.msccl_xml import Algorithm, msccl_xmls
from planner.exports.nccl_tuner import tuner_text
from planner.exports.sidecar import sidecar_text

File = tuple[str, str | bytes]
"""(name, content)"""
DEFAULT_MESSAGE_BYTES = 2**20


def export_files(format_name: str, runs: Sequence[GroupRun], message_bytes: int) -> Iterator[File]:
    """Files of a format for the groups of a plan; `message_bytes` is what a traced call reduces."""
    yield from FORMATS[format_name](runs, message_bytes)


def _msccl(runs: Sequence[GroupRun], message_bytes: int) -> Iterator[File]:
    """One algorithm for each dimension of a job; a process loads those of its job, so the limits are a job's."""
    by_job: defaultdict[str, list[GroupRun]] = defaultdict(list)
    for run in runs:
        by_job[run.job].append(run)
    for job, mine in by_job.items():
        try:
            texts = msccl_xmls([Algorithm(run.stem, run.schedule) for run in mine])
        except ValueError as error:
            raise ValueError(f"job {job}: {error}") from None
        for run, text in zip(mine, texts, strict=True):
            yield f"{run.stem}.xml", text
            yield f"{run.stem}.circuits.json", sidecar_text(run)


def _chakra(runs: Sequence[GroupRun], message_bytes: int) -> Iterator[File]:
    """Traces of one group of each dimension, a workload that calls it once, and files of ASTRA-sim."""
    for run in runs:
        for rank, nodes in enumerate(chakra.trace_nodes(run.schedule, message_bytes)):
            yield f"{run.stem}.{rank}.et", chakra.trace_bytes(nodes)
            yield f"{run.stem}.{rank}.json", chakra.trace_text(nodes)
            call = [chakra.collective_node(run.schedule.collective, message_bytes)]
            yield f"{run.stem}.workload.{rank}.et", chakra.trace_bytes(call)
        yield f"{run.stem}.network.yml", astra_sim.network_text(run.schedule, run.plan.limits)
        yield f"{run.stem}.system.json", astra_sim.system_text(run.schedule.collective, run.stem)
        yield f"{run.stem}.memory.json", astra_sim.memory_text()
        yield f"{run.stem}.circuits.json", sidecar_text(run)


def _tuner(runs: Sequence[GroupRun], message_bytes: int) -> Iterator[File]:
    for run in runs:
        yield f"{run.stem}.tuner.csv", tuner_text(run)


def _circuits(runs: Sequence[GroupRun], message_bytes: int) -> Iterator[File]:
    for run in runs:
        yield f"{run.stem}.circuits.json", sidecar_text(run)


def _graphml(runs: Sequence[GroupRun], message_bytes: int) -> Iterator[File]:
    for run in runs:
        yield f"{run.stem}.graphml", graphml_text(run)


FORMATS: dict[str, Callable[[Sequence[GroupRun], int], Iterator[File]]] = {
    "msccl": _msccl,
    "chakra": _chakra,
    "tuner": _tuner,
    "circuits": _circuits,
    "graphml": _graphml,
}

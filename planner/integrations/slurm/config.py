"""slurm.yaml: which node is which server, where files are, and what users may run."""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from costmodel.spec import Duration, Spec
from costmodel.workloads import Workload
from planner.controller.settings import Settings
from planner.integrations.hostlist import hosts_of
from planner.integrations.nodes import server_of_node
from planner.integrations.switch_drivers import COMMAND_TIMEOUT_S
from planner.model import files
from planner.model.cluster import Cluster, load_cluster

_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")


class FileSwitches(Spec):
    """Switch states are recorded in a file, nothing is switched."""

    kind: Literal["file"]


class HookSwitches(Spec):
    """A command of the site sets switches (`planner.integrations.switch_drivers.hook_driver`)."""

    kind: Literal["hook"]
    command: tuple[str, ...] = Field(min_length=1)
    """program, by its absolute path, and its arguments"""
    timeout_s: Annotated[Duration, Field(gt=0)] = COMMAND_TIMEOUT_S
    """after which the command is killed"""

    @field_validator("command")
    @classmethod
    def _absolute(cls, command: tuple[str, ...]) -> tuple[str, ...]:
        if not Path(command[0]).is_absolute():
            raise ValueError(f"'{command[0]}' is no absolute path; hooks run in any folder")
        return command


class OcsSwitches(Spec):
    """Optical switches that tell what is on (`planner.integrations.switch_drivers.ocs`)."""

    kind: Literal["ocs"]
    config: Path
    """switches.yaml, by its absolute path; SlurmUser reads it, and all that it names"""

    @field_validator("config")
    @classmethod
    def _absolute(cls, config: Path) -> Path:
        if not config.is_absolute():
            raise ValueError(f"'{config}' is no absolute path; hooks run in any folder")
        return config


class SlurmConfig(Spec):
    """What an operator says of a Slurm cluster."""

    cluster: Path
    """file with the cluster, or with an instance on it; relative to this file"""
    nodes: dict[str, str] | str
    """server by node, such as {n0: s0}; or a host list such as n[0-7]: s0, s1, ... in this order"""
    partitions: tuple[str, ...] = ()
    """partitions whose GPU jobs are placed; none: all"""
    state: Path
    """folder of the planner on the machine of slurmctld: journal, circuits, reports"""
    bindings: Path
    """folder on a file system that all nodes see: which accelerators a job has on a node"""
    gpu_devices: str | None = None
    """device file of a GPU on all nodes, {} its index, such as /dev/nvidia{}: closed to all but the user of the job
    that has it; None: every job can open every GPU of its nodes"""
    driver: Annotated[FileSwitches | HookSwitches | OcsSwitches, Field(discriminator="kind")]
    """what sets circuits"""
    workloads: dict[str, Workload] = Field(min_length=1)
    """by the name that users give: --comment workload=llama"""
    default_workload: str
    """of jobs that name none"""
    settings: Settings = Settings()
    """quotas and rules of the controller"""
    connect_tries: int = Field(default=8, ge=1, le=1000)
    """starts of a job after which it is ended, where its circuits cannot be put on and nothing says which part is
    broken; in between it waits ever longer, up to a minute"""
    poll_s: Annotated[Duration, Field(gt=0)] = 0.5
    """between two looks at Slurm"""

    @field_validator("nodes")
    @classmethod
    def _hosts(cls, nodes: dict[str, str] | str) -> dict[str, str] | str:
        names = hosts_of(nodes) if isinstance(nodes, str) else [name for key in nodes for name in _one_host(key)]
        for name, count in Counter(names).items():
            if count > 1:
                raise ValueError(f"{name} is named twice; name each node once")
        return nodes

    @field_validator("partitions")
    @classmethod
    def _plain(cls, partitions: tuple[str, ...]) -> tuple[str, ...]:
        for name in partitions:
            if not _WORD.fullmatch(name):
                raise ValueError(f"'{name}' is no name of a partition that can be used; take letters, digits, _ . -")
        return partitions

    @field_validator("state", "bindings")
    @classmethod
    def _absolute(cls, path: Path) -> Path:
        if not path.is_absolute() or not str(path).isprintable():
            raise ValueError(f"'{path}' is no absolute path of printable characters; hooks run in any folder")
        return path

    @field_validator("gpu_devices")
    @classmethod
    def _device(cls, path: str | None) -> str | None:
        if path is not None and not re.fullmatch(r"/[A-Za-z0-9_./-]*\{\}[A-Za-z0-9_./-]*", path):
            raise ValueError(f"'{path}' is no absolute path with {{}} in place of the index, such as /dev/nvidia{{}}")
        return path

    @model_validator(mode="after")
    def _workloads_exist(self) -> Self:
        for name in self.workloads:
            if not _WORD.fullmatch(name):
                raise ValueError(f"workloads: users cannot give the name '{name}'; take letters, digits, _ . -")
        if self.default_workload not in self.workloads:
            known = ", ".join(self.workloads)
            raise ValueError(f"default_workload: there is no workload '{self.default_workload}'; there are {known}")
        if self.state == self.bindings:
            raise ValueError("bindings: is the folder of `state`, which nobody else may read; give one of its own")
        return self


def _one_host(name: str) -> list[str]:
    found = hosts_of(name)
    if len(found) != 1:
        raise ValueError(f"'{name}' names {len(found)} nodes; give each its own server, or one host list for all")
    return found


@dataclass(frozen=True)
class SlurmSite:
    """A configuration with its cluster: as many nodes as servers, each node one server."""

    config: SlurmConfig
    cluster: Cluster
    server_of_node: dict[str, str]

    @property
    def gpus_per_node(self) -> int:
        """The same on all nodes."""
        return self.cluster.fabric.devices_per_server


def load_site(path: str | Path) -> SlurmSite:
    """Read slurm.yaml and the cluster that it names; InputError names file and field."""
    path = Path(path)
    config = files.load(SlurmConfig, path)
    cluster = load_cluster(path.parent / config.cluster)
    return SlurmSite(config, cluster, server_of_node(config.nodes, cluster, str(path)))

"""Cells on a Ray cluster. Every machine of it must have this package as it is here."""

import os
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from planner.model.errors import InputError
from planner.sweep.types import CellT, Do, Finished, SharedT
from planner.sweep.versions import code

MOST_RETRIES = 3
"""of a cell whose worker or machine died"""
CONNECT_S = 5.0
"""that a cluster is given to answer"""
LOOPBACK_ONLY = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""at 0 Ray listens on the loopback interface alone, so that no other machine can give a local cluster work"""


def over_ray(
    do: Do[SharedT, CellT], shared: "SharedT", cells: "Sequence[CellT]", address: str, cores: int
) -> Finished[CellT]:
    """Cells as they finish; those of a worker or a machine that died are run again."""
    with ray_cluster(address) as cluster:
        yield from cluster.finished(cluster.sharing(do, shared), cells, cores)


class LostCellError(InputError):
    """A cell whose worker or machine died too often."""


@dataclass(frozen=True)
class RayCluster:
    """A session of a Ray cluster."""

    ray: Any
    address: str

    @property
    def num_cores(self) -> int:
        """Of all machines."""
        return max(int(self.ray.cluster_resources().get("CPU", 1)), 1)

    def sharing(self, do: Do[SharedT, CellT], shared: "SharedT") -> list[Any]:
        """What is done, and what all cells share, given to the cluster once."""
        return [self.ray.put((do, shared))]

    def finished(
        self, given: list[Any], cells: "Sequence[CellT]", cores: int, left_s: Callable[[], float | None] = lambda: None
    ) -> Finished[CellT]:
        """Cells as they finish, while any time is left; those of a worker or a machine that died are run again."""
        task = self.ray.remote(num_cpus=cores, max_retries=MOST_RETRIES)(_do_there)
        running = {task.remote(given, code(), cell): cell for cell in cells}
        try:
            while running and (ready := self.ray.wait(list(running), timeout=left_s())[0]):
                for finished in ready:
                    yield running.pop(finished), _result(self.ray, finished, self.address)
        finally:
            for late in running:
                self.ray.cancel(late, force=True)


@contextmanager
def ray_cluster(address: str) -> Iterator[RayCluster]:
    """A session of the cluster at an address; InputError where none answers."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address == "local":
        os.environ[LOOPBACK_ONLY] = "0"
    ray = _ray()
    with _connected(ray, address):
        yield RayCluster(ray, address)


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise InputError("--ray", "", 'Ray is not installed; run `pip install "photonplan[ray]"`') from None
    return ray


@contextmanager
def _connected(ray: Any, address: str) -> Iterator[None]:
    """A session of the cluster; one of its own ends with the block."""
    if address not in ("auto", "local"):
        _require_cluster(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error", include_dashboard=False)
    except ConnectionError:
        problem = "no Ray cluster answers; start one with `ray start --head`, or use --ray local"
        raise InputError("--ray", address, problem) from None
    try:
        yield
    finally:
        ray.shutdown()


def _require_cluster(address: str) -> None:
    """InputError where nobody listens, for which Ray itself would wait for minutes."""
    match = re.fullmatch(r"([^\s:]+):(\d{1,5})", address)
    if match is None:
        raise InputError("--ray", address, "is no address of a cluster; give auto, local, or host:port")
    try:
        socket.create_connection((match[1], int(match[2])), CONNECT_S).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        problem = f"nobody answers there ({reason}); `ray start --head` says its address"
        raise InputError("--ray", address, problem) from None


def _result(ray: Any, finished: Any, address: str) -> Any:
    """Result of a cell, or the error that it raised."""
    try:
        return ray.get(finished)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from error
    except ray.exceptions.RayError as error:
        problem = f"a cell failed {1 + MOST_RETRIES} times, which too little memory does: {error}"
        raise LostCellError("--ray", address, problem) from None


_there: dict[str, Any] = {}
"""by reference: what this process does, and what all cells share; the last one alone"""


def _do_there(given: list[Any], wanted: dict[str, str], cell: Any) -> Any:
    ray = _ray()
    if code() != wanted:
        node = ray.util.get_node_ip_address()
        problem = f"machine {node} has {code()}, this one {wanted}; install the same on all"
        raise InputError("--ray", "", problem)
    key = given[0].hex()
    if key not in _there:
        _there.clear()
        _there[key] = ray.get(given[0])
    do, shared = _there[key]
    return do(shared, cell, bool)

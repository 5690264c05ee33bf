"""Shared by the tests of `fast_pool` and `outages`."""

from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import JobClass
from planner.fabrics.placement import Placement
from planner.model.edit import edited
from planner.simulate.placers import PLACERS
from planner.whatif.failures import parse_failure, worsened
from tests.planner.simulate.grounds import cluster, ground, state_of


def with_failed(fabric: str, *names: str) -> FreeState:
    of = cluster(fabric)
    return state_of(edited(of, health=worsened(of.health, [parse_failure(of, name) for name in names])))


def spanning(fabric: str, size: int) -> tuple[JobClass, Placement]:
    """A job over several servers of an empty cluster."""
    kind = ground("g", cluster(fabric), [size]).kinds[0, size]
    placement = PLACERS["first_fit"](state_of(cluster(fabric)), 0).place(kind)
    assert placement is not None
    return kind, placement

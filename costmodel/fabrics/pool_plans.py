"""Plans of two pools of replicas whose groups are of different sizes."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from costmodel.collectives.circuits import Circuits
from costmodel.collectives.ladder import Order
from costmodel.fabrics.group_plans import GroupPlan, PlanKind


@dataclass(frozen=True)
class PoolPlans:
    """Groups of two pools with degrees of their own, along tensor or expert: as a plan it is that of the second pool.

    Both exchange their messages at the same time, over circuits that are on at the same time.
    """

    decode: GroupPlan
    prefill: GroupPlan

    @property
    def kind(self) -> PlanKind:
        return self.decode.kind

    @property
    def name(self) -> str:
        return f"{self.decode.name}, prompts {self.prefill.name}"

    @property
    def ranks(self) -> int:
        return self.decode.ranks

    @property
    def radices(self) -> tuple[int, ...]:
        return self.decode.radices

    @property
    def held(self) -> tuple[int, ...]:
        return self.decode.held

    @property
    def wavelengths(self) -> tuple[int, ...]:
        return self.decode.wavelengths

    @property
    def order(self) -> Order:
        return self.decode.order

    @property
    def latency_s(self) -> float:
        return self.decode.latency_s

    @property
    def seconds_per_byte(self) -> float:
        return self.decode.seconds_per_byte

    @property
    def bytes_per_byte(self) -> float:
        return self.decode.bytes_per_byte

    @property
    def near_share(self) -> float:
        return self.decode.near_share

    @property
    def node_bytes_per_s(self) -> float:
        return self.decode.node_bytes_per_s

    def configurations(self) -> tuple[Circuits, ...]:
        return self.decode.configurations()

    def offsets(self) -> tuple[tuple[int, ...], ...]:
        return self.decode.offsets()


def plans_by_pool(plan: GroupPlan) -> tuple[GroupPlan, ...]:
    """Plans of the groups of prompts and of tokens; the one plan where all groups are alike."""
    return (plan.prefill, plan.decode) if isinstance(plan, PoolPlans) else (plan,)


def paired(prefill: Sequence[GroupPlan], decode: Sequence[GroupPlan]) -> list[GroupPlan]:
    """Plans of two pools whose circuits can be on together: each has one configuration of them, and where both have
    circuits, these are of one kind and width."""
    held = [[plan for plan in plans if len(plan.configurations()) < 2] for plans in (decode, prefill)]
    return [
        PoolPlans(mine, theirs)
        for mine, theirs in product(*held)
        if not (mine.wavelengths and theirs.wavelengths)
        or (mine.kind, mine.wavelengths[0]) == (theirs.kind, theirs.wavelengths[0])
    ]

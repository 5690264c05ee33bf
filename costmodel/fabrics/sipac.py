"""SiPAC(r, l): accelerators with l optical ports, each into a switch of r ports (Wu et al., 2024)."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, pairwise, product
from typing import Literal, Self

from pydantic import Field, model_validator

from costmodel.fabrics.base import SliceShape
from costmodel.fabrics.group_plans import NO_PLAN, GroupPlan, LinkPlan
from costmodel.fabrics.inventory import Parts, PriceClass
from costmodel.fabrics.routed_caches import routed_caches
from costmodel.fabrics.sliced import Owners, Slice, SlicedFabric
from costmodel.parallelism.mappings import Dimension
from costmodel.spec import BytesPerSecond, JoulesPerByte, Latency


class Sipac(SlicedFabric):
    """Servers of accelerators that are numbers of l digits in base r; those that differ in one digit are all joined.

    A part takes all values of some digits and one value of each other. A port serves one digit with 1 / l of the
    bandwidth, shared evenly by its r - 1 peers: which wavelengths go where is fixed.
    """

    device_letter = "a"

    kind: Literal["sipac"] = "sipac"
    radix: int = Field(ge=2, le=4096)
    """r: values of a digit, and ports of a switch"""
    digits: int = Field(ge=1, le=12)
    """ports of an accelerator"""
    bandwidth_bytes_per_s: BytesPerSecond
    """of all ports of an accelerator, one direction"""
    alpha_s: Latency
    """fixed time of a message"""
    energy_j_per_byte: JoulesPerByte
    """of a byte from port to port"""

    @model_validator(mode="after")
    def _is_small(self) -> Self:
        if self.radix**self.digits > 4096:
            raise ValueError(f"digits: {self.radix}^{self.digits} accelerators in a server; give 4096 at most")
        return self

    @property
    def devices_per_server(self) -> int:
        return int(self.radix**self.digits)

    @property
    def rows(self) -> int:
        return int(self.radix ** (self.digits // 2))

    @property
    def num_switches(self) -> int:
        """Switches of `radix` ports in one server."""
        return int(self.digits * self.radix ** (self.digits - 1))

    def _port_prices(self) -> Mapping[PriceClass, int]:
        return {"optical_port": self.num_devices * self.digits}

    def _other_parts(self, devices: Parts) -> Iterator[Parts]:
        """Switches that send each wavelength where it always goes."""
        prices: dict[PriceClass, int] = {"optical_switch": self.num_servers * self.num_switches}
        yield self._parts_of_servers().of_each("wavelength router", ".x", self.num_switches, prices)

    @property
    def sizes(self) -> str:
        return ", ".join(str(self.radix**digits) for digits in range(self.digits + 1))

    def blocks(self, spans: Sequence[int], num_devices: int) -> Sequence[int]:
        """The whole job, or each part, in one server."""
        return sorted(size for size in {spans[2], num_devices} if size <= self.devices_per_server)

    def plans(self, dimension: Dimension, ranks: int, *, one_server: bool, per_server: int = 1) -> Sequence[GroupPlan]:
        if ranks == 1:
            return (NO_PLAN,)
        digits = self._digits_of(ranks)
        if not one_server or digits == 0:
            return ()
        if dimension in ("pipeline", "expert"):
            return (self._chain(digits) if dimension == "pipeline" else self._all_to_all(digits),)
        return self.all_reduces(digits)

    def transfers(
        self, prefill: int, decode: int, *, one_server: bool, each: tuple[int, int] = (1, 1)
    ) -> Sequence[GroupPlan]:
        """Digit by digit, over the wavelengths that lead to the next place: of each port a share of r - 1."""
        digits = self._digits_of(prefill + decode)
        if not one_server or digits == 0 or each != (1, 1):
            return ()
        met = routed_caches(prefill, decode, ((self.radix, "joined"),) * digits)
        rate = self.bandwidth_bytes_per_s / (self.digits * (self.radix - 1))
        ranks, radices = self.radix**digits, (self.radix,) * digits
        latency_s, per_byte = met.hops * self.alpha_s, met.on_link / rate
        return (LinkPlan("routed", ranks, latency_s, per_byte, met.mean_hops, radices=radices),)

    def _digits_of(self, ranks: int) -> int:
        """Digits that so many ranks leave free; 0 where they are no such slice."""
        return next((k for k in range(1, self.digits + 1) if self.radix**k == ranks), 0)

    def all_reduces(self, free_digits: int) -> tuple[LinkPlan, ...]:
        """All-reduces of a slice of r^k accelerators: digits one after the other, and k chunks rotated over them.

        A port serves one digit with 1 / l of the bandwidth B. One after the other, 2 k alpha + 2 l (n - 1) / n S / B;
        rotated, every port of the k digits is busy: 2 k alpha + 2 (l / k) (n - 1) / n S / B.
        """
        if not 0 <= free_digits <= self.digits:
            raise ValueError(f"free_digits: {free_digits} of {self.digits} digits; give 0 to {self.digits}")
        if free_digits == 0:
            return (NO_PLAN,)
        ranks, radices = int(self.radix**free_digits), (self.radix,) * free_digits
        sent = 2 * (ranks - 1) / ranks
        latency_s = 2 * free_digits * self.alpha_s
        static = sent * self.digits / self.bandwidth_bytes_per_s
        one_by_one = LinkPlan("bucket", ranks, latency_s, static, sent, radices=radices)
        if free_digits == 1:
            return (one_by_one,)
        return one_by_one, LinkPlan("rotated", ranks, latency_s, static / free_digits, sent, radices=radices)

    def _chain(self, digits: int) -> LinkPlan:
        """Consecutive stages differ in one digit: one of its r - 1 peers has a share of that port."""
        rate = self.bandwidth_bytes_per_s / (self.digits * (self.radix - 1))
        return LinkPlan("chain", self.radix**digits, self.alpha_s, 1 / rate, 1.0, radices=(self.radix,) * digits)

    def _all_to_all(self, digits: int) -> LinkPlan:
        """Equal shares from each rank to each other one, digit by digit: each port passes (r - 1) / r of S."""
        each = (self.radix - 1) / self.radix
        per_byte = each * self.digits / self.bandwidth_bytes_per_s
        radices = (self.radix,) * digits
        return LinkPlan("routed", self.radix**digits, digits * self.alpha_s, per_byte, digits * each, radices=radices)

    def combines(self, plans: Sequence[GroupPlan]) -> bool:
        tensor, pipeline, data, context, expert = (len(plan.radices) for plan in plans)
        inner = context + expert
        return (data == 0 or inner <= data) and tensor + pipeline + max(data, inner) <= self.digits

    def owners(self, plans: Sequence[GroupPlan]) -> Owners:
        tensor, pipeline, data, context, expert = (len(plan.radices) for plan in plans)
        ends = [0, tensor, tensor + pipeline, tensor + pipeline + context, tensor + pipeline + context + expert]
        ends.append(max(ends[-1], tensor + pipeline + data))
        return Owners(*(tuple(range(first, last)) for first, last in pairwise(ends)))

    def box(self, plans: Sequence[GroupPlan]) -> SliceShape:
        return (self.radix,) * sum(map(len, self.owners(plans)))

    def cut(self, plans: Sequence[GroupPlan]) -> SliceShape:
        return self.box(plans)

    def slices(self, cut: SliceShape) -> Sequence[Slice]:
        return _subcubes(self.radix, self.digits, len(cut))

    def network_j_per_byte(self, one_server: bool) -> float:
        return self.energy_j_per_byte


@lru_cache(maxsize=64)
def _subcubes(radix: int, digits: int, num_free: int) -> tuple[Slice, ...]:
    """Slots that agree in all digits but some free ones, those that leave the lowest digits free first."""
    found = []
    for free in combinations(range(digits), num_free):
        inside = [_number(values, free, radix) for values in product(range(radix), repeat=num_free)]
        fixed = [digit for digit in reversed(range(digits)) if digit not in free]
        for values in product(range(radix), repeat=len(fixed)):
            slots = tuple(_number(values, fixed, radix) + slot for slot in inside)
            found.append(Slice(slots, sum(1 << slot for slot in slots)))
    return tuple(found)


def _number(values: Sequence[int], digits: Sequence[int], radix: int) -> int:
    return sum(value * radix**digit for value, digit in zip(values, digits, strict=True))

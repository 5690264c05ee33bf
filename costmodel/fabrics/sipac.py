"""SiPAC(r, l): accelerators with l optical ports, each into a switch of r ports (Wu et al., 2024).

It is no member of the `Fabric` union: its plans hold on digit subcubes only, which neither the solver nor the check can
ask of a job. It serves the study of slices and comparisons of closed forms.
"""

from pydantic import Field

from costmodel.fabrics.base import NO_PLAN, LinkPlan
from costmodel.spec import BytesPerSecond, Seconds, Spec


class Sipac(Spec):
    """Accelerators are numbers of l digits in base r; those that differ in one digit form a complete graph."""

    radix: int = Field(ge=2)
    digits: int = Field(ge=1)
    """ports of an accelerator"""
    bandwidth_bytes_per_s: BytesPerSecond
    """of all ports of an accelerator, one direction"""
    alpha_s: Seconds

    @property
    def num_devices(self) -> int:
        return int(self.radix**self.digits)

    @property
    def num_switches(self) -> int:
        """Switches of `radix` ports."""
        return int(self.digits * self.radix ** (self.digits - 1))

    def all_reduces(self, free_digits: int) -> tuple[LinkPlan, ...]:
        """All-reduces of a slice of r^k accelerators: digits one after the other, and k chunks rotated over them.

        A port serves one digit with 1 / l of the bandwidth B. One after the other, 2 k alpha + 2 l (n - 1) / n S / B;
        rotated, every port of the k digits is busy: 2 k alpha + 2 (l / k) (n - 1) / n S / B.
        """
        if not 0 <= free_digits <= self.digits:
            raise ValueError(f"free_digits: {free_digits} of {self.digits} digits; give 0 to {self.digits}")
        if free_digits == 0:
            return (NO_PLAN,)
        ranks = int(self.radix**free_digits)
        sent = 2 * (ranks - 1) / ranks
        latency_s = 2 * free_digits * self.alpha_s
        static = sent * self.digits / self.bandwidth_bytes_per_s
        one_by_one = LinkPlan("radix", ranks, latency_s, static, sent)
        if free_digits == 1:
            return (one_by_one,)
        return one_by_one, LinkPlan("radix", ranks, latency_s, static / free_digits, sent)

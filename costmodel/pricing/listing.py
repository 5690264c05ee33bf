"""Candidates of a job with their scores: all that its workload and its user's limits leave."""

from collections.abc import Sequence

from costmodel.fabrics import FabricBase
from costmodel.hardware.device import Device
from costmodel.pricing.candidates import Candidates, enumerate_candidates
from costmodel.pricing.limits import ANYWHERE, Limits, within_limits
from costmodel.pricing.phases import with_phases
from costmodel.pricing.score import Scores, score
from costmodel.workloads import Workload


def listed_and_priced(
    workload: Workload, sizes: Sequence[int], device: Device, fabric: FabricBase, limits: Limits = ANYWHERE
) -> tuple[Candidates, Scores]:
    """Every candidate on each size that fits in memory and meets all limits, those of the workload too."""
    found = enumerate_candidates(
        workload,
        sizes,
        device,
        fabric,
        one_server=limits.one_server,
        per_server=limits.per_server,
        collective=limits.collective,
    )
    if limits.one_setting:
        return within_limits(found, score(found, device, fabric))
    return within_limits(*with_phases(found, device, fabric))

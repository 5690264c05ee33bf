"""Network, system and memory files of ASTRA-sim to run an exported schedule with.

Its analytical network has one bandwidth and no changes of circuits, so the narrowest circuit stands for all, and the
file of circuits says what is on when. Units there: ns, and GB/s of 2^30 bytes each.
"""

import json

from costmodel.collectives.ladder import Collective
from costmodel.collectives.limits import Limits
from costmodel.collectives.schedule import Schedule

KEYS: dict[Collective, str] = {
    "all_reduce": "all-reduce",
    "reduce_scatter": "reduce-scatter",
    "all_gather": "all-gather",
    "all_to_all": "all-to-all",
}
"""broadcast has none"""
BYTES_PER_GB = 2**30
"""by which the analytical network multiplies (`bw_GBps_to_Bpns`)"""


def network_text(schedule: Schedule, limits: Limits) -> str:
    """YAML of a network in which every rank has a link to every other."""
    narrowest = int(schedule.circuits.wavelengths.min(initial=limits.wavelengths))
    bandwidth = narrowest * limits.wavelength_bytes_per_s / BYTES_PER_GB
    return (
        "topology: [ FullyConnected ]\n"
        f"npus_count: [ {schedule.ranks} ]\n"
        f"bandwidth: [ {bandwidth:.9g} ]  # GB/s of 2^30 bytes\n"
        f"latency: [ {limits.alpha_s * 1e9:.6g} ]  # ns\n"
    )


def system_text(collective: Collective, traces: str) -> str:
    """JSON that runs the collective from the traces `traces`.<rank>.et."""
    if collective not in KEYS:
        raise ValueError(f"collective: ASTRA-sim has no custom {collective}; export one of {', '.join(KEYS)}")
    system = {
        "scheduling-policy": "FIFO",
        "endpoint-delay": 0,
        "active-chunks-per-dimension": 1,
        "preferred-dataset-splits": 1,
        f"{KEYS[collective]}-implementation-custom": [traces],
        "collective-optimization": "baseline",
        "local-mem-bw": 3350,
        "boost-mode": 0,
    }
    return json.dumps(system, indent=1) + "\n"


def memory_text() -> str:
    """JSON of a system without memory elsewhere."""
    return json.dumps({"memory-type": "NO_MEMORY_EXPANSION"}) + "\n"

"""Peak memory of a process."""

import resource
import sys
from pathlib import Path


def resident_peak_mb() -> float:
    """Peak resident memory of this process since it began to run its own program."""
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)

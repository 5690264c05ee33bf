"""What would let a serving job meet its limits on waiting: fewer users, more accelerators, or longer limits."""

from collections.abc import Callable, Iterator

from costmodel.fabrics import FabricBase
from costmodel.hardware.device import Device
from costmodel.pricing.limits import Limits
from costmodel.pricing.listing import listed_and_priced
from costmodel.pricing.too_slow import loosened
from costmodel.serving.limits import WAITING, ServingLimits
from costmodel.workloads import TransformerInference


def shorter_waits(
    job: TransformerInference, size: int, device: Device, fabric: FabricBase, limits: Limits
) -> Iterator[str]:
    """Changes of a job that is too slow on `size` devices of which each lists some candidate: the most users
    below the fewest that it asks for, the first of twice, four times, ... as many devices, and the nearest limits."""

    def works(asked: TransformerInference, devices: int) -> bool:
        return len(listed_and_priced(asked, [devices], device, fabric, limits)[0]) > 0

    fewer = _most(job.numbers_of_users[0], lambda users: works(job.model_copy(update={"concurrency": users}), size))
    if fewer:
        yield f"concurrency: {fewer}"
    sizes = [size << n for n in range(1, 20) if size << n <= fabric.most_devices_of_a_job]
    if more := next((each for each in sizes if works(job, each)), None):
        yield f"{more:,} accelerators"
    patient = job.model_copy(update={"limits": None})
    assert job.limits is not None
    for longer in loosened(listed_and_priced(patient, [size], device, fabric, limits)[1], job.limits):
        yield f"limits: {_written(longer)}"


def _most(below: int, works: Callable[[int], bool]) -> int:
    """The most of 1 .. below - 1 that works, where fewer always do if more do; 0 where 1 does not."""
    if below == 1 or not works(1):
        return 0
    least = 1
    while below - least > 1:
        middle = (least + below) // 2
        least, below = (middle, below) if works(middle) else (least, middle)
    return least


def _written(limits: ServingLimits) -> str:
    """{ttft: 720 ms, tpot: 40 ms}"""
    times = limits.model_dump(exclude_none=True)
    return f"{{{', '.join(f'{name}: {WAITING.shown(time_s)}' for name, time_s in times.items())}}}"

"""Time of collectives among the devices of one node, joined by links and a switch such as NVLink and NVSwitch."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from costmodel.hardware.device import Device
from costmodel.pricing.calibration import Calibration, default_numbers, numbers_of
from costmodel.pricing.scaling import by_cycles, by_link, by_stream
from costmodel.spec import BytesPerSecond, Seconds, Spec

Floats = NDArray[np.float64]
Operation = Literal["all_gather", "reduce_scatter", "all_reduce", "alltoall"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)
FAMILY, VARIANT = "nccl", "node"
"""one set of numbers serves all operations of a device"""
WIDENING_BYTES = 8e3
"""buffer from which more threads are used; found on A100 and H100, 0.007 to 0.011 MB"""
SCALINGS = dict.fromkeys(
    ("launch_s", "step_s", "exchange_s", "widening_s", "fill_s", "step_fill_s", "exchange_fill_s"), by_cycles
) | {
    "packet_bytes_per_s": by_link,
    "exchange_packet_bytes_per_s": by_link,
    "link_bytes_per_s": by_link,
    "copy_bytes_per_s": by_stream,
}
"""how numbers fitted on one device carry over to another"""
SHARPNESS = 6.0
"""of the change between protocols; from 3 to 12 the error on A100 and H100 is the same"""
NUM_IN_SWITCH = 8
"""devices from which the switch reduces: measured on H100, where 2 and 4 devices use a ring"""


class CollectiveCurve(Spec):
    """Two protocols, the quicker of which is used: packets of data with flags, and bulk transfers in a pipeline."""

    launch_s: Seconds = 4.56e-6
    """a collective that moves nothing"""
    step_s: Seconds = 0.855e-6
    """one step around the ring: there are n - 1, in an all-reduce 2 (n - 1)"""
    exchange_s: Seconds = 2.11e-6
    """what an all-to-all has in place of the steps, whatever the number of devices"""
    widening_s: Seconds = 0.93e-6
    """use of more threads; grows with the buffer up to 8 kB, then stays"""
    packet_bytes_per_s: BytesPerSecond = Field(default=244e9, gt=0)
    """bytes of the buffer by the packet protocol; an all-reduce passes over it twice"""
    exchange_packet_bytes_per_s: BytesPerSecond = Field(default=29.5e9, gt=0)
    """the same in an all-to-all"""
    fill_s: Seconds = 13.0e-6
    """start of the bulk protocol"""
    step_fill_s: Seconds = 1.11e-6
    """filling its pipeline, for each step around the ring"""
    exchange_fill_s: Seconds = 5.79e-6
    """start of the bulk protocol in an all-to-all"""
    link_bytes_per_s: BytesPerSecond = Field(default=346e9, gt=0)
    """bytes that a device sends by the bulk protocol"""
    copy_bytes_per_s: BytesPerSecond = Field(default=917e9, gt=0)
    """the device's own share of the buffer, copied or reduced in place"""
    in_switch_share: float = Field(default=1.0, gt=0, le=1)
    """bulk time of an all-reduce of 8 devices or more over that of a ring; below 1 where the switch reduces"""


def collective_curve(
    device: Device, calibrations: tuple[Calibration, ...] | None = None
) -> tuple[CollectiveCurve, bool]:
    """The curve of a device, and whether it was fitted on this very device."""
    numbers, is_fitted_here = numbers_of(device, FAMILY, VARIANT, calibrations, SCALINGS)
    return CollectiveCurve.model_validate(
        numbers or default_numbers(CollectiveCurve(), SCALINGS, device)
    ), is_fitted_here


def node_collective_s(
    operation: ArrayLike,
    num_gpus: ArrayLike,
    message_bytes: ArrayLike,
    device: Device,
    curve: CollectiveCurve | None = None,
) -> Floats:
    """Latency, in the shape that operation, num_gpus (>= 1) and message_bytes (>= 0) broadcast to.

    `message_bytes` is the whole buffer: what is gathered, reduced, or sent by one device to all. Each device
    sends (n - 1)/n of it, in an all-reduce twice, and copies 1/n. Alone, or with nothing to move, takes no time.
    Launch and steps come first, then the quicker protocol:
        packets  passes bytes / packet rate
        bulk     fill + share (sent bytes / link rate + own bytes / copy rate)
    Protocols: Z. Hu et al., "Demystifying NCCL", arXiv:2507.04786 (LL, LL128 and Simple; ring and NVLS).
    """
    c = collective_curve(device)[0] if curve is None else curve
    names, n, size = np.broadcast_arrays(
        np.asarray(operation), np.asarray(num_gpus, dtype=np.float64), np.asarray(message_bytes, dtype=np.float64)
    )
    _require(names, n, size)
    is_exchange, is_all_reduce = names == "alltoall", names == "all_reduce"
    passes = np.where(is_all_reduce, 2.0, 1.0)
    steps = passes * (n - 1.0)
    start_s = c.launch_s + np.where(is_exchange, c.exchange_s, c.step_s * steps)
    widening_s = _soft_min(c.widening_s * size / WIDENING_BYTES, np.full(size.shape, c.widening_s), 1.0)
    packet_s = size * np.where(is_exchange, 1.0 / c.exchange_packet_bytes_per_s, passes / c.packet_bytes_per_s)
    fill_s = np.where(is_exchange, c.exchange_fill_s, c.fill_s + c.step_fill_s * steps)
    share = np.where(is_all_reduce & (n >= NUM_IN_SWITCH), c.in_switch_share, 1.0)
    bulk_s = fill_s + share * size * (passes * (1.0 - 1.0 / n) / c.link_bytes_per_s + 1.0 / (n * c.copy_bytes_per_s))
    total_s = start_s + widening_s + _soft_min(packet_s, bulk_s, SHARPNESS)
    return np.where((n > 1) & (size > 0), total_s, 0.0)


def _soft_min(first: Floats, second: Floats, sharpness: float) -> Floats:
    """(first^-p + second^-p)^(-1/p), near the lesser of the two; 0 where either is 0."""
    most = np.maximum(first, second)
    scale = np.where(most > 0, most, 1.0)
    low = np.minimum(first, second)
    lowered: Floats = low / (1.0 + (low / scale) ** sharpness) ** (1.0 / sharpness)
    return lowered


def _require(names: NDArray[np.str_], n: Floats, size: Floats) -> None:
    unknown = sorted(set(names.ravel().tolist()) - set(OPERATIONS))
    if unknown:
        raise ValueError(f"operation: '{unknown[0]}' is unknown; known: {', '.join(OPERATIONS)}")
    if not (n >= 1).all():
        raise ValueError("num_gpus: below 1; give the number of devices that take part")
    if not ((size >= 0) & np.isfinite(size)).all():
        raise ValueError("message_bytes: negative or not finite; give the size of the whole buffer")

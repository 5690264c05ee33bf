"""Matrix products that are priced once each; those of training by the share of the peak that training reaches.

Tables have few distinct products among millions of mappings, so that each is remembered with its time.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain

import numpy as np

from costmodel.hardware.device import Device, Precision
from costmodel.kernels.gemm import GemmCurve, gemm_curve, gemm_s
from costmodel.parallelism.mappings import Floats
from costmodel.pricing.calibration import Calibrations

Sizes = tuple[Floats | float, Floats | float, Floats | float]
"""m, n, k"""
MOST = 1 << 18
"""products remembered of one curve"""


class Products:
    """Times of products of one precision on one device, s."""

    def __init__(self, device: Device, precision: Precision, curve: GemmCurve) -> None:
        self._device, self._precision, self._curve = device, precision, curve
        self._known: dict[tuple[float, ...], float] = {}

    def seconds(self, *sizes: Floats | float) -> Floats:
        """Latency of each product, in the shape that the sizes broadcast to."""
        return self.seconds_of_all([sizes])[0]

    def seconds_of_all(self, products: Sequence[tuple[Floats | float, ...]]) -> list[Floats]:
        """The same of several products: those that are new are found together."""
        shapes = [np.broadcast_shapes(*map(np.shape, sizes)) for sizes in products]
        keys = [_keys(*each) for each in zip(products, shapes, strict=True)]
        try:
            found = self._looked_up(keys)
        except KeyError:
            self._learn(chain.from_iterable(keys))
            found = self._looked_up(keys)
        return [np.array(each).reshape(shape) for each, shape in zip(found, shapes, strict=True)]

    def seconds_beside(self, products: Sequence[Sizes], peaks: Sequence[Floats | float]) -> list[Floats]:
        """The same beside memories of other peaks, of each product's own shape: none is remembered."""
        return products_beside(products, peaks, self._device, self._precision, self._curve)

    def _looked_up(self, keys: list[list[tuple[float, ...]]]) -> list[list[float]]:
        return [list(map(self._known.__getitem__, each)) for each in keys]

    def _learn(self, keys: Iterable[tuple[float, ...]]) -> None:
        if len(self._known) > MOST:
            self._known.clear()
        new = [key for key in dict.fromkeys(keys) if key not in self._known]
        m, n, k = np.array(new).T
        found = gemm_s(m, n, k, self._device, self._precision, self._curve)
        self._known.update(zip(new, found.tolist(), strict=True))


def products_beside(
    products: Sequence[Sizes], peaks: Sequence[Floats | float], device: Device, precision: Precision, curve: GemmCurve
) -> list[Floats]:
    """Times of products beside memories of these peaks, found at once, each in the shape that its sizes and peaks
    broadcast to."""
    each = [np.broadcast_arrays(*sizes, peak) for sizes, peak in zip(products, peaks, strict=True)]
    m, n, k, memory = (np.concatenate([np.ravel(columns[i]) for columns in each]) for i in range(4))
    times = gemm_s(m, n, k, device, precision, curve, memory_bytes_per_s=memory)
    ends = np.cumsum([columns[0].size for columns in each])[:-1]
    return [part.reshape(columns[0].shape) for part, columns in zip(np.split(times, ends), each, strict=True)]


def products_of(device: Device, precision: Precision, share: float, calibrations: Calibrations | None) -> Products:
    """Those of a device whose tiles reach a share of the matrix peak in training.

    The rest of the curve is that of single kernels, fitted on the device or carried over by its peaks; narrow operands
    are made by operators of their own.
    """
    fitted = gemm_curve(device, precision, calibrations)[0].with_fused_quantization()
    return products_on(device, precision, fitted.model_copy(update={"matrix_efficiency": share}))


def products_on(device: Device, precision: Precision, curve: GemmCurve) -> Products:
    """Those of a device whose products follow a curve."""
    return _remembered(_Part(device, precision), tuple(curve.model_dump(by_alias=False).items()))


def _keys(sizes: tuple[Floats | float, ...], shape: tuple[int, ...]) -> list[tuple[float, ...]]:
    columns = [size if np.shape(size) == shape else np.broadcast_to(size, shape) for size in sizes]
    return list(zip(*(np.ravel(column).tolist() for column in columns), strict=True))


class _Part:
    """A device as far as its products depend on it."""

    def __init__(self, device: Device, precision: Precision) -> None:
        self.device, self.precision = device, precision
        peak = device.matrix_flops_per_s(precision)
        self._key = device.num_sm, device.memory_bytes_per_s, device.l2_bytes, peak, precision

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Part) and self._key == other._key


@lru_cache(maxsize=256)
def _remembered(part: _Part, curve: tuple[tuple[str, float], ...]) -> Products:
    return Products(part.device, part.precision, GemmCurve.model_validate(dict(curve)))

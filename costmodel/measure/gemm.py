"""Matrix products C[m, n] = A[m, k] B[k, n]; weights B are stored as [n, k], as linear layers store them."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

from costmodel.measure.table import Case, Cell, Plan

QUICK_M = (1, 8, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
QUICK_NK = (128, 1024, 4096, 8192, 14336)
FULL_M = (
    1, 2, 4, 8, 16, 32, 48, 64, 80, 96, 128, 160, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 8192,
    16384, 32768,
)  # fmt: skip
FULL_NK = (64, 128, 256, 512, 1024, 2048, 3072, 4096, 5120, 8192, 14336, 28672, 65536)
MAX_FLOPS = 6e13
"""larger products are left out: they tell no more, and take long"""


def plan(*, is_quick: bool, has_fp8: bool) -> Plan:
    """bfloat16, and where the device has it fp8."""
    ms, nks = (QUICK_M, QUICK_NK) if is_quick else (FULL_M, FULL_NK)
    types = ("bfloat16", "fp8") if has_fp8 else ("bfloat16",)
    shapes = [shape for shape in product(ms, nks, nks) if 2.0 * shape[0] * shape[1] * shape[2] <= MAX_FLOPS]
    return Plan("gemm", [_case(name, *shape) for name in types for shape in shapes])


def _case(gemm_dtype: str, m: int, n: int, k: int) -> Case:
    prepare = partial(_fp8 if gemm_dtype == "fp8" else bf16, m, n, k)
    row: dict[str, Cell] = {"gemm_dtype": gemm_dtype, "m": m, "n": n, "k": k}
    return Case(row, needed_bytes=4.0 * (m * k + n * k) + 2.0 * m * n, prepare=prepare)


def bf16(m: int, n: int, k: int) -> Callable[[], Any]:
    """Both operands and the result in bfloat16."""
    import torch

    a, weights, c = _normal(m, k), _normal(n, k), torch.empty(m, n, dtype=torch.bfloat16, device="cuda")
    return lambda: torch.mm(a, weights.t(), out=c)


def _fp8(m: int, n: int, k: int) -> Callable[[], Any]:
    """Weights are fp8 already; activations come in bfloat16 and are cast first, which counts."""
    import torch

    a, cast = _normal(m, k), torch.empty(m, k, dtype=torch.float8_e4m3fn, device="cuda")
    product = _scaled(cast, n)

    def run() -> Any:
        cast.copy_(a)
        return product()

    return run


def fp8_cast_before(m: int, n: int, k: int) -> Callable[[], Any]:
    """Both operands are fp8 already; the result is bfloat16."""
    import torch

    return _scaled(_normal(m, k).to(torch.float8_e4m3fn), n)


def _scaled(activations: Any, n: int) -> Callable[[], Any]:
    """Their product with weights of n rows, in fp8 with one scale each."""
    import torch

    weights = _normal(n, activations.shape[1]).to(torch.float8_e4m3fn)
    scale = torch.ones((), dtype=torch.float32, device="cuda")
    return lambda: torch._scaled_mm(activations, weights.t(), scale_a=scale, scale_b=scale, out_dtype=torch.bfloat16)


def _normal(rows: int, columns: int) -> Any:
    import torch

    return torch.empty(rows, columns, dtype=torch.bfloat16, device="cuda").normal_()

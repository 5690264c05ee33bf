"""The package of aiconfigurator holds what its repository does, as Parquet; other attention and types stay out."""

from pathlib import Path

import pandas
import pytest

from costmodel.calibrate.aiconfigurator_tables import kernel_rows
from costmodel.calibrate.public_tables import Row, TableError

DEVICES = ("h100_sxm",)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "aiconfigurator/systems/data/h100_sxm/trtllm/1.3.0rc10"
    found.mkdir(parents=True)
    return found


def _rows(root: Path, table: str) -> list[Row]:
    return list(kernel_rows(root, table, DEVICES, "trtllm", None))


def test_attention_to_a_window_is_left_out(folder: Path, tmp_path: Path) -> None:
    shape = {"attn_dtype": "fp8", "kv_cache_dtype": "fp8", "batch_size": 8, "isl": 1, "step": 7}
    shape |= {"num_heads": 8, "num_key_value_heads": 1, "head_dim": 128}
    windows = [{**shape, "window_size": window, "latency": 0.1 + window} for window in (128, 0)]
    pandas.DataFrame(windows).to_parquet(folder / "generation_attention_perf.parquet")
    assert _rows(tmp_path, "attention_generation") == [{"device": "h100", **shape, "latency_ms": 0.1}]


def test_products_of_types_that_no_curve_prices_are_left_out(folder: Path, tmp_path: Path) -> None:
    products = [{"gemm_dtype": kind, "m": 1, "n": 2, "k": 3, "latency": 0.5} for kind in ("int4_wo", "fp8")]
    pandas.DataFrame(products).to_parquet(folder / "gemm_perf.parquet")
    assert [row["gemm_dtype"] for row in _rows(tmp_path, "gemm")] == ["fp8"]


def test_a_file_that_is_no_parquet_is_named(folder: Path, tmp_path: Path) -> None:
    (folder / "gemm_perf.parquet").write_bytes(b"no table")
    with pytest.raises(TableError, match=r"gemm_perf\.parquet: "):
        _rows(tmp_path, "gemm")

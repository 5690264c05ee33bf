"""Tables for `planner validate` from ai-dynamo/aiconfigurator, its repository or its package of PyPI.

In the repository the measurements lie under `src/aiconfigurator/systems`, most of them as files of Git LFS, in the
package under `aiconfigurator/systems`; releases after 0.10 come without them. Kernels are read from `data/DEVICE/
FRAMEWORK/VERSION/*_perf.txt` or `.parquet`; collectives from `DEVICE/nccl/VERSION/nccl_perf` beside them, whose message
sizes are numbers of elements (collector/collect_nccl.py there); serving from `silicon_sample.csv`, whose batch is that
of each replica of attention and whose precision is left blank where weights have the type they were published in.
"""

import csv
import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from costmodel.calibrate.gemm import PRECISIONS
from costmodel.calibrate.public_tables import Row, TableError
from costmodel.workloads.transformer.shapes import load_model

PLACES = ("src/aiconfigurator/systems", "aiconfigurator/systems", "systems")
"""of the measurements: in a checkout, in an unpacked package, in an installed one"""
SUFFIXES = (".txt", ".parquet")
ATTENTION = (
    "attn_dtype",
    "kv_cache_dtype",
    "batch_size",
    "isl",
    "step",
    "num_heads",
    "num_key_value_heads",
    "head_dim",
)
KERNELS: Mapping[str, tuple[str, Sequence[str]]] = {
    "gemm": ("gemm_perf", ("gemm_dtype", "m", "n", "k")),
    "attention_context": ("context_attention_perf", ATTENTION),
    "attention_generation": ("generation_attention_perf", ATTENTION),
}
"""file, and columns beside the device and the latency"""
SERVING = "silicon_sample.csv"
SERVING_COLUMNS = {
    "backend": "backend", "precision": "precision", "input_tokens": "isl", "output_tokens": "osl",
    "concurrency": "batch_size", "tp_size": "tp_size", "pp_size": "pp_size", "ep_size": "moe_ep_size",
    "ttft_ms": "silicon_ttft_ms", "tpot_ms": "silicon_tpot_ms",
}  # fmt: skip
"""column there, by ours"""
PUBLISHED_PRECISION = "bf16"
"""of the models of the catalog, where a row does not say"""


def kernel_rows(
    checkout: Path, table: str, devices: Sequence[str], framework: str, release: str | None
) -> Iterator[Row]:
    """Rows of one kernel table for some devices; the newest release of a framework that has it, unless given.

    Products of types that no curve prices, such as those of weights alone, and attention to a window are left out.
    """
    name, columns = KERNELS[table]
    for device in devices:
        for row in _lines(_newest(checkout, device, framework, name, release), (*columns, "latency")):
            is_priced = row.get("gemm_dtype", PUBLISHED_PRECISION) in PRECISIONS
            if is_priced and int(row.get("window_size") or 0) == 0:
                yield {
                    "device": _short(device),
                    **{column: row[column] for column in columns},
                    "latency_ms": row["latency"],
                }


def collective_rows(checkout: Path, devices: Sequence[str], release: str | None) -> Iterator[Row]:
    """Collectives of 16-bit numbers in a node, by the newest NCCL unless given; the mean of repeats."""
    columns = ("nccl_dtype", "op_name", "num_gpus", "message_size", "latency")
    for device in devices:
        latencies = defaultdict[tuple[str, int, int], list[float]](list)
        for row in _lines(_newest(checkout, device, "nccl", "nccl_perf", release), columns):
            if row["nccl_dtype"] == "half":
                what = row["op_name"], int(row["num_gpus"]), 2 * int(row["message_size"])
                latencies[what].append(float(row["latency"]))
        for (op_name, num_gpus, message_bytes), measured_ms in latencies.items():
            yield {
                "device": _short(device),
                "op_name": op_name,
                "num_gpus": num_gpus,
                "message_bytes": message_bytes,
                "latency_ms": statistics.mean(measured_ms),
            }


def serving_rows(checkout: Path, devices: Sequence[str]) -> Iterator[Row]:
    """Models of the catalog, prompts and answers on the same accelerators, without replicas of attention."""
    path = _measurements(checkout) / SERVING
    if not path.is_file():
        raise TableError(f"{checkout}: has no {SERVING}")
    for row in _lines(path, (*SERVING_COLUMNS.values(), "mode", "system", "model_path", "attention_dp_size")):
        model, device = _published_as(row["model_path"]), row["system"]
        is_plain = row["mode"] == "agg" and row["attention_dp_size"] in ("", "1")
        if is_plain and device in devices and _is_known(model):
            taken = {name: row[column] for name, column in SERVING_COLUMNS.items()}
            taken["precision"] = taken["precision"] or PUBLISHED_PRECISION
            yield {"model": model, "device": _short(device), **taken}


def _published_as(path: str) -> str:
    """Name of a model without its publisher and the type that its weights were cast to."""
    return path.rpartition("/")[2].removesuffix("-FP8").removesuffix("-NVFP4")


def _is_known(model: str) -> bool:
    """Whether the catalog has it."""
    try:
        return bool(load_model(model))
    except ValueError:
        return False


def _short(device: str) -> str:
    return device.partition("_")[0]


def _measurements(checkout: Path) -> Path:
    for place in PLACES:
        if (checkout / place).is_dir():
            return checkout / place
    raise TableError(
        f"{checkout}: has no {PLACES[0]}; check out ai-dynamo/aiconfigurator, "
        "or unpack its package, `pip download --no-deps aiconfigurator==0.10.0`"
    )


def _newest(checkout: Path, device: str, framework: str, name: str, release: str | None) -> Path:
    """The file of the newest version that has it, or of the one that is asked for."""
    versions = _measurements(checkout) / "data" / device / framework
    found = sorted((path for path in versions.glob(f"*/{name}.*") if path.suffix in SUFFIXES), key=_version)
    if not found:
        raise TableError(f"{checkout}: has no {name} of {device} by {framework}")
    by_release = {path.parent.name: path for path in found}
    if release is not None and release not in by_release:
        raise TableError(f"{checkout}: {framework} of {device} has no release {release}; use {', '.join(by_release)}")
    return found[-1] if release is None else by_release[release]


def _lines(path: Path, columns: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    """Rows of a table that has these columns; TableError for a pointer of Git LFS."""
    with path.open("rb") as start:
        if start.readline().startswith(b"version https://git-lfs"):
            raise TableError(f"{path}: is a pointer of Git LFS; run `git lfs pull` in the checkout")
    names, rows = _parquet(path) if path.suffix == ".parquet" else _csv(path)
    missing = set(columns).difference(names)
    if missing:
        raise TableError(f"{path}: lacks the columns {', '.join(sorted(missing))}")
    return rows


def _csv(path: Path) -> tuple[Iterable[str], Iterator[Mapping[str, Any]]]:
    with path.open(encoding="utf-8", newline="") as lines:
        reader = csv.DictReader(lines)
        return reader.fieldnames or (), iter(list(reader))


def _parquet(path: Path) -> tuple[Iterable[str], Iterator[Mapping[str, Any]]]:
    try:
        from pyarrow.parquet import read_table
    except ImportError:
        raise TableError(f"{path}: needs pyarrow, which is not installed; run `pip install '.[parquet]'`") from None
    try:
        table = read_table(path)
    except ValueError as error:
        raise TableError(f"{path}: {str(error).splitlines()[0]}") from None
    return table.column_names, iter(table.to_pylist())


def _version(path: Path) -> tuple[list[int], bool, int]:
    """For an order of files by the version of their folder: 1.10.0 after 1.2.0, and that after 1.2.0rc5."""
    version, candidate, number = path.parent.name.partition("rc")
    digits = re.match(r"\d+", number)
    return [int(part) for part in re.findall(r"\d+", version)], not candidate, int(digits.group()) if digits else 0

"""Tables for `planner validate` from checkouts of the public repositories.

Logs of mlcommons/training_results_v* (`SUBMITTER/results/SYSTEM/BENCHMARK/result_*.txt`, `SUBMITTER/systems/
SYSTEM.json`) are one row a system and benchmark, the step being the time of the blocks between evaluations over their
steps. Degrees of parallelism stand in no log: recipes are a table of them, which the configuration files of each
submission say, with the columns system and benchmark and any of the columns of the rows.
"""

import csv
import json
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]
MARK = ":::MLLOG "
SKIPPED_BLOCKS = 1
"""of a run: its first block has the warm-up in it"""
MODELS = {"llama31_405b": "llama3.1-405b", "llama31_8b": "llama3-8b", "gpt3": "gpt3-175b"}
"""benchmarks that train a transformer from a checkpoint or from nothing"""


class TableError(Exception):
    """A checkout or a table that cannot be read; the text names the file and the remedy."""


def events(path: Path) -> Iterator[dict[str, Any]]:
    """Events of one log of a run, in their order."""
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        _, found, text = line.partition(MARK)
        if found:
            try:
                event = json.loads(text)
            except ValueError:
                continue
            if isinstance(event, dict):
                yield event


def block_steps(run: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], list[float]]:
    """What a run says of itself by key, and the mean step of each block between evaluations, in seconds."""
    told, steps, begun = dict[str, Any](), list[float](), None
    for event in run:
        key, metadata = event.get("key"), event.get("metadata") or {}
        if key == "block_start":
            begun = event["time_ms"], metadata.get("samples_count", metadata.get("first_epoch_num"))
        elif key == "block_stop" and begun is not None and told.get("global_batch_size"):
            samples = (metadata.get("samples_count") or 0) - (begun[1] or 0)
            if samples > 0:
                steps.append((event["time_ms"] - begun[0]) / 1e3 * told["global_batch_size"] / samples)
            begun = None
        elif event.get("event_type") == "POINT_IN_TIME" and isinstance(event.get("value"), int | float | str):
            told[str(key)] = event["value"]
    return told, steps[SKIPPED_BLOCKS:]


def mlperf_rows(checkout: Path, recipes: Mapping[tuple[str, str], Row]) -> Iterator[Row]:
    """One row for each system and benchmark with a transformer; TableError where the checkout has no results."""
    folders = sorted(checkout.glob("*/results/*/*/"))
    if not folders:
        raise TableError(
            f"{checkout}: has no SUBMITTER/results/SYSTEM/BENCHMARK; check out mlcommons/training_results_v*"
        )
    for folder in folders:
        benchmark, system, submitter = folder.name, folder.parent.name, folder.parents[2].name
        runs = [block_steps(events(path)) for path in sorted(folder.glob("result_*.txt"))]
        runs = [(told, steps) for told, steps in runs if steps]
        if benchmark in MODELS and runs:
            yield {
                "source": f"mlperf-{checkout.name.rpartition('_')[2]}",
                "submitter": submitter,
                "system": system,
                "model": MODELS[benchmark],
                **_of_system(checkout / submitter / "systems" / f"{system}.json"),
                **_of_runs(runs),
                "method": "block without evaluation",
                **recipes.get((system, benchmark), {}),
            }


def _of_runs(runs: Sequence[tuple[dict[str, Any], list[float]]]) -> Row:
    told = runs[0][0]
    medians = [statistics.median(steps) for _, steps in runs]
    every = sorted(step for _, steps in runs for step in steps)
    deciles = statistics.quantiles(every, n=10) if len(every) > 1 else [every[0]] * 9
    return {
        "seq_len": told.get("max_sequence_length", ""),
        "global_batch": told["global_batch_size"],
        "micro_batches": told.get("gradient_accumulation_steps", ""),
        "step_s": round(statistics.median(medians), 4),
        "step_p10_s": round(deciles[0], 4),
        "step_p90_s": round(deciles[-1], 4),
        "run_spread": round(max(medians) / min(medians) - 1, 4),
        "runs": len(runs),
        "steps_used": len(every),
    }


def _of_system(path: Path) -> Row:
    """Accelerators and nodes, as far as the system file says."""
    try:
        said = json.loads(path.read_text(encoding="utf-8-sig"))
        nodes, each = int(said["number_of_nodes"]), int(said["accelerators_per_node"])
    except (OSError, ValueError, KeyError, TypeError):
        return {"device": "", "devices": "", "nodes": "", "devices_per_node": ""}
    name = str(said.get("accelerator_model_name", ""))
    return {"device": name, "devices": nodes * each, "nodes": nodes, "devices_per_node": each}


def read_recipes(path: Path | None) -> dict[tuple[str, str], Row]:
    """Columns of rows by system and benchmark."""
    if path is None:
        return {}
    with path.open(encoding="utf-8-sig", newline="") as lines:
        rows = list(csv.DictReader(lines))
    if rows and not {"system", "benchmark"} <= rows[0].keys():
        raise TableError(f"{path}: has no columns system and benchmark")
    return {
        (row["system"], row["benchmark"]): {k: v for k, v in row.items() if k not in ("system", "benchmark")}
        for row in rows
    }


def write(rows: Sequence[Row], output: Path) -> None:
    """As CSV; columns in the order in which they come up."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with output.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, names, lineterminator="\n", restval="")
        writer.writeheader()
        writer.writerows(rows)

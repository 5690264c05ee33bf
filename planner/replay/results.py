"""Finished cells on disk: one file each, written whole, so that a study that was stopped goes on where it was."""

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from planner import __version__
from planner.errors import InputError
from planner.replay.cell import Cell, Outcome, Study
from planner.replay.trace import Trace


class Results:
    """Cells of one study in a folder that other studies may share."""

    def __init__(self, folder: Path, study: Study) -> None:
        self._folder, self._study = folder, fingerprint(study)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(str(folder), "--results", f"cannot be made: {error.strerror}; name a folder") from None

    def _path(self, cell: Cell) -> Path:
        digest = hashlib.sha256(json.dumps([self._study, *cell]).encode()).hexdigest()
        return self._folder / f"{digest[:32]}.json"

    def load(self, cell: Cell) -> Outcome | None:
        """What is known of a cell, None where it must be replayed."""
        try:
            data = json.loads(self._path(cell).read_text("utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        return Outcome(data["figures"], data["timings"])

    def save(self, cell: Cell, outcome: Outcome) -> None:
        """Write a cell; a reader sees all of it or nothing."""
        path = self._path(cell)
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps({"cell": cell._asdict(), **outcome._asdict()}, indent=1) + "\n", encoding="utf-8")
        os.replace(part, path)


def fingerprint(study: Study) -> str:
    """A digest of all that figures depend on."""
    source = study.demand.source
    known: dict[str, Any] = {
        "version": __version__,
        "source": _digest(source) if isinstance(source, Trace) else source.model_dump(mode="json"),
        "jobs": study.demand.jobs,
        "mix": study.demand.mix.model_dump(mode="json"),
        "clusters": {name: ground.cluster.model_dump(mode="json") for name, ground in study.grounds.items()},
        "rules": asdict(study.rules),
        "failures": study.failures.model_dump(mode="json") if study.failures is not None else None,
        "warm_up": study.warm_up,
        "samples": study.samples,
    }
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()


def _digest(trace: Trace) -> str:
    digest = hashlib.sha256()
    for column in (trace.arrival_s, trace.duration_s, trace.num_gpus, trace.priority):
        digest.update(column.tobytes())
    for names in (trace.tenant, trace.workload):
        digest.update("\n".join(names.tolist()).encode())
    return digest.hexdigest()

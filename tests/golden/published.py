"""Published figures computed anew, and the best mappings of models of the catalog."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from shutil import copy

from tests.golden.texts import INSTANCES, Unit, command

PAPERS = tuple(sorted(path.name for path in (INSTANCES / "published").iterdir() if path.is_dir()))
TABLES = tuple(sorted((INSTANCES / "published").glob("*.csv")))
SCORED = (
    ("llama-3.1-70b", "--devices", 64), ("gpt3-175b", "--devices", 256), ("dlrm-dcnv2", "--devices", 16),
    ("llama-3.1-8b", "--phase", "inference", "--devices", 8),
    ("llama-3.1-70b", "--device", "a100-sxm-80gb", "--devices", 64),
)  # fmt: skip


def units() -> Iterator[Unit]:
    yield Unit("published", "list", lambda: {"text": command("reproduce", "--list")}, True)
    for paper in PAPERS:
        yield Unit("published", paper, partial(_paper, paper), paper == "optical_hbm")
    for table in TABLES:
        yield Unit("published", f"validate {table.stem}", partial(_table, table), True)
    for model, *options in SCORED:
        name = " ".join(map(str, (model, *options)))
        yield Unit("published", f"score {name}", partial(_score, model, options), model == "dlrm-dcnv2")


def _paper(paper: str) -> dict[str, str]:
    return {"json": command("reproduce", paper, "--json")}


def _table(table: Path) -> dict[str, str]:
    copy(table, ".")
    return {"json": command("validate", table.name, "--json")}


def _score(model: str, options: list[object]) -> dict[str, str]:
    given = ("score", "--workload", model, *options)
    return {"text": command(*given), "json": command(*given, "--json")}

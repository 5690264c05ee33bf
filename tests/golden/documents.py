"""What describes the files and commands: schemas, the OpenAPI document, the help of every command."""

from collections.abc import Iterator
from functools import partial

from tests.golden.live import running
from tests.golden.texts import FABRICS, Unit, command, shown, write_site

SCHEMAS = {
    "instance": (), "plan": ("--plan",), "pages": ("--pages",), "page plan": ("--pages", "--plan"),
    "topology": ("topology",), "settings": ("settings",), "slurm": ("slurm",), "kubernetes": ("kubernetes",),
    "prices": ("prices",), "failures": ("failures",),
}  # fmt: skip
COMMANDS = (
    "", "new", "import", "solve", "check", "explain", "marginal", "compare", "pages", "repair", "reconfigure", "diff",
    "replay", "spares", "defrag",
    "trace", "reproduce", "score", "validate", "calibrate", "export", "synthesize", "serve", "tokens", "tokens add",
    "tokens list", "tokens remove", "backup", "restore", "resync", "switch-emulator", "schema", "slurm",
    "slurm install",
    "slurm run", "slurm status", "slurm fail", "slurm repair", "kubernetes", "kubernetes manifests",
    "kubernetes scheduler",
)  # fmt: skip


def units() -> Iterator[Unit]:
    for name, options in SCHEMAS.items():
        yield Unit("documents", f"schema {name}", partial(_one, "schema", *options), True)
    yield Unit("documents", "help", _help, True)
    yield Unit("documents", "openapi", _openapi, True)
    for fabric in FABRICS:
        yield Unit("documents", f"new {fabric}", partial(_new, fabric), True)


def _one(*arguments: str) -> dict[str, str]:
    return {"text": command(*arguments)}


def _help() -> dict[str, str]:
    return {each or "planner": command(*each.split(), "--help") for each in COMMANDS}


def _openapi() -> dict[str, str]:
    write_site("fat_tree")
    with running("site.yaml") as service:
        return {"text": shown(service.ask("/openapi.json"))}


def _new(fabric: str) -> dict[str, str]:
    return {"default": command("new", "--fabric", fabric),
            "jobs": command("new", "--fabric", fabric, "--servers", 3, "--jobs", "instances/jobs.csv")}  # fmt: skip

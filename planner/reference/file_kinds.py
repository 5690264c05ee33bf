"""Kinds of files that the planner reads or writes, and the JSON Schema of each."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from pydantic import BaseModel

FileKind = Literal[
    "instance", "plan", "pages", "page-plan", "topology", "prices", "failures", "settings", "slurm", "kubernetes",
    "switches",
]  # fmt: skip
FILE_KINDS: tuple[FileKind, ...] = get_args(FileKind)
MEANINGS: Mapping[FileKind, str] = {
    "instance": "a cluster and its jobs, for `planner solve` and most other commands",
    "plan": "what `planner solve --plan-out` writes",
    "pages": "a set of memories and the steps whose pages `planner pages` places",
    "page-plan": "what `planner pages` writes",
    "topology": "a network whose collectives `planner synthesize` finds",
    "prices": "what parts and energy cost, for `--prices` of `planner compare` and `planner replay`",
    "failures": "how often parts fail, for `--failures` of `planner replay` and `planner spares`",
    "settings": "the rules of a controller, for `planner serve --settings`",
    "slurm": "how Slurm is met, for `planner slurm --config`",
    "kubernetes": "how Kubernetes is met, for `planner serve --kubernetes`",
    "switches": "how optical switches are reached, for `planner serve --driver ocs:FILE`",
}
_DIALECT = {"$schema": "https://json-schema.org/draft/2020-12/schema"}


def json_schema(kind: FileKind) -> dict[str, Any]:
    """The JSON Schema of a kind of file, keys as they are written."""
    from planner.controller.settings import Settings
    from planner.integrations.kubernetes.config import Kubernetes
    from planner.integrations.slurm.config import SlurmConfig
    from planner.integrations.switch_drivers.ocs.config import OcsConfig
    from planner.model.instance import Instance
    from planner.model.page_instance import PageInstance
    from planner.model.page_plan import PagePlan
    from planner.model.plan import Plan
    from planner.model.topology import Topology
    from planner.prices import Prices
    from planner.whatif.failure_model import FailureModel

    models: Mapping[FileKind, type[BaseModel]] = {
        "instance": Instance,
        "plan": Plan,
        "pages": PageInstance,
        "page-plan": PagePlan,
        "topology": Topology,
        "prices": Prices,
        "failures": FailureModel,
        "settings": Settings,
        "slurm": SlurmConfig,
        "kubernetes": Kubernetes,
        "switches": OcsConfig,
    }
    return _DIALECT | models[kind].model_json_schema(by_alias=True)

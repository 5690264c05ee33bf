"""What commands say about a plan, on each fabric: why, what more would add, repairs, comparisons, exports, pages."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tests.golden.texts import FABRICS, Unit, command, data_of, file, files, write_site

FORMATS = ("msccl", "chakra", "tuner", "circuits", "graphml")
LIMITS = ("--seed", 1, "--threads", 1, "--time-limit", 1)
SHIPPED = {
    "rack64_degraded": "lumorph/rack64_degraded", "ring6": "lumorph/ring6",
    "rails64_degraded": "ocs_rail/rails64_degraded",
    "cubes8_degraded": "torus/cubes8_degraded", "mixed_degraded": "sipam/mixed_degraded", "phases": "sipam/phases",
    "rack48": "joint/rack48", "appliance": "providers/appliance",
}  # fmt: skip
"""of which all circuits are exported, the page is drawn, and a failure of each sort repaired"""


def units() -> Iterator[Unit]:
    for fabric in FABRICS:
        for name, do in ASKED.items():
            yield Unit("answers", f"{fabric} {name}", partial(do, fabric), name in QUICK and (fabric, name) not in SLOW)
    for name, path in SHIPPED.items():
        yield Unit("answers", f"{name} exports, page, repair", partial(_shipped, f"instances/{path}.yaml"))


def _planned(fabric: str) -> dict[str, Any]:
    """A site, a plan `old.json` of a heuristic and the plan `plan.json` of the solver, which is returned."""
    write_site(fabric)
    command("solve", "site.yaml", "--policy", "server_aligned", *LIMITS, "-o", "old.json")
    command("solve", "site.yaml", *LIMITS, "--pages-time-limit", 0.1, "-o", "plan.json")
    plan: dict[str, Any] = json.loads(Path("plan.json").read_text("utf-8"))
    return plan


def _outputs(fabric: str) -> dict[str, str]:
    _planned(fabric)
    said = command("solve", "site.yaml", "--policy", "best_fit", *LIMITS, "--report", "plan.html")
    checked = command("check", "site.yaml", "plan.json")
    found = {"solve": said, "page": data_of(Path("plan.html").read_text("utf-8")), "check": checked}
    return found | _exports("site.yaml")


def _exports(path: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in FORMATS:
        found[f"export {name}"] = command("export", path, "plan.json", "--format", name, "-o", name)
        found |= files(name)
    return found


def _scores(fabric: str) -> dict[str, str]:
    write_site(fabric)
    return {"text": command("score", "site.yaml"), "json": command("score", "site.yaml", "--top", 30, "--json")}


def _reasons(fabric: str) -> dict[str, str]:
    plan = _planned(fabric)
    admitted = {each["job"] for each in plan["assignments"]}
    jobs = ["chat", "summaries", "pretrain", "finetune", "ads", "ranking"]
    asked = [job for job in jobs if job not in admitted][:2] + [job for job in jobs if job in admitted][:1]
    found = {}
    for job in asked:
        for form in ((), ("--json",)):
            name = " ".join((job, *form))
            found[name] = command("explain", "site.yaml", job, "--plan", "plan.json", *LIMITS, *form)
    return found


def _marginal(fabric: str) -> dict[str, str]:
    write_site(fabric)
    return {
        "text": command("marginal", "site.yaml", *LIMITS),
        "json": command("marginal", "site.yaml", *LIMITS, "--json"),
    }


def _repairs(fabric: str) -> dict[str, str]:
    return _repaired("site.yaml", _planned(fabric))


def _repaired(path: str, plan: dict[str, Any]) -> dict[str, str]:
    found = {}
    for part in _parts(plan):
        said = command("repair", path, "plan.json", "--failed", part, *LIMITS, "-o", "repaired.json")
        found[f"repair {part}"] = said + file("repaired.json")
        Path("repaired.json").unlink(missing_ok=True)
    return found


def _parts(plan: dict[str, Any]) -> list[str]:
    """Devices of two jobs, a port of one, a fiber and a memory circuit's name, as far as the plan has any."""
    first, last = (each["devices"][0] for each in (plan["assignments"][0], plan["assignments"][-1]))
    beams = [beam for each in plan["assignments"] for held in each.get("circuits", ()) for beam in held["circuits"]]
    fibers = [fiber for beam in beams for fiber in beam.get("fibers", ())][:1]
    units = [unit for each in plan["assignments"] for rank in each.get("memory", ()) for unit in rank.get("units", ())][
        :1
    ]
    return list(dict.fromkeys([first, last, f"{first}:port", *map(str, fibers), *map(str, units)]))


def _changes(fabric: str) -> dict[str, str]:
    _planned(fabric)
    given = ("reconfigure", "site.yaml", "old.json", "plan.json", *LIMITS)
    return {"text": command(*given), "json": command(*given, "--json", "-o", "next.json"), "plan": file("next.json")}


def _survival(fabric: str) -> dict[str, str]:
    write_site(fabric)
    given = ("solve", "site.yaml", "--survive", 1, *LIMITS, "--pages-time-limit", 0.1, "--json", "-o", "plan.json")
    return {"outcome": command(*given), "plan": file("plan.json")}


def _comparison(fabric: str) -> dict[str, str]:
    write_site(fabric)
    given = ("compare", "site.yaml", "--policies", "cpsat,best_fit,random_fit", "--grid", "cluster.fabric.servers=2,4",
             "--seeds", 2, "--time-limit", 1, "--threads", 1, "--results", "cells", "--no-timings",
             "--prices", "instances/replay/prices.yaml")  # fmt: skip
    return {"text": command(*given), "json": command(*given, "--json", "--csv", "rows.csv"), "rows": file("rows.csv")}


def _shipped(path: str) -> dict[str, str]:
    said = command("solve", path, "--policy", "best_fit", *LIMITS, "--pages-time-limit", 0.1, "-o", "plan.json",
                   "--report", "plan.html")  # fmt: skip
    found = {"solve": said, "page": data_of(Path("plan.html").read_text("utf-8"))} | _exports(path)
    return found | _repaired(path, json.loads(Path("plan.json").read_text("utf-8")))


ASKED = {
    "outputs": _outputs, "scores": _scores, "explain": _reasons, "marginal": _marginal, "repair": _repairs,
    "reconfigure": _changes, "survive": _survival, "compare": _comparison,
}  # fmt: skip
QUICK = {"outputs", "explain", "repair"}
SLOW = {("divided_ports", "explain"), ("sipam", "explain")}

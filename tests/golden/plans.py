"""Shipped instances under every policy, the slowest under few: plan, levels, violations, status; pages under theirs."""

from collections.abc import Iterator
from functools import partial

from tests.golden.texts import FABRICS, INSTANCES, Unit, command, file, write_site

POLICIES = (
    "cpsat",
    "first_fit",
    "best_fit",
    "server_aligned",
    "random_fit",
    "sipam_loop",
    "torus_slices",
    "bcube_slices",
)
FEWER = {
    "joint/nodes64": ("cpsat",),
    "providers/appliance_tier": ("best_fit",),
    "providers/optical_hbm_tier": ("cpsat", "best_fit"),
}
"""policies of instances of which each takes half a minute to three"""
PAGE_POLICIES = ("cpsat", "local", "bw_aware", "proportional", "greedy_keep")
FOLDERS = ("datacenter", "joint", "lumorph", "ocs_rail", "providers", "sipam", "torus")
QUICK = {"lumorph/golden", "torus/sipac64", "ocs_rail/rails64"}
LIMITS = ("--seed", 1, "--threads", 1, "--time-limit", 1, "--pages-time-limit", 0.2)


def units() -> Iterator[Unit]:
    for folder in FOLDERS:
        for path in sorted((INSTANCES / folder).glob("*.yaml")):
            name = f"{folder}/{path.stem}"
            for policy in FEWER.get(name, POLICIES):
                quick = name in QUICK and policy in ("cpsat", "best_fit")
                yield Unit("plans", f"{name} {policy}", partial(_solve, f"instances/{name}.yaml", policy), quick)
    for fabric in FABRICS:
        for policy in POLICIES:
            quick = policy in ("cpsat", "server_aligned")
            yield Unit("plans", f"new {fabric} {policy}", partial(_site, fabric, policy), quick)
    for path in sorted((INSTANCES / "mcdla").glob("*.yaml")):
        for policy in PAGE_POLICIES:
            name = f"mcdla/{path.stem}"
            yield Unit("plans", f"{name} {policy}", partial(_pages, f"instances/{name}.yaml", policy),
                       name == "mcdla/keep")  # fmt: skip


def _solve(path: str, policy: str) -> dict[str, str]:
    said = command("solve", path, "--policy", policy, *LIMITS, "--json", "-o", "plan.json")
    return {"outcome": said, "plan": file("plan.json"), "check": command("check", path, "plan.json", "--json")}


def _site(fabric: str, policy: str) -> dict[str, str]:
    write_site(fabric)
    return _solve("site.yaml", policy)


def _pages(path: str, policy: str) -> dict[str, str]:
    limits = ("--seed", 1, "--threads", 1, "--time-limit", 0.1, "--no-gains")
    said = command("pages", path, "--policy", policy, *limits, "--json", "-o", "plan.json")
    return {"outcome": said, "plan": file("plan.json"), "check": command("check", path, "plan.json", "--json")}

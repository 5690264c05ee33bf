"""Bad input of every kind: one line that names file and field, exit code 2, no traceback."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.model.cluster import load_cluster
from tests.paths import ROOT
from tests.planner.cli.bad_input_cases import assert_refused
from tests.planner.cli.conftest import BERT, Planner, fields, written

INSTANCES = ROOT / "instances"
Change = Callable[[dict[str, Any]], None]


def _set(*path: str | int, to: object) -> Change:
    def change(content: Any) -> None:
        for step in path[:-1]:
            content = content[step]
        content[path[-1]] = to

    return change


def _drop(*path: str | int) -> Change:
    def change(content: Any) -> None:
        for step in path[:-1]:
            content = content[step]
        del content[path[-1]]

    return change


def _stuck_resident(content: dict[str, Any]) -> None:
    content["cluster"]["health"] = {"failed_tiles": ["s0.t0"]}
    content["residents"] = [
        {"name": "stuck", "workload": BERT, "accelerators": 1, "devices": ["s0.t0"], "movable": False,
         "configuration": {"micro_batch": 4}},
    ]  # fmt: skip


FABRIC = ("cluster", "fabric")
FIELDS: dict[str, tuple[Change, str, str]] = {
    "unknown field": (_set("jobz", to=[]), "jobz", "no known field"),
    "misspelled field": (
        lambda c: c["cluster"]["fabric"].update(server=c["cluster"]["fabric"].pop("servers")),
        "cluster.fabric.server",
        "did you mean 'servers'",
    ),
    "unknown field of a job": (_set("jobs", 0, "wieght", to=2), "jobs[big].wieght", "no known field"),
    "wrong unit": (_set(*FABRIC, "alpha", to="0.7 GB"), "cluster.fabric.alpha", "unknown unit 'GB'"),
    "no quantity": (_set(*FABRIC, "energy", to="lots"), "cluster.fabric.energy", "write it like '5 pJ/b'"),
    "negative count": (_set(*FABRIC, "servers", to=-2), "cluster.fabric.servers", "got -2"),
    "negative size": (_set("jobs", 0, "accelerators", to=-8), "jobs[big].accelerators", "got -8"),
    "one bad size": (_set("jobs", 0, "accelerators", to=[1, "x"]), "jobs[big].accelerators[1]", "got 'x'"),
    "reversed range": (
        _set("jobs", 0, "accelerators", to={"min": 3, "max": 1}), "jobs[big].accelerators", "min 3 is above",
    ),
    "job larger than the cluster": (
        _set("jobs", 0, "accelerators", to=64), "jobs[big].accelerators", "needs at least 64",
    ),
    "duplicate names": (_set("jobs", 1, "name", to="big"), "jobs", "'big' is used 2 times"),
    "immovable resident on a failed tile": (_stuck_resident, "residents[stuck].movable", "failed part s0.t0"),
    "missing bandwidth": (
        _drop(*FABRIC, "wavelength_bandwidth"), "cluster.fabric.wavelength_bandwidth", "is missing; give it",
    ),
    "unknown model": (
        _set("jobs", 0, "workload", "model", to="bert"), "jobs[big].workload.model", "mean bert-base or bert-large",
    ),
    "unknown device": (_set("cluster", "device", to="h100-pcie"), "cluster.device", "did you mean h100-sxm"),
    "unknown fabric": (_set(*FABRIC, "kind", to="hypercube"), "cluster.fabric", "lightpath"),
    "unknown tile": (
        _set("cluster", "health", to={"failed_tiles": ["s7.t0"]}), "cluster.health.failed_tiles", "s0 to s1",
    ),
    "precision that the device lacks": (
        lambda c: (
            _set("cluster", "device", to="a100-sxm")(c),
            _set("jobs", 0, "workload", to={
                "kind": "transformer_inference", "model": "llama-3.1-8b", "precision": "fp8",
                "concurrency": 8, "input_tokens": 64, "output_tokens": 64,
            })(c),
        )[0],
        "jobs[big].workload",
        "does not run fp8",
    ),
    "bytes for gigabytes": (
        _set(*FABRIC, "wavelength_bandwidth", to=18.75),
        "cluster.fabric.wavelength_bandwidth",
        "18.75 without a unit is 18.75 B/s, below 1 MB/s, the least that hardware may have; write the unit, such as "
        "'18.75 GB/s'",
    ),
    "joules for picojoules": (
        _set(*FABRIC, "energy", to=5), "cluster.fabric.energy", "above 1 uJ/B, the most that hardware may have",
    ),
    "seconds for microseconds": (
        _set(*FABRIC, "alpha", to=0.7), "cluster.fabric.alpha", "write the unit, such as '0.7 us'",
    ),
    "a wrong prefix": (_set(*FABRIC, "energy", to="5 mJ/b"), "cluster.fabric.energy", "check number and unit"),
    "a device out of this world": (
        _set("cluster", "device", to={
            "name": "mine", "capacity": "80 GiB", "memory_bandwidth": "3.35 TB/s", "flops": {"bf16": 989},
        }),
        "cluster.device.flops.bf16",
        "such as '989 TFLOP/s'",
    ),
    "a truth for a number": (_set("jobs", 0, "weight", to=True), "jobs[big].weight", "must be a number (got true)"),
    "a truth for a size": (
        _set("jobs", 0, "accelerators", to=[True, 2]), "jobs[big].accelerators[0]", "must be a number (got true)",
    ),
    "a quantity of 5,000 digits": (_set(*FABRIC, "alpha", to="9" * 5000 + " us"), "cluster.fabric.alpha", "5003 char"),
    "not a number": (_set("jobs", 0, "weight", to="heavy"), "jobs[big].weight", "got 'heavy'"),
    "wrong version": (_set("schema_version", to=3), "schema_version", "must be 1 or 2"),
    "no jobs": (_set("jobs", to=[]), "jobs", "at least one job"),
    "unknown objective": (_set("objectives", to=["speed"]), "objectives[0]", "'fragmentation'"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", FIELDS)
def test_a_wrong_field_is_named(planner: Planner, tmp_path: Path, case: str) -> None:
    change, field, problem = FIELDS[case]
    content = fields()
    change(content)
    path = written(tmp_path, content)
    assert_refused(planner("solve", path), f"error: {path}: {field}: ", problem)


TEXTS: dict[str, tuple[bytes, str, str]] = {
    "empty": (b"", "", "is empty"),
    "blank": (b" \n\n", "", "is empty"),
    "not UTF-8": (b"name: \xff\xfe", "byte 6: ", "not UTF-8"),
    "YAML syntax": (b"name: x\njobs: [a\ncluster: b\n", "line 3: ", "no valid YAML"),
    "anchor without a name": (b"name: &\tx\n", "line 1: ", "expected alphabetic or numeric character"),
    "tab in YAML": (b"name: x\njobs:\n\t- a\n", "line 3: ", "a tab stands before what it holds; indent by spaces"),
    "duplicate YAML key": (b"name: x\nname: y\n", "line 2: ", "'name' is given twice"),
    "YAML key that is no text": (b"? [a]\n: 1\n", "line 1: ", "no plain text"),
    "JSON syntax": (b'{"name": "x"\n', "line 2: ", "no valid JSON"),
    "duplicate JSON key": (b'{"name": "x", "name": "y"}', "", "'name' is given twice"),
    "deep YAML": (b"[" * 200, "", "levels deep"),
    "deeper YAML": (b"[" * 100_000, "", "nest"),
    "deep JSON": (b'{"a":' * 100_000, "", "no valid JSON"),
    "endless number": (b'{"schema_version": ' + b"1" * 6000 + b"}", "", "a number of 6000 characters"),
    "endless YAML number": (b"a: " + b"1" * 6000, "line 1: ", "a number of 6000 characters"),
    "endless hexadecimal number": (b"a: 0x" + b"1" * 6000, "line 1: ", "a number of 6002 characters"),
    "octal number": (b"servers: 010", "line 1: ", "read as octal by some; write 10"),
    "sixties": (b"weight: 1:30", "line 1: ", "read in sixties"),
    "a topology": (b"ranks: 2\nlinks: []\n", "", "is a topology, not an instance of a cluster; `planner synthesize`"),
    "a list": (b"- a\n", "", "holds a list"),
    "plain text": (b"hello", "", "holds text, not a mapping"),
    "a table": (b"name,model,kind\na,b,c\n", "", "become an instance by `planner new --jobs`"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", TEXTS)
def test_a_wrong_text_is_refused(planner: Planner, tmp_path: Path, case: str) -> None:
    content, place, problem = TEXTS[case]
    path = tmp_path / "wrong.yaml"
    path.write_bytes(content)
    assert_refused(planner("score", path), f"error: {path}: {place}", problem)


def test_yes_is_a_text_unless_a_truth_is_asked_for(planner: Planner, tmp_path: Path) -> None:
    content = fields()
    text = yaml.safe_dump(content).replace("weight: 3", "weight: yes")
    path = tmp_path / "tiny.yaml"
    path.write_text(text)
    assert_refused(planner("score", path), f"error: {path}: jobs[big].weight: ", "must be a number (got 'yes')")
    path.write_text(text.replace("weight: yes", "required: yes\n  tenant: on"))
    assert planner("score", path).code == 0


def test_a_number_without_its_unit_is_told(planner: Planner, tmp_path: Path) -> None:
    content = fields()
    content["cluster"]["fabric"] |= {"alpha": 7e-7, "energy": "4e-11", "reconfiguration": 0}
    path = written(tmp_path, content)
    outcome = planner("score", path)
    assert outcome.code == 0
    assert outcome.err == (
        f"warning: {path}: without a unit, read in SI: cluster.fabric.alpha 700 ns, cluster.fabric.energy 40 pJ/B; "
        "write the unit\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(INSTANCES.glob("*/*.yaml")), ids=lambda path: path.stem)
def test_shipped_clusters_give_every_unit(path: Path) -> None:
    if "cluster:" in path.read_text(encoding="utf-8"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            load_cluster(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "start", "problem"),
    [
        (("solve",), "error: planner solve: ", "Missing argument"),
        (("solve", "{}", "--bogus"), "error: planner solve: ", "--bogus"),
        (("solve", "{}", "--time-limit", "-1"), "error: planner solve: ", "--time-limit"),
        (("solve", "{}", "--time-limit", "nan"), "error: planner solve: ", "--time-limit"),
        (("solve", "{}", "--time-limit", "inf"), "error: planner solve: ", "--time-limit"),
        (("solve", "{}", "--time-limit", "10s"), "error: planner solve: ", "must be a number (got '10s')"),
        (("solve", "{}", "--seed", "-1"), "error: planner solve: ", "must be at least 0 (got '-1')"),
        (("front", "--workload", "magic"), "error: --workload: unknown model 'magic'", "known: "),
        (("solve", "{}", "--policy", "bestfit"), "error: --policy: ", "did you mean best_fit?"),
        (("solve", "{}", "--policy", "magic"), "error: --policy: 'magic': ", "policies are: cpsat"),
        (("compare", "{}", "--policies", "cpsat,magic"), "error: --policies: 'magic': ", "policies are"),
        (("compare", "{}", "--policies", ","), "error: --policies: ", "names no policy"),
        (("score", "{}", "nobody"), "error: {}: JOB: ", "jobs are: big, small"),
        (("explain", "{}", "nobody"), "error: {}: JOB: ", "jobs are: big, small"),
        (("solv",), "error: planner: ", "'solv'"),
        (("score", "--workload", "llama-3.1-8b", "--phase", "inference", "--backend", "vlm"),
         "error: --backend: ", "unknown backend 'vlm'; did you mean vllm"),
        (("check", "{}", "{}"), "error: {}: ", "is an instance of a cluster, not a plan"),
        (("pages", "{}"), "error: {}: ", "`planner pages` shows a job of its plan with --plan"),
    ],
)  # fmt: skip
def test_a_wrong_command_line_is_refused(
    planner: Planner, instance: Path, arguments: tuple[str, ...], start: str, problem: str
) -> None:
    outcome = planner(*(argument.format(instance) for argument in arguments))
    assert_refused(outcome, start.format(instance), problem)

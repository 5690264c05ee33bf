"""slurm.yaml: what is read, and one clear line for whatever cannot be."""

import json
from pathlib import Path
from typing import Any

import pytest

from planner.integrations.slurm.config import load_site
from planner.model.errors import InputError
from tests.slurm.sites import write_site


def site_with(folder: Path, **fields: Any) -> Any:
    return load_site(write_site(folder, 4, **fields).config)


def test_a_host_list_names_servers_in_order(tmp_path: Path) -> None:
    site = site_with(tmp_path, nodes="n[0-1],m[08-09]")
    assert site.server_of_node == {"n0": "s0", "n1": "s1", "m08": "s2", "m09": "s3"}
    assert site.gpus_per_node == 8
    assert site.config.poll_s == 0.4


def test_nodes_may_be_named_one_by_one(tmp_path: Path) -> None:
    nodes = {"a": "s3", "b": "s2", "c": "s1", "d": "s0"}
    assert site_with(tmp_path, nodes=nodes).server_of_node == nodes


def test_the_cluster_may_be_an_instance(tmp_path: Path) -> None:
    given_site = write_site(tmp_path, 4)
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"schema_version": 2, "name": "x", "cluster": json.loads(path.read_text()), "jobs": []}))
    assert load_site(given_site.config).gpus_per_node == 8


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"nodes": "n[0-2]"}, "nodes: are 3 for 4 servers; name as many"),
        ({"nodes": "n[0-3,2]"}, "nodes: n2 is named twice"),
        ({"nodes": "n[0-"}, "nodes: 'n[0-' is no list of hosts"),
        ({"nodes": {"a": "s0", "b": "s1", "c": "s2", "d": "s9"}}, "nodes.d: there is no server 's9'; servers are s0"),
        ({"nodes": {"a": "s0", "b": "s1", "c": "s2", "d": "s0"}}, "nodes.d: is server s0, as a is"),
        ({"nodes": {"a": "s0", "b": "s1", "c": "s2"}}, "nodes: none is server s3"),
        ({"nodes": {"a[0-1]": "s0"}}, "nodes: 'a[0-1]' names 2 nodes"),
        ({"nodes": {"a;b": "s0"}}, "nodes: 'a;b' is no list of hosts"),
        ({"state": "var/lib"}, "state: 'var/lib' is no absolute path"),
        ({"bindings": "/a\nb"}, "bindings: '/a"),
        ({"state": "/a", "bindings": "/a"}, "bindings: is the folder of `state`"),
        ({"partitions": ['gpu"]=1']}, "partitions: 'gpu\"]=1' is no name of a partition"),
        ({"default_workload": "x"}, "default_workload: there is no workload 'x'; there are llama"),
        ({"workloads": {}}, "workloads: "),
        ({"driver": {"kind": "magic"}}, "driver: unknown kind 'magic'"),
        ({"driver": {"kind": "hook", "command": ["switch"]}}, "driver.command: 'switch' is no absolute path"),
        ({"driver": {"kind": "hook", "command": []}}, "driver.command: "),
        ({"driver": {"kind": "hook", "command": ["/a"], "timeout": "0 s"}}, "driver.timeout: "),
        ({"cluster": "nowhere.yaml"}, "nowhere.yaml: does not exist"),
        ({"poll": "0 s"}, "poll: "),
        ({"polls": "1 s"}, "polls: is no known field"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        site_with(tmp_path, **fields)
    assert message in str(caught.value)
    assert str(tmp_path) in str(caught.value)

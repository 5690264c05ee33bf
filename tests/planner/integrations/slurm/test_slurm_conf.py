"""slurm.conf as Slurm reads it, and the one line that is ours."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.integrations.slurm.slurm_conf import read_conf, with_include, without_include
from planner.model.errors import InputError
from tests.planner.integrations.slurm.install_cases import CONF, installation
from tests.slurm.sites import write_site


def test_a_node_that_slurm_does_not_know_is_named(tmp_path: Path, conf: Path) -> None:
    other = write_site(tmp_path / "site", 4, nodes="m[0-3]")
    with pytest.raises(InputError, match=r"NodeName: there is no m0, which slurm\.yaml names"):
        installation(other, conf).install()


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_our_line_comes_and_goes_byte_for_byte(text: str) -> None:
    assert without_include(text) == text
    once = with_include(text)
    assert with_include(once) == once
    assert without_include(once) == text


def test_a_conf_is_read_as_slurm_reads_it(conf: Path) -> None:
    conf.with_name("more.conf").write_text('TaskProlog="/a b/c" # x\nGresTypes=nic\n')
    conf.write_text(f"{CONF}\nInclude more.conf\n# SelectType=select/linear\n")
    found = read_conf(conf)
    assert found.value("taskprolog") == "/a b/c"
    assert found.listed("GresTypes") == ["nic"]
    assert found.value("SelectType") == "select/cons_tres"
    assert found.value("Nothing") is None
    assert found.gpus_by_node() == {"n0": 8, "n1": 8, "n2": 8, "n3": 8}


@pytest.mark.parametrize(
    ("gres", "types"),
    [
        ("Gres=gpu:a100:8", {"a100"}),
        ("Gres=gpu:A100:4,gpu:h100:4,nic:1", {"a100", "h100"}),
        ("Gres=gpu:8", set()),
        ("Gres=gpu:a100:4,gpu:4", set()),
        ("", set()),
    ],
)
def test_types_are_known_where_every_gpu_has_one(tmp_path: Path, gres: str, types: set[str]) -> None:
    path = tmp_path / "slurm.conf"
    path.write_text(f"NodeName=n[0-1] {gres}\nNodeName=x0 Gres=gpu:v100:2\n")
    assert read_conf(path).gpu_types(["n0", "n1"]) == types

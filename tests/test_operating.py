"""What the pages of `planner/docs/operating` show of files and requests is what the program reads."""

import json
import re
import textwrap
from pathlib import Path

import pytest

from planner import Instance
from planner.controller import Request, Settings
from planner.integrations.kubernetes.config import load_site as load_kubernetes
from planner.integrations.slurm.config import load_site as load_slurm
from planner.integrations.switch_drivers.ocs.config import OcsConfig
from planner.model import files

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "planner" / "docs" / "operating"
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in sorted(PAGES.glob("*.md")))


def block(name: str) -> str:
    """The YAML block that begins with a comment of this name."""
    found = re.search(rf"```yaml\n( *)# {name}\n(.*?)\n *```", TEXT, re.DOTALL)
    assert found is not None
    return textwrap.dedent(found[1] + "#\n" + found[2])


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with a cluster of eight servers."""
    (tmp_path / "cluster.yaml").write_text((ROOT / "instances/lumorph/rack64.yaml").read_text(encoding="utf-8"))
    return tmp_path


def test_the_settings_are_read(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text(block("settings"))
    settings = files.load(Settings, path)
    assert (settings.patience_s, settings.quota("search").ports) == (43200, 32)


def test_slurm_yaml_is_read(site: Path) -> None:
    path = site / "slurm.yaml"
    path.write_text(block("slurm"))
    assert load_slurm(path).server_of_node["gpu-7"] == "s7"


def test_kubernetes_yaml_is_read(site: Path) -> None:
    path = site / "kubernetes.yaml"
    path.write_text(block("kubernetes"))
    cluster = Instance.load(site / "cluster.yaml").cluster
    assert load_kubernetes(path, cluster).server_of["gpu-0"] == "s0"


def test_switches_yaml_is_read(tmp_path: Path) -> None:
    path = tmp_path / "switches.yaml"
    path.write_text(block("switches"))
    assert files.load(OcsConfig, path).switches["q*"].timeout_s == 5


def test_the_request_is_one() -> None:
    found = re.search(r"-d '(\{.*?\})' -H", TEXT, re.DOTALL)
    assert found is not None
    assert Request.model_validate(json.loads(found[1])).accelerators == 16

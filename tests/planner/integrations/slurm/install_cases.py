"""Shared by the tests of `install`, `installation_checks` and `slurm_conf`."""

import getpass
from pathlib import Path

from planner.integrations.slurm.config import load_site
from planner.integrations.slurm.install import Installation
from tests.slurm.sites import Site

CONF = f"""# a site
ClusterName=x
SlurmUser={getpass.getuser()}   # whoever runs this
SelectType = select/cons_tres
GresTypes=gpu,nic
NodeName=DEFAULT Gres=gpu:a100:8(S:0-1),nic:1 \\
    CPUs=64
NodeName=n[0-1]
NodeName=n[2-3] Gres=gpu:4,gpu:h100:4
PartitionName=gpu Nodes=ALL Default=YES"""
ODD = "a b'c & d;(e)"


def installation(site: Site, conf: Path) -> Installation:
    return Installation(load_site(site.config), conf)

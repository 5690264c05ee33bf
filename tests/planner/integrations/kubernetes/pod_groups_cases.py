"""Shared by the tests of `client`, `pod_assignment`, `pod_groups` and `pods`."""

from planner.integrations.kubernetes.config import Kubernetes, KubernetesSite
from tests.planner.simulate.grounds import BERT, cluster

SITE = KubernetesSite(
    Kubernetes.model_validate({"nodes": "n[0-3]", "workloads": {"bert": BERT}, "default_workload": "bert"}),
    cluster("fat_tree"),
    {f"n{i}": f"s{i}" for i in range(4)},
)
SHARED = KubernetesSite(SITE.config, SITE.cluster, {f"n{i}": f"s{i // 2}" for i in range(8)})
"""the same servers, each of two nodes"""

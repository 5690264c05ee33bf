"""Shared by the tests of `manifests`."""

from typing import Any

from planner.integrations.kubernetes.config import Kubernetes
from tests.planner.simulate.grounds import BERT


def config(**changes: Any) -> Kubernetes:
    return Kubernetes.model_validate({"nodes": "n[0-3]", "workloads": {"bert": BERT}} | changes)

"""Paths of the Kubernetes API."""

import pytest

from planner.integrations.kubernetes.client import ApiError, path_of
from planner.integrations.kubernetes.informer import Informer
from tests.planner.integrations.kubernetes.emulator import Server
from tests.planner.integrations.kubernetes.informer_cases import PATH


def test_paths() -> None:
    assert path_of("v1", "pods", "a", "b", "binding") == "/api/v1/namespaces/a/pods/b/binding"
    assert path_of("kueue.x-k8s.io/v1beta1", "workloads") == "/apis/kueue.x-k8s.io/v1beta1/workloads"
    assert path_of("v1", "nodes", name="../x?y") == "/api/v1/nodes/..%2Fx%3Fy"


def test_an_api_that_is_not_there(server: Server) -> None:
    api = server.api()
    server.close()
    with pytest.raises(ApiError, match="ConnectError") as refused:
        Informer(api, PATH).refresh()
    assert refused.value.is_of_all
    api.close()

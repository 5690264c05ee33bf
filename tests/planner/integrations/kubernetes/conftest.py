"""Worlds for the tests here."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from planner.integrations.kubernetes import client
from planner.integrations.kubernetes.client import KubernetesClient
from tests.planner.controller.sites import quick_folder
from tests.planner.integrations.kubernetes.emulator import Server
from tests.planner.integrations.kubernetes.world import World


@pytest.fixture
def server() -> Iterator[Server]:
    """An emulated API, whose objects are those of one test."""
    one = Server()
    yield one
    one.close()


@pytest.fixture
def quiet_api(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[KubernetesClient]:
    """A client that gives up watches after 2 s of silence, and pages after the usual time."""
    api = server.api()
    monkeypatch.setattr(client, "TIMEOUT_S", 2.0)
    yield api
    api.close()


@pytest.fixture
def make_world(server: Server) -> Iterator[Callable[..., World]]:
    """Worlds with a journal of their own."""
    worlds: list[World] = []
    with quick_folder() as folder:

        def make(**changes: Any) -> World:
            worlds.append(World(server, Path(folder), **changes))
            return worlds[-1]

        yield make
        for one in worlds:
            one.close()

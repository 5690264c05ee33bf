"""Shared by the tests of `client` and `informer`."""

from planner.integrations.kubernetes.client import path_of

PATH = path_of("v1", "pods")

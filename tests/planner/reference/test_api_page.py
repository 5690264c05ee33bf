"""The page of the Python API: every public name, where it is written."""

import importlib
import re

from planner import api
from planner.reference.api_page import api_page


def test_every_public_name_is_found_where_the_page_says() -> None:
    said = dict(reversed(found.rsplit(".", 1)) for found in re.findall(r"^::: ([\w.]+)$", api_page(), re.MULTILINE))
    assert set(said) == set(api.__all__) - {"API_VERSION"}
    for name, module in said.items():
        assert getattr(importlib.import_module(module), name) is getattr(api, name)

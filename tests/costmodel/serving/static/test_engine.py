"""Stages of an engine need a link."""

import pytest
from pydantic import ValidationError

from tests.costmodel.serving.static.layer_cases import engine


def test_stages_need_a_link() -> None:
    with pytest.raises(ValidationError, match="stage_link: 2 stages need a link"):
        engine(pipeline=2)

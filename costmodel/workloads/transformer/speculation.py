"""Speculative decoding: tokens that are cheap to guess, and checked by the model several at once."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from costmodel.spec import Spec
from costmodel.workloads.transformer.shapes import Model, TransformerShape, shape_of


class Speculation(Spec):
    """A draft guesses some tokens of each running request; one pass of the model checks all of them, and adds one.

    What drafts is a model of its own, or layers like those of the model (multi-token prediction, EAGLE, Medusa), or
    costs nothing (a look into the prompt). Source: Leviathan et al. 2022 (arXiv:2211.17192), sections 2 and 3.
    """

    tokens: Annotated[int, Field(ge=1, le=64)]
    """guessed in each step, one after the other"""
    acceptance: float = Field(ge=0, le=1)
    """chance that a guessed token is right, where all before it are"""
    draft_cost: float = Field(default=0.0, ge=0, le=1)
    """of one guess, and of its weights and cache, as a share of the model's own: one layer more is 1 / layers"""
    draft_model: Model | None = None
    """the model that guesses, in the same precision; its tensor ranks are those of the job where its heads divide so,
    else each rank has all of it"""

    @model_validator(mode="after")
    def _is_one_draft(self) -> Self:
        if self.draft_model is not None and self.draft_cost:
            raise ValueError("draft_cost and draft_model say the same; give one of them")
        return self

    @property
    def tokens_per_step(self) -> float:
        """Mean number of tokens that a step gives a request: 1 + a + ... + a^k."""
        return sum(self.acceptance**n for n in range(self.tokens + 1))

    @property
    def draft_shape(self) -> TransformerShape | None:
        return None if self.draft_model is None else shape_of(self.draft_model)

    def draft_layers(self, shape: TransformerShape) -> float:
        """Layers of one guess, for a model of this shape."""
        own = self.draft_shape
        return self.draft_cost * shape.layers if own is None else float(own.layers)

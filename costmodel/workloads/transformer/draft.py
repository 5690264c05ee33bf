"""What guesses tokens for a model on the same ranks: how it is divided, what it executes in a step."""

from dataclasses import replace

import numpy as np

from costmodel.parallelism.mappings import Floats
from costmodel.pricing.opgraph import Block, Shapes
from costmodel.workloads.transformer.passes import Pass, Passes
from costmodel.workloads.transformer.shapes import TransformerShape, tensor_degrees
from costmodel.workloads.transformer.speculation import Speculation


def draft_share(speculation: Speculation | None, model: TransformerShape) -> tuple[TransformerShape, float]:
    """Shape of what drafts for a model, and how much of it there is: a share of the model itself, 0 of nothing."""
    if speculation is None:
        return model, 0.0
    own = speculation.draft_shape
    return (model, speculation.draft_cost) if own is None else (own, 1.0)


def draft_tensor(shape: TransformerShape, tensor: Floats) -> Floats:
    """Ranks among which a draft is divided by those of the job, shape (K,): as many, or 1 where its heads do not
    divide so."""
    return np.where(np.isin(tensor, tensor_degrees(shape)), tensor, 1.0)


def draft_blocks(speculation: Speculation, passes: Passes, each: Pass, shapes: Shapes, steps: Floats) -> list[Block]:
    """Passes of a draft in one step of a phase: one for each guess, and one for the prompts, which it must know too."""
    shape, share = draft_share(speculation, passes.shape)
    if not share:
        return []
    draft = replace(passes, shape=shape, tokens_each=1.0, tensor=draft_tensor(shape, passes.tensor))
    if shape is not passes.shape:
        draft = replace(draft, expert=np.ones_like(passes.expert))
    none = np.zeros_like(passes.tensor)
    parts = (Pass(each.phase, each.running, none), speculation.tokens), (Pass(each.phase, none, each.prompts), 1)
    found: list[Block] = []
    for part, times in parts:
        if part.sequences.any():
            found += draft.blocks(part, shapes, steps, name="draft ", share=share * times)
    return found

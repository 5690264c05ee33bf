"""Memory of the ranks that serve: weights, runtime, and keys and values of the requests that run at once."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from costmodel.hardware.device import BYTES_OF_PRECISION, Precision
from costmodel.parallelism.mappings import Floats
from costmodel.serving.admission import MEMORY_SHARE, memory_slots
from costmodel.serving.backends import ServingCurve
from costmodel.serving.kernel_rules import KernelRules
from costmodel.workloads.transformer.draft import draft_share, draft_tensor
from costmodel.workloads.transformer.passes import VOCABULARY_BYTES
from costmodel.workloads.transformer.shapes import TransformerShape, kv_dim, layer_parameters
from costmodel.workloads.transformer.speculation import Speculation

ROUNDING = 1e-12
RESIDENT_LAYERS = 2.0
"""layers of which local memory has what the second tier holds: the one in use, and the one on its way"""


@dataclass(frozen=True)
class TierShares:
    """What a rank keeps in a second tier, shares of shape (K,)."""

    weights: Floats | float = 0.0
    """of the layers'"""
    cache: Floats | float = 0.0
    capacity_bytes: float = np.inf
    """of the tier"""


NOTHING_AWAY = TierShares()


@dataclass(frozen=True)
class ServingMemory:
    """Of one rank of the fullest stage; columns of shape (K,)."""

    shape: TransformerShape
    tensor: Floats
    expert: Floats
    pipeline: Floats
    precision: Precision
    kv_precision: Precision
    shared_tokens: Floats | float
    """of all prompts, that the cache holds once"""
    new_tokens: Floats | float
    """of a prompt beyond these"""
    output_tokens: Floats | float
    curve: ServingCurve
    is_static: bool = False
    """whether the running requests start and end together"""
    speculation: Speculation | None = None
    rules: KernelRules | None = None
    away: TierShares = NOTHING_AWAY

    @property
    def share(self) -> float:
        """Of the device's memory, what an engine takes."""
        return MEMORY_SHARE if self.rules is None else 1.0 - self.rules.memory_reserve

    @cached_property
    def token_bytes(self) -> Floats:
        """Keys and values of one token in the layers of a stage, those of a draft too."""
        own = self._cache_bytes(self.shape, self.tensor)
        shape, share = draft_share(self.speculation, self.shape)
        if not share:
            return own
        return own + share * self._cache_bytes(shape, draft_tensor(shape, self.tensor))

    @cached_property
    def held_bytes(self) -> Floats:
        """Weights, those of a draft too, and runtime, without what is in the second tier."""
        own = self._weight_bytes(self.shape, self.tensor, self.expert)
        if self.away is not NOTHING_AWAY:
            own = own - (1 - self._near) * self.away_weight_bytes
        shape, share = draft_share(self.speculation, self.shape)
        if not share:
            return own + self.curve.runtime_bytes
        expert = self.expert if shape is self.shape else np.ones_like(self.expert)
        draft = self._weight_bytes(shape, draft_tensor(shape, self.tensor), expert)
        return own + share * draft + self.curve.runtime_bytes

    @cached_property
    def near_token_bytes(self) -> Floats:
        """Of a token in local memory."""
        if self.away is NOTHING_AWAY:
            return self.token_bytes
        return np.asarray(self.token_bytes - (1 - self._near) * self.away_token_bytes)

    @cached_property
    def away_token_bytes(self) -> Floats:
        """Of a token in the second tier."""
        return np.asarray(self.away.cache * self.token_bytes)

    @cached_property
    def away_weight_bytes(self) -> Floats:
        """Of layers, in the second tier."""
        return np.asarray(self.away.weights * self._layer_bytes(self.shape, self.tensor, self.expert))

    @property
    def _near(self) -> Floats:
        """Share of what is away that is in local memory at once: of the layer in use, and of the one on its way."""
        return np.minimum(RESIDENT_LAYERS / self._layers(self.shape), 1.0)

    @property
    def least_bytes(self) -> Floats:
        """Memory without which an accelerator serves nobody."""
        tokens = self.shared_tokens + self._request_tokens
        return (self.held_bytes + self.near_token_bytes * tokens) / self.share

    @property
    def least_away_bytes(self) -> Floats:
        """In the second tier, beside these."""
        return self.away_weight_bytes + self.away_token_bytes * (self.shared_tokens + self._request_tokens)

    def away_bytes(self, slots: Floats) -> Floats:
        """In the second tier, with the cache of all running requests."""
        return self.away_weight_bytes + self.away_token_bytes * (self.shared_tokens + slots * self._request_tokens)

    def moved_bytes(self, requests: Floats, cached_tokens: Floats, new_tokens: Floats) -> Floats:
        """To and from the second tier in a step with so many requests, which read so many cached tokens of their own
        and write so many new ones, all together: weights and a shared prefix come once."""
        cache = self.away_token_bytes * (self.shared_tokens + cached_tokens + new_tokens)
        return np.where(requests > 0, self.away_weight_bytes + cache, 0.0)

    def slots(self, capacity_bytes: Floats | float, users: Floats, max_batch: int | None) -> Floats:
        """Requests that a replica runs at once: at least one, which is all that listing asks for.

        In static batches all have room to their ends; where memory is short, stages have equally many if all have some.
        """
        most = np.minimum(users, np.inf if max_batch is None else float(max_batch))
        token_bytes = self.near_token_bytes
        free_bytes = self.share * capacity_bytes - self.held_bytes - self.shared_tokens * token_bytes
        if not self.is_static:
            room = memory_slots(free_bytes, token_bytes, self.new_tokens, self.output_tokens, self.curve)
            return np.minimum(np.maximum(np.minimum(room, self._away_slots()), 1.0), most)
        room = np.floor(free_bytes / (token_bytes * self._request_tokens) * (1 + ROUNDING))
        room = np.minimum(room, self._away_slots())
        whole = np.where(room >= self.pipeline, np.floor(room / self.pipeline) * self.pipeline, room)
        return np.maximum(np.where(room >= most, most, whole), 1.0)

    def used_bytes(self, slots: ArrayLike, capacity_bytes: Floats | float) -> Floats:
        """With the cache of all running requests, which fills the engine's share of memory at most."""
        cached_tokens = np.asarray(slots) * self._request_tokens + self.shared_tokens
        held_bytes = self.held_bytes
        most = np.minimum(held_bytes + self.near_token_bytes * cached_tokens, self.share * capacity_bytes)
        return np.asarray(np.maximum(most, held_bytes))

    def _away_slots(self) -> Floats | float:
        """Requests for whose share of the cache the second tier has room."""
        if self.away is NOTHING_AWAY or not self.away_token_bytes.any():
            return np.inf
        token_bytes = self.away_token_bytes
        free_bytes = self.away.capacity_bytes - self.away_weight_bytes - self.shared_tokens * token_bytes
        some = np.where(token_bytes > 0, token_bytes, 1.0)
        if self.is_static:
            room = np.floor(free_bytes / (some * self._request_tokens) * (1 + ROUNDING))
        else:
            room = memory_slots(free_bytes, some, self.new_tokens, self.output_tokens, self.curve)
        return np.where(token_bytes > 0, room, np.inf)

    @property
    def _request_tokens(self) -> Floats | float:
        """Of its own."""
        return self.new_tokens + self.output_tokens

    def _layers(self, shape: TransformerShape) -> Floats:
        """Of the fullest stage."""
        return np.ceil(shape.layers / self.pipeline)

    def _cache_bytes(self, shape: TransformerShape, tensor: Floats) -> Floats:
        return np.asarray(self._layers(shape) * 2 * BYTES_OF_PRECISION[self.kv_precision] * kv_dim(shape, tensor))

    def _layer_bytes(self, shape: TransformerShape, tensor: Floats, expert: Floats) -> Floats:
        return self._layers(shape) * (layer_parameters(shape, tensor, expert) * BYTES_OF_PRECISION[self.precision])

    def _weight_bytes(self, shape: TransformerShape, tensor: Floats, expert: Floats) -> Floats:
        """The matrices of the vocabulary are on the first stage and on the last one."""
        weight = BYTES_OF_PRECISION[self.precision]
        layers = self._layer_bytes(shape, tensor, expert)
        one_matrix = float(shape.vocabulary * shape.hidden)
        vocabulary = np.where(self.pipeline > 1, one_matrix, float(shape.vocabulary_parameters)) / tensor
        return layers + (VOCABULARY_BYTES if self.rules is None else weight) * vocabulary

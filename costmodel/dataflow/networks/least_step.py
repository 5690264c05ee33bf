"""Times that steps with tensors in a second tier never go below, wherever these are, for many candidates at once.

A step takes its operators' time, and as much more as its ways to the tier must carry in stretches of the step beyond
what they can while operators of the same stretch run. What leaves in a pass has left at its end but for the last few
tensors, and what a backward pass needs was asked for in it but for what its first few users need (`resident.RULES`).
Fewest bytes move where local memory keeps what saves most copies, and the inside of layers is made again as often as
is best; both are taken in fractions. Each pass fetches the weights of its layers, and the updated ones leave once: of
these local memory keeps no more than it has room for when the pass begins, and at the end of the step.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from costmodel.dataflow.networks.pass_times import PassTimes
from costmodel.dataflow.streams.resident import RULES
from costmodel.hardware.memory.tier import MemoryTier
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.opgraph import OpGraph
from costmodel.pricing.score import Scores
from costmodel.workloads.transformer.evaluation import TRAINING
from costmodel.workloads.transformer.memory import RESIDENT_LAYERS, training_memory
from costmodel.workloads.transformer.stage import Stage
from costmodel.workloads.transformer.training import TransformerTraining

Floats = NDArray[np.float64]
SEARCHED = 45
"""thirds of what is left that the search for the best number of layers made again leaves out"""
ROUNDING = 1e-6
"""of a time: what the search and sums may be off"""


def least_step_s(candidates: Candidates, scores: Scores) -> Floats:
    """Seconds that no places of a row's tensors go below, shape (C,); the scored step where the tier holds none."""
    is_out = candidates.mappings.offload[candidates.mapping] > 0
    found: Floats = np.where(is_out, scores.step_s - scores.offload_s, scores.step_s)
    if not isinstance(candidates.workload, TransformerTraining):
        return found
    for number, split in enumerate(candidates.splits):
        rows = np.flatnonzero(is_out & (candidates.split == number))
        if split.device.offload is not None and len(rows):
            part, graph = candidates.part(rows, split.device)
            training = graph.phase_graphs.get(TRAINING, graph)
            steps = _Steps.of(candidates.workload, part, training, scores.take(rows))
            found[rows] = np.maximum(found[rows], steps.least_s() * (1 - ROUNDING))
    return found


@dataclass(frozen=True)
class _Steps:
    """Columns of shape (C,); a pass takes one micro-batch through one chunk, of as many layers as the mean."""

    rate: float
    """bytes a second to and from the tier"""
    room_bytes: Floats
    """of local memory for what stays"""
    whole_s: Floats
    """of all operators"""
    forward_s: Floats
    """of a pass, as the next one"""
    backward_s: Floats
    update_s: Floats
    """of all layers"""
    idle_s: Floats
    layer_s: Floats
    """of making one layer's inside again"""
    passes: Floats
    """in each direction"""
    ahead: Floats
    """forward passes before the first backward pass"""
    turns: Floats
    """places of the step, of which each pass's tensors are away at one at least"""
    is_plain: NDArray[np.bool_]
    """without chunks: updates are part of the last backward pass alone, behind all those places"""
    is_even: NDArray[np.bool_]
    """whether all passes run as many layers"""
    away_bytes: Floats
    """of activations that leave in a pass"""
    inside_bytes: Floats
    """of these, of one layer what can be made again"""
    most_again: Floats
    """layers of all passes whose inside can be"""
    state_bytes: Floats
    """of the optimizer, in the tier before and after the update"""
    late_bytes: Floats
    """of activations that leave in a pass and may be on their way when it ends"""
    early_bytes: Floats
    """that a pass needs and may be on their way when it begins"""
    early_state_bytes: Floats
    """of the optimizer likewise"""
    fetched_bytes: Floats
    """weights that each pass finds in the tier or in the room"""
    updated_bytes: Floats
    """weights at the end of the step likewise"""
    early_weight_bytes: Floats
    """that a pass needs and may be on their way when it begins"""
    is_spanning: NDArray[np.bool_]
    """whether activations are away while two passes begin at least"""

    @classmethod
    def of(cls, job: TransformerTraining, part: Candidates, graph: OpGraph, scores: Scores) -> Self:
        """Rows of one split of the I/O, what they execute, and their scores row for row."""
        of, stage = part.mapping, Stage.of(job, part.mappings)
        times, memory = PassTimes.of(part, graph, scores, stage), training_memory(job, stage)
        layers, stages, chunks = (np.floor(each[of]) for each in (stage.layers, stage.pipeline, stage.interleave))
        micro_batches, in_pass, is_plain = np.floor(stage.micro_batches[of]), layers / chunks, chunks == 1
        passes, leaving = micro_batches * chunks, np.maximum(in_pass - (scores.bubble_s <= 0), 0.0)
        has_activations, has_state = (part.mappings.has_offload(name)[of] for name in ("activations", "optimizer"))
        layer, entering = memory.layer_bytes[of] * has_activations, memory.input_bytes[of] * has_activations
        inside, state = np.maximum(layer - entering, 0.0), memory.kept_bytes["optimizer"][of] * has_state
        weights = memory.kept_bytes["weights"][of] * part.mappings.has_offload("weights")[of]
        return cls(
            rate=_tier(part).bandwidth_bytes_per_s,
            room_bytes=_room_bytes(part, scores, state / layers),
            whole_s=scores.step_s - scores.offload_s,
            forward_s=in_pass * times.forward_s,
            backward_s=in_pass * times.backward_s,
            update_s=layers * times.update_s,
            idle_s=times.idle_s,
            layer_s=times.forward_s,
            passes=passes,
            ahead=np.minimum(np.where(is_plain, stages, stages * chunks + stages - 1), passes),
            turns=np.where(is_plain, np.ceil(micro_batches / stages), passes),
            is_plain=is_plain,
            is_even=layers % chunks == 0,
            away_bytes=leaving * layer,
            inside_bytes=inside,
            most_again=passes * leaving * (inside > 0),
            state_bytes=state,
            late_bytes=(RULES.most_leaving or 0) * np.maximum(entering, inside),
            early_bytes=RULES.lookahead * layer,
            early_state_bytes=RULES.lookahead * state / layers,
            fetched_bytes=np.maximum(in_pass - 1, 0.0) * weights / layers,
            updated_bytes=weights,
            early_weight_bytes=RULES.lookahead * weights / layers,
            is_spanning=is_plain & (np.minimum(stages, micro_batches) > 1),
        )

    def least_s(self) -> Floats:
        """With the best number of layers made again: times are convex in it."""
        least, most = np.zeros_like(self.whole_s), self.most_again
        for _ in range(SEARCHED):
            fewer, more = least + (most - least) / 3, most - (most - least) / 3
            is_fewer = self.step_s(fewer) <= self.step_s(more)
            least, most = np.where(is_fewer, least, fewer), np.where(is_fewer, more, most)
        return self.step_s((least + most) / 2)

    def step_s(self, again: Floats) -> Floats:
        """With the inside of so many layers made again."""
        needed = self.passes * self.away_bytes - again * self.inside_bytes
        moved, again_bytes = np.maximum(needed - self.room_bytes * self.turns, 0.0), again * self.layer_s * self.rate
        copied = self._copied(needed)
        busy_s = self.whole_s + again * self.layer_s
        beyond = np.maximum(copied - busy_s * self.rate, 0.0)
        for each in (self._by_pass(needed, moved, again_bytes), self._by_phase(copied, again_bytes)):
            beyond = np.maximum(beyond, each)
        return np.asarray(busy_s + beyond / self.rate, np.float64)

    def _copied(self, needed: Floats) -> Floats:
        """Bytes that move in the step at least, of which activations need so many in each direction.

        Where passes begin and where the step ends, what stays takes room: a byte of it spares two copies of activations
        or one of weights; of the optimizer's state two, where it stays all along. The largest of three sums: each part
        with all the room for itself; all parts, with room priced at each of these places; and with room priced where
        activations are away and at the end, while weights stay everywhere else.
        """
        room, begun = self.room_bytes, 2 * self.passes
        kept = np.minimum(needed, room * self.turns)
        beside = np.where(self.is_plain, room - kept / self.turns, room)
        apart = 2 * (needed - kept) + 2 * np.maximum(self.state_bytes - beside, 0.0)
        apart = apart + begun * np.maximum(self.fetched_bytes - room, 0.0) + np.maximum(self.updated_bytes - room, 0.0)
        updated = 2 * needed + 2 * self.state_bytes + self.updated_bytes - room
        spared = room * (begun + np.where(self.is_spanning, 0.0, self.turns))
        everywhere = updated + begun * self.fetched_bytes - spared
        at_turns = updated + self.turns * (self.fetched_bytes - 2 * room)
        copied: Floats = np.maximum(apart, np.maximum(everywhere, at_turns))
        return copied

    def _by_pass(self, needed: Floats, moved: Floats, again_bytes: Floats) -> Floats:
        """Bytes beyond what passes hide: what leaves in forward ones, what returns in backward ones; in the last of
        these the optimizer's state as well, in both directions, if it is the only one with updates. Weights return in
        all of them, and leave in the last."""
        passes, room = self.passes, self.room_bytes
        forward = self.forward_s * self.rate + self.late_bytes
        backward = self.backward_s * self.rate + self.early_bytes
        late_fetched = self.fetched_bytes - self.early_weight_bytes
        fetched = np.maximum(late_fetched - room, 0.0)
        leaving = np.maximum(moved + passes * (fetched - forward), 0.0)
        updates = self.update_s * self.rate + again_bytes
        returned = np.maximum(moved + passes * fetched, needed + passes * (late_fetched - room))
        returning = np.maximum(returned - passes * backward - updates, 0.0)
        last = backward + updates + self.early_state_bytes + self.early_weight_bytes
        state = 2 * self.state_bytes + self.updated_bytes + self.fetched_bytes - 2 * room
        state = np.maximum(2 * np.maximum(self.state_bytes - room, 0.0), state)
        in_last = np.clip(last - state, 0.0, self.away_bytes)
        others = np.maximum(moved - in_last + (passes - 1) * (fetched - backward) - again_bytes, 0.0)
        with_state = others + np.maximum(in_last + state - last, 0.0)
        return leaving + np.where(self.is_plain, np.maximum(returning, with_state), returning)

    def _by_phase(self, copied: Floats, again_bytes: Floats) -> Floats:
        """Bytes beyond what three phases hide, each of which has so much to carry at most: forward passes alone, both
        in turn, backward passes alone with updates."""
        in_turn, of_pass = self.passes - self.ahead, self.away_bytes + self.fetched_bytes
        filling = (self.ahead * self.forward_s + self.idle_s) * self.rate + self.late_bytes
        turning = in_turn * (self.forward_s + self.backward_s) * self.rate + self.late_bytes + self.early_bytes
        draining = (self.ahead * self.backward_s + self.update_s) * self.rate
        draining = draining + self.early_bytes + self.early_state_bytes + self.early_weight_bytes
        hidden = np.minimum(filling, self.ahead * of_pass)
        hidden = hidden + np.minimum(turning + self.early_weight_bytes, 2 * in_turn * of_pass)
        drained = self.ahead * of_pass + 2 * self.state_bytes + self.updated_bytes
        hidden = hidden + np.minimum(draining, drained)
        return np.maximum(copied - hidden - again_bytes, 0.0) * self.is_even


def _tier(part: Candidates) -> MemoryTier:
    tier: MemoryTier | None = part.splits[part.split[0]].device.offload
    assert tier is not None
    return tier


def _room_bytes(part: Candidates, scores: Scores, layer_state_bytes: Floats) -> Floats:
    """Of local memory for what stays, beside all that is always there and some layers' optimizer state on its way."""
    resident = scores.footprint_bytes + RESIDENT_LAYERS * layer_state_bytes
    room: Floats = np.maximum(part.splits[part.split[0]].device.capacity_bytes - resident, 0.0)
    return room

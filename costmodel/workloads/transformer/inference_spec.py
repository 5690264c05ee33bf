"""What a file says of the serving of a transformer, and the numbers that follow from it alone."""

from functools import cache
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from costmodel.hardware.device import Precision
from costmodel.hardware.offload import share_codes
from costmodel.parallelism.mappings import Ints
from costmodel.serving.backends import GENERIC, require_backend
from costmodel.serving.kernel_rules import KernelRules
from costmodel.serving.limits import ServingLimits
from costmodel.spec import Count, Degree
from costmodel.workloads.base import WorkloadBase
from costmodel.workloads.transformer.disaggregated import Pinned
from costmodel.workloads.transformer.shapes import Model, TransformerShape, shape_of
from costmodel.workloads.transformer.speculation import Speculation


class InferenceSpec(WorkloadBase):
    """The fields of a serving job: a closed loop of users."""

    kind: Literal["transformer_inference"] = "transformer_inference"
    model: Model
    """a name of the catalog, or a shape of your own"""
    precision: Precision = "bf16"
    """of the layers' weights and matrix products"""
    activation_precision: Precision = "bf16"
    """of what crosses memory and network between operators"""
    kv_precision: Precision | None = None
    """of the KV cache; absent: bf16, or that of the weights where the backend has it so"""
    concurrency: Count | tuple[Count, ...]
    """users served at once by the whole job; the planner chooses of a list"""
    input_tokens: Count
    """of each prompt"""
    output_tokens: Count
    """of each answer"""
    expert: Degree | tuple[Degree, ...] | None = None
    """replicas among which the experts are divided; the planner chooses of a list, or where it is absent"""
    backend: Annotated[str, AfterValidator(require_backend)] = GENERIC
    """software that serves; `generic` has typical overheads"""
    batching: Literal["continuous", "static"] = "continuous"
    """continuous: requests enter and leave a running batch; static: each batch runs to its end before the next one"""
    max_batch: Count | None = None
    """requests that a replica runs at once at most; absent: memory alone limits them"""
    requests_per_user: float | None = Field(default=None, ge=2)
    """of a run in which all users start at once; absent: the steady state"""
    lengths: Literal["equal", "varied"] = Field(default="equal", exclude_if=lambda lengths: lengths == "equal")
    """equal: all prompts have the tokens stated, and all answers, so that prompts come one after the other, as the
    users started; varied: the tokens stated are means, and prompts come at any time (where backends run them first,
    both are priced alike)"""
    limits: ServingLimits | None = Field(default=None, exclude_if=lambda limits: limits is None)
    """longest times that users wait for tokens: candidates that miss one are not listed"""
    chunk: Count | None = Field(default=None, exclude_if=lambda tokens: tokens is None)
    """tokens of a step at most, those of running requests and of a part of a prompt beside them (chunked prefill);
    absent: the backend's own way with prompts"""
    prefix_hit: float = Field(default=0.0, ge=0, lt=1, exclude_if=lambda share: share == 0)
    """share of each prompt that all requests begin with, and that the cache holds once: it is not computed again"""
    speculation: Speculation | None = Field(default=None, exclude_if=lambda speculation: speculation is None)
    """tokens that are guessed, and checked several at once"""
    offload: str | tuple[str, ...] = Field(default="none", exclude_if=lambda choice: choice == "none")
    """what each rank keeps in the device's second memory tier: none, or of weights and cache a share in steps of
    12.5 %, joined by +, such as cache 25 %; of a name without a share each is a choice"""
    pipeline: Degree | tuple[Degree, ...] = Field(default=1, exclude_if=lambda stages: stages == 1)
    """stages among which the layers are divided; several only with static batches, and the planner chooses of a list"""
    kernel_rules: KernelRules | None = Field(default=None, exclude_if=lambda rules: rules is None)
    """how kernels behave as a source states it, in place of the curves and the backend that were fitted"""
    disaggregated: bool = Field(default=False, exclude_if=lambda flag: not flag)
    """whether some replicas run prompts alone and hand their caches to others, which run tokens alone"""
    prefill_accelerators: Degree | tuple[Degree, ...] | None = Field(default=None, exclude_if=lambda size: size is None)
    """of the pool that runs prompts; the planner chooses of a list, or where it is absent"""
    prefill_tensor: Degree | tuple[Degree, ...] | None = Field(default=None, exclude_if=lambda degree: degree is None)
    """ranks of a replica that runs prompts, as `decode_tensor` is of one that runs tokens; the planner chooses of a
    list, or where it is absent"""
    decode_tensor: Degree | tuple[Degree, ...] | None = Field(default=None, exclude_if=lambda degree: degree is None)
    """tensor degrees of the replicas that run tokens; chosen where absent"""
    prefill_expert: Degree | tuple[Degree, ...] | None = Field(default=None, exclude_if=lambda degree: degree is None)
    """what `expert` is, of replicas that run prompts; absent: as `expert` says, though of each pool by itself"""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.chunk is not None and self.batching == "static":
            raise ValueError("chunk: a static batch takes in all prompts at once; leave it out")
        if self.batching != "static":
            remedy = "is an option of static batches; add `batching: static`"
            if max(self.numbers_of_stages, default=1) > 1:
                raise ValueError(f"pipeline: {remedy}")
            if self.first_token_steps:
                raise ValueError(f"kernel_rules.first_token_is_decoded: {remedy}")
        if self.pipeline == ():
            raise ValueError("pipeline: the list is empty; give at least one number of stages")
        if self.concurrency == ():
            raise ValueError("concurrency: the list is empty; give at least one number of users")
        if not self.shape.causal and (self.chunk is not None or self.prefix_hit):
            raise ValueError("an encoder's tokens see all others of the prompt: leave out chunk and prefix_hit")
        return self

    @model_validator(mode="after")
    def _can_offload(self) -> Self:
        if self.offload == ():
            raise ValueError("offload: the list is empty; give at least one choice")
        if self.may_offload:
            for name in ("speculation", "kernel_rules"):
                if getattr(self, name) is not None:
                    raise ValueError(f"offload: is not priced together with {name}; remove one of them")
            if max(self.numbers_of_stages, default=1) > 1:
                raise ValueError("offload: is priced on one stage alone; remove pipeline")
        return self

    @model_validator(mode="after")
    def _pools_fit(self) -> Self:
        if not self.disaggregated:
            for name in ("prefill_accelerators", "prefill_tensor", "decode_tensor", "prefill_expert"):
                if getattr(self, name) is not None:
                    raise ValueError(f"{name}: of two pools alone; add disaggregated: true, or remove it")
        elif self.batching != "continuous":
            raise ValueError(f"disaggregated: two pools take requests in one by one; remove batching: {self.batching}")
        elif self.requests_per_user is not None:
            raise ValueError("disaggregated: two pools are priced in their steady state; remove requests_per_user")
        elif self.lengths != "equal":
            raise ValueError("disaggregated: two pools are priced for requests of one length; remove lengths")
        elif self.chunk is not None:
            raise ValueError("disaggregated: no tokens run beside prompts, which are run whole; remove chunk")
        elif self.output_tokens == 1:
            raise ValueError("disaggregated: answers of one token need no second pool; give output_tokens of 2 or more")
        return self

    @property
    def shape(self) -> TransformerShape:
        return shape_of(self.model)

    @property
    def speed_unit(self) -> str:
        return "tokens/s"

    @property
    def phases(self) -> tuple[str, ...]:
        """In a round: prompts of all users, then all their tokens."""
        return () if self.disaggregated else ("prefill", "decode")

    @property
    def rounds_per_step(self) -> float:
        return 1.0 / self.output_tokens

    @property
    def divided(self) -> str:
        """What degrees of parallelism must divide, for messages."""
        users = self.numbers_of_users[-1]
        return f"its {self.shape.heads} heads, with one of {users} users at least for each replica"

    @property
    def numbers_of_users(self) -> tuple[int, ...]:
        """Among which the planner chooses, ascending."""
        return tuple(sorted(set(self.concurrency))) if isinstance(self.concurrency, tuple) else (self.concurrency,)

    @property
    def users_of_jobs(self) -> Ints:
        """Numbers of users to choose from, ascending, a row for each job that is listed here; then zeros."""
        return np.array([self.numbers_of_users])

    @property
    def may_offload(self) -> bool:
        return any(self.offload_codes)

    @property
    def offload_codes(self) -> tuple[int, ...]:
        """Choices among which the planner takes one, as in `Mappings.offload`."""
        return _codes(self.offload)

    @property
    def numbers_of_stages(self) -> tuple[int, ...]:
        """Among which the planner chooses."""
        return numbers_of(self.pipeline)

    @property
    def pinned_pools(self) -> Pinned:
        """What is said of two pools."""
        names = ("prefill_accelerators", "prefill_tensor", "prefill_expert", "decode_tensor")
        return Pinned(*(None if (of := getattr(self, name)) is None else numbers_of(of) for name in names))

    @property
    def first_token_steps(self) -> float:
        """Of decoding until the first token is there."""
        return float(self.kernel_rules is not None and self.kernel_rules.first_token_is_decoded)

    @property
    def new_tokens(self) -> float:
        """Of a prompt, those that the cache does not hold: its last one at least."""
        return max(self.input_tokens * (1 - self.prefix_hit), 1.0)

    @property
    def tokens_each(self) -> float:
        """That a step of decoding computes for each request: one, and those that were guessed."""
        return 1.0 + (0 if self.speculation is None else self.speculation.tokens)

    @property
    def tokens_per_step(self) -> float:
        """That a step of decoding gives each request."""
        return 1.0 if self.speculation is None else self.speculation.tokens_per_step

    @property
    def flops_per_work(self) -> float:
        """Matrix operations of an output token, with its share of the prompt's."""
        known = self.input_tokens - self.new_tokens
        prompt = self.shape.forward_flops(known + self.new_tokens * (0.5 if self.shape.causal else 1.0))
        share = self.new_tokens / self.output_tokens
        return self.shape.forward_flops(self.input_tokens + self.output_tokens / 2) + share * prompt


@cache
def _codes(offload: str | tuple[str, ...]) -> tuple[int, ...]:
    return share_codes((offload,) if isinstance(offload, str) else offload, ("weights", "cache"))


def numbers_of(given: int | tuple[int, ...]) -> tuple[int, ...]:
    """Numbers to choose from."""
    return given if isinstance(given, tuple) else (given,)

"""Published throughput of DeepSeek-V3/R1 on H800 beside ours: `python -m tests.benchmarks.bench_published_serving`.

None of it was used in a fit. Source: DeepSeek-AI, DeepSeek-V3/R1 Inference System Overview, 2025 (open-infra-index on
GitHub, 202502OpenSourceWeek, day 6): in a day 608e9 tokens went in, 56.3 % of them from a cache, and 168e9 came out, 20
to 22 a second for a user; a token out saw 4,989 tokens on average; a node of eight took in 73,700 a second, hits
included, or gave 14,800. Prompts run on units of 32 accelerators (expert degree 32), tokens on units of 144 with two
experts each; here on 128, which divide the 256 experts without copies of some. Tokens go straight to each expert, those
of prompts to servers first, as there.

Both pools overlap what experts are sent with another half of the batch there: ours waits for it, and a second line
leaves the waiting out, as if all of it were hidden. What the day's rise and fall leave idle is in their figures.
"""

from typing import NamedTuple

import numpy as np

from costmodel.fabrics import fat_tree_of
from costmodel.hardware.device import load_device
from costmodel.hardware.systems import system_of
from costmodel.parallelism.mappings import Mappings
from costmodel.pricing.candidates import list_candidates
from costmodel.pricing.score import score
from costmodel.pricing.search import widest_block
from costmodel.workloads import TransformerInference

NODE = 8
TOKENS_IN_PER_S, TOKENS_OUT_PER_S = 73_700.0, 14_800.0
"""of a node of prompts, cache hits included, and of one of tokens"""
HITS, CONTEXT, USER_TOKENS_PER_S = 0.563, 4989, 21.0
OUTPUT = round(CONTEXT / (608 / 168 + 0.5))
"""tokens of an answer whose prompt is as many times as long as all prompts over all answers"""
INPUT = round(CONTEXT - OUTPUT / 2)
PROMPT_RANKS, TOKEN_RANKS = 32, 128


class Pools(NamedTuple):
    """What two pools do."""

    output_per_s: float
    """of the job"""
    tpot_s: float
    sent_s: float
    """of a token of each user, what messages of the experts take of a step"""


def served(prefill: int, running: int, network: float = 1.0) -> Pools:
    """So many accelerators of prompts, and TOKEN_RANKS of tokens that run so many requests each; links and network as
    many times as fast as they are."""
    workload = TransformerInference(
        model="deepseek-v3", precision="fp8", concurrency=running * TOKEN_RANKS, input_tokens=INPUT,
        output_tokens=OUTPUT, prefix_hit=HITS, disaggregated=True, backend="sglang",
    )  # fmt: skip
    size, device = prefill + TOKEN_RANKS, load_device("h800-sxm")
    fabric = fat_tree_of(system_of(device.name), size)
    rates = ("nvlink_bandwidth_bytes_per_s", "network_bandwidth_bytes_per_s")
    fabric = fabric.model_copy(update={name: network * getattr(fabric, name) for name in rates})
    mappings = Mappings.of(
        data=size, prefill=prefill, expert=TOKEN_RANKS, prefill_tensor=1, prefill_expert=PROMPT_RANKS,
        micro_batch=running,
    )  # fmt: skip
    rows = list_candidates(workload, mappings, device, fabric, blocks=widest_block)
    scores = score(rows, device, fabric)
    best = int(np.argmax(scores.speed))
    return Pools(float(scores.speed[best]), float(scores.tpot_s[best]), float(scores.communication_s[4, best]))


def prompts_per_node(network: float = 1.0) -> float:
    """Tokens that a node of prompts takes in, hits included, where it is the bottleneck."""
    requests_per_s = served(PROMPT_RANKS, 64, network).output_per_s / OUTPUT
    return requests_per_s * INPUT / (PROMPT_RANKS / NODE)


def tokens_per_node(network: float = 1.0) -> tuple[int, float]:
    """Most requests of an accelerator whose users get their tokens as fast as published, and tokens of a node."""
    found = (0, 0.0)
    for running in range(8, 513, 8):
        pools = served(8 * PROMPT_RANKS, running, network)
        if pools.tpot_s > 1 / USER_TOKENS_PER_S:
            break
        found = running, pools.output_per_s / (TOKEN_RANKS / NODE)
    return found


def main() -> None:
    """A line a pool, with messages as they are and as if they took no time: ours over the published figure."""
    print(f"prompts of {INPUT:,} tokens, {HITS:.1%} of them in the cache, answers of {OUTPUT:,}")
    for words, network in (("experts' messages waited for", 1.0), ("experts' messages hidden", 1e6)):
        taken = prompts_per_node(network)
        running, given = tokens_per_node(network)
        print(f"{words}: a node of prompts takes {taken:,.0f} tokens/s, {taken / TOKENS_IN_PER_S:.2f} of the published")
        told = f"a node of tokens gives {given:,.0f} tokens/s with {running} requests on each accelerator"
        print(f"{words}: {told}, {given / TOKENS_OUT_PER_S:.2f} of the published")


if __name__ == "__main__":
    main()

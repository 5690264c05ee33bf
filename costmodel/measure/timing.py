"""Time on a CUDA device, by events around many repeats in one graph."""

import math
from collections.abc import Callable
from typing import Any

from costmodel.measure.table import Case

NUM_WARM_UP = 3
GRAPH_S = 1e-3
"""repeats in one graph last about this long, so that launching the graph does not count"""
MAX_REPEATS = 128
SAMPLES_S, MIN_SAMPLES, MAX_SAMPLES = 0.02, 3, 9
"""the median of 9 samples, of fewer where they last longer than 20 ms together"""
MAX_SHARE = 0.85
"""of the free memory that a case may take"""
LARGE_BYTES = 1e9
"""memory is handed back after a case that took more"""


def time_s(case: Case) -> float:
    """Seconds of one run: median over samples, each of many repeats in a row on the same buffers.

    What fits in the last cache therefore stays there, as in the published tables.
    """
    launch, repeats = ready(case)
    first_s = elapsed_s(launch)
    num_samples = min(max(math.ceil(SAMPLES_S / max(first_s, 1e-6)), MIN_SAMPLES), MAX_SAMPLES)
    samples = sorted(elapsed_s(launch) for _ in range(num_samples))
    del launch
    hand_back(case)
    return samples[num_samples // 2] / repeats


def ready(case: Case) -> tuple[Callable[[], Any], int]:
    """What launches so many runs of a case, all allocated and warm."""
    _require_memory(case.needed_bytes)
    run = case.prepare()
    _warm_up(run)
    repeats = min(max(math.ceil(GRAPH_S / max(elapsed_s(run), 1e-6)), 1), MAX_REPEATS)
    launch = _graph(run, repeats) if case.in_graph else _loop(run, repeats)
    launch()
    return launch, repeats


def hand_back(case: Case) -> None:
    """Memory of a large case that has run."""
    import torch

    if case.needed_bytes > LARGE_BYTES:
        torch.cuda.empty_cache()


def _require_memory(needed_bytes: float) -> None:
    import torch

    free_bytes = torch.cuda.mem_get_info()[0] + torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
    if needed_bytes > MAX_SHARE * free_bytes:
        raise MemoryError(f"needs {needed_bytes / 1e9:.1f} GB of {free_bytes / 1e9:.1f} GB that are free")


def _warm_up(run: Callable[[], Any]) -> None:
    """Run on a stream of its own, as libraries ask for before a capture."""
    import torch

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(NUM_WARM_UP):
            run()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()


def _graph(run: Callable[[], Any], repeats: int) -> Callable[[], Any]:
    import torch

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(repeats):
            run()
    replay: Callable[[], Any] = graph.replay
    return replay


def _loop(run: Callable[[], Any], repeats: int) -> Callable[[], Any]:
    def launch() -> None:
        for _ in range(repeats):
            run()

    return launch


def elapsed_s(launch: Callable[[], Any]) -> float:
    """Seconds on the device from before a launch until its end."""
    import torch

    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    launch()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) / 1e3

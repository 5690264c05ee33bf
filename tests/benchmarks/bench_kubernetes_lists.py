"""Memory and time of a list of pods: `python -m tests.benchmarks.bench_kubernetes_lists --pods 20000`.

Pods as clusters have them (about 4 KB of JSON each), of which one in `--of` takes accelerators, are read by an informer
page by page, as a server without lists by a watch has it, and as the first events of a watch. Printed are the peak of
memory that Python holds for it, beside what the kept objects take, and CPU seconds.
"""

import argparse
import json
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from functools import partial

import httpx

from planner.integrations.kubernetes.client import PAGE, KubernetesClient, path_of
from planner.integrations.kubernetes.client_config import ClientConfig
from planner.integrations.kubernetes.informer import Informer
from planner.integrations.kubernetes.pods import takes_any
from tests.planner.integrations.kubernetes.history import INITIAL_END

GPU = "nvidia.com/gpu"


def pod(number: int, of: int) -> str:
    limits = {} if number % of else {"limits": {GPU: "8"}}
    variables = [{"name": f"VARIABLE_{i}", "value": f"{number} {i}".ljust(60)} for i in range(30)]
    main = {"name": "main", "image": "registry/image:1", "resources": limits, "env": variables}
    about = {"name": f"p{number}", "namespace": "a", "uid": f"u{number}", "resourceVersion": "7"}
    return json.dumps({"metadata": about, "spec": {"containers": [main]}, "status": {"phase": "Running"}})


def answer(request: httpx.Request, pods: int, of: int, has_streams: bool) -> httpx.Response:
    """What a server of so many pods says."""
    asked = request.url.params
    if asked.get("sendInitialEvents"):
        return httpx.Response(200, content=_events(pods, of)) if has_streams else httpx.Response(422, json={})
    first = int(asked.get("continue") or 0)
    last = min(first + PAGE, pods)
    about = {"resourceVersion": "7"} | ({"continue": str(last)} if last < pods else {})
    items = ",".join(pod(number, of) for number in range(first, last))
    return httpx.Response(200, text=f'{{"metadata": {json.dumps(about)}, "items": [{items}]}}')


def _events(pods: int, of: int) -> Iterator[bytes]:
    for number in range(pods):
        yield f'{{"type": "ADDED", "object": {pod(number, of)}}}\n'.encode()
    about = {"resourceVersion": "7", "annotations": {INITIAL_END: "true"}}
    yield json.dumps({"type": "BOOKMARK", "object": {"metadata": about}}).encode() + b"\n"


def measured(pods: int, of: int, has_streams: bool) -> tuple[float, float, float, int]:
    """Peak and kept bytes, CPU seconds (by a second reading), and pods that are kept."""
    found: list[float] = []
    for is_traced in (True, False):
        api = KubernetesClient(ClientConfig("http://127.0.0.1:1"))
        api.close()
        transport = httpx.MockTransport(partial(answer, pods=pods, of=of, has_streams=has_streams))
        api._client = httpx.Client(base_url="http://127.0.0.1:1", transport=transport)
        informer = Informer(api, path_of("v1", "pods"), keeps=lambda item: takes_any(item, [GPU]))
        began_s = time.process_time()
        if is_traced:
            tracemalloc.start()
        informer.refresh()
        if is_traced:
            kept, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            found += [peak, kept]
        else:
            found.append(time.process_time() - began_s)
        api.close()
    return found[0], found[1], found[2], len(informer.objects)


def main(arguments: Sequence[str] | None = None) -> dict[str, tuple[float, float, float, int]]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, default=20_000)
    parser.add_argument("--of", type=int, default=20, help="one pod in so many takes accelerators")
    given = parser.parse_args(arguments)
    found = {}
    for name, has_streams in (("pages", False), ("stream", True)):
        peak, kept, cpu_s, count = found[name] = measured(given.pods, given.of, has_streams)
        print(f"{name:6}  peak {peak / 1e6:7.1f} MB, kept {kept / 1e6:6.1f} MB of {count} pods, {cpu_s:5.2f} s of CPU")
    return found


if __name__ == "__main__":
    main()

"""Time of a pass through a transformer in plain Python, operator by operator."""

from typing import Any


def pass_time(m: dict[str, Any], e: dict[str, Any], r: dict[str, Any], batch: float, new: float, past: float) -> float:
    """Seconds of all layers and the vocabulary on one tensor rank, stages one after the other."""

    def load(size: float) -> float:
        return (size + r["s0"]) / (r["em"] * e["memory"])

    def product(flops: float, size: float) -> float:
        compute = (flops + r["f0"]) / (r["ec"] * e["flops"])
        return max(compute, load(size)) if r["overlap"] else compute + load(size)

    def matrix(tokens: float, rows: float, columns: float) -> float:
        return product(2 * tokens * rows * columns, r["w"] * rows * columns + r["a"] * tokens * (rows + columns))

    t, tokens = e["tensor"], batch * new
    query = m["heads"] * m["head_dim"] / t
    key = max(m["kv_heads"] / t, 1) * m["head_dim"]
    seen = past + (new + 1) / 2 if r["causal"] else past + new
    layer = 0.0
    layer += load(2 * r["a"] * tokens * m["hidden"])
    layer += matrix(tokens, m["hidden"], query + 2 * key)
    if r["fused"]:
        layer += product(
            4 * tokens * seen * query, 2 * r["a"] * tokens * query + 2 * r["kv"] * batch * (past + new) * key
        )
    else:
        scores = tokens * seen * m["heads"] / t
        size = r["a"] * (tokens * query + scores) + r["kv"] * batch * (past + new) * key
        layer += 2 * product(2 * tokens * seen * query, size) + load(2 * r["a"] * scores)
    layer += matrix(tokens, query, m["hidden"])
    layer += load(2 * r["a"] * tokens * m["hidden"])
    wide = 2 if m["gated"] else 1
    layer += matrix(tokens, m["hidden"], wide * m["ffn"] / t)
    layer += load(r["a"] * tokens * (wide + 1) * m["ffn"] / t)
    layer += matrix(tokens, m["ffn"] / t, m["hidden"])
    if not r["residuals_fused"]:
        layer += 2 * load(3 * r["a"] * tokens * m["hidden"])
    if t > 1 and e["link"]:
        layer += 2 * (r["start"] + 2 * (t - 1) / t * r["a"] * tokens * m["hidden"] / (r["en"] * e["link"]))
    layer += r["tau"]
    head = matrix(batch, m["hidden"], m["vocabulary"] / t) + load(2 * r["a"] * batch * m["hidden"])
    sent = (e["stages"] - 1) * r["a"] * tokens * m["hidden"] / t / e["stage_link"]
    return m["layers"] * layer + head + sent

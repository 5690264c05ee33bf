"""One collective inside a node, in plain arithmetic."""

from costmodel.kernels.collective import CollectiveCurve


def node_collective_s(operation: str, n: int, size: float, c: CollectiveCurve) -> float:
    if n == 1 or size == 0:
        return 0.0
    time_s = c.launch_s
    if operation == "alltoall":
        time_s += c.exchange_s
        packets_s = size / c.exchange_packet_bytes_per_s
        bulk_s = c.exchange_fill_s + (n - 1) * (size / n) / c.link_bytes_per_s + (size / n) / c.copy_bytes_per_s
    else:
        rounds = 2 if operation == "all_reduce" else 1
        time_s += sum(c.step_s for _ in range(rounds * (n - 1)))
        packets_s = rounds * size / c.packet_bytes_per_s
        fill_s = c.fill_s + sum(c.step_fill_s for _ in range(rounds * (n - 1)))
        moved_s = (
            sum((size / n) / c.link_bytes_per_s for _ in range(rounds * (n - 1))) + (size / n) / c.copy_bytes_per_s
        )
        if operation == "all_reduce" and n >= 8:
            moved_s *= c.in_switch_share
        bulk_s = fill_s + moved_s
    x = size / 8000.0
    time_s += c.widening_s * x / (1.0 + x)
    return time_s + (packets_s**-6 + bulk_s**-6) ** (-1 / 6)

"""Names of what lives in a second memory tier: some of weights, activations and optimizer state."""

from costmodel.parallelism.mappings import OFFLOAD


def offload_code(choice: str) -> int:
    """Number of a choice such as "weights+optimizer" in `Mappings.offload`; ValueError names the right form."""
    if choice == "none":
        return 0
    parts = choice.split("+")
    if len(set(parts)) < len(parts) or not set(parts) <= set(OFFLOAD):
        raise ValueError(f"offload: '{choice}' is not 'none' or some of {', '.join(OFFLOAD)} joined by +")
    return sum(1 << bit for bit, name in enumerate(OFFLOAD) if name in parts)


def offload_name(code: int) -> str:
    return "+".join(name for bit, name in enumerate(OFFLOAD) if code >> bit & 1) or "none"

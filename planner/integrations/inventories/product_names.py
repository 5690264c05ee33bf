"""Names of accelerators, as drivers and clouds write them, and the device of the catalog that each is."""

import re

from costmodel.hardware.device import device_names

_PRODUCTS = (
    (r"a100(sxm)?4?(80gb)?", "a100-sxm"),
    (r"h100(mega)?(sxm)?5?(80gb)?(hbm3)?", "h100-sxm"),
    (r"h200(sxm)?5?(141gb)?", "h200-sxm"),
    (r"h800(sxm)?5?(80gb)?(hbm3)?", "h800-sxm"),
    (r"b200(sxm)?6?(180gb)?", "b200-sxm"),
    (r"b300(sxm)?6?(ac)?", "b300-sxm"),
    (r"gb200", "gb200"),
    (r"gb300", "gb300"),
    (r"mi300x(oam)?", "mi300x"),
    (r"mi325x(oam)?", "mi325x"),
    (r"mi355x(oam)?", "mi355x"),
    (r"(hl225|gaudi2?)", "gaudi2"),
    (r"tpuv4(podslice)?", "tpu-v4"),
    (r"tpuv5p(slice)?", "tpu-v5p"),
    (r"tpuv6e(slice)?", "tpu-v6e"),
    (r"tpu(v?7x?)(slice)?", "tpu-v7"),
)
"""pattern of a whole name, without maker, hyphens and capital letters; GKE's nvidia-tesla-a100 has 40 GB and is none"""
_MAKERS = re.compile(r"^(nvidia|amd|instinct|intel|habana|google)+")


def device_of(product: str) -> str | None:
    """Device of the catalog of this name; None for one that the catalog does not have, such as a PCIe card, a part of
    one (MIG) or one that is shared."""
    plain = _MAKERS.sub("", re.sub(r"[^a-z0-9]", "", product.lower()))
    for pattern, device in _PRODUCTS:
        if re.fullmatch(pattern, plain) and device in device_names():
            return device
    return product if product in device_names() else None

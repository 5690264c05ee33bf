"""A small transformer on two servers of eight, as tests of steps price it."""

from costmodel.fabrics import FatTree

FABRIC = FatTree.model_validate(
    {
        "kind": "fat_tree",
        "servers": 2,
        "gpus_per_server": 8,
        "nvlink_bandwidth": "450 GB/s",
        "nvlink_alpha": "1 us",
        "nvlink_energy": "10 pJ/b",
        "network_bandwidth": "50 GB/s",
        "network_alpha": "5 us",
        "network_energy": "20 pJ/b",
    }
)
SHAPE = {"layers": 12, "hidden": 768, "heads": 12, "kv_heads": 12, "head_dim": 64, "ffn": 3072, "vocabulary": 50257}

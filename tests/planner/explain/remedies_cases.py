"""Shared by the tests of `remedies`."""

FAT_TREE = {
    "kind": "fat_tree", "servers": 2, "gpus_per_server": 4, "nvlink_bandwidth": "450 GB/s",
    "nvlink_alpha": "2 us", "nvlink_energy": "10 pJ/b", "network_bandwidth": "50 GB/s",
    "network_alpha": "5 us", "network_energy": "20 pJ/b",
}  # fmt: skip

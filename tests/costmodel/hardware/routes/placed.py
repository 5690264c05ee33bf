"""Shared by the tests of `pairs` and `parts`."""

PICOJOULE_PER_BIT = 8e-12
ELECTRICAL = {"tray": 50, "rack": 165, "inter_rack": 235, "tray_memory": 130, "datastore": 270}
TEXT = {"tray": 10, "rack": 35, "inter_rack": 85, "tray_memory": 10, "datastore": 110}
SETS = {"routes-electrical": ELECTRICAL, "routes-photonic-text": TEXT}

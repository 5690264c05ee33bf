"""Shared by the tests of `derive` and `limits`."""

from costmodel.hardware.device import load_device

A100, H100 = load_device("a100-sxm"), load_device("h100-sxm")

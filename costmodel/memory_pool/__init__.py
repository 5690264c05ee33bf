"""Photonic I/Os of an accelerator, divided between memory and network for each workload.

Source: Wu and Bergman, Flexible Photonic Memory Pooling Architecture For Efficient Compute Resource Allocation
(SiPAM), 2025.
"""

"""Shared by the tests of `dlrm` and `recommenders`."""

from costmodel.workloads import Dlrm

TRAIN = Dlrm(mode="training", model="dlrm-dcnv2", batch=65536)

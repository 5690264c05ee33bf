"""Shared by the tests of `memory_study` and `timeline`."""

from costmodel.dataflow.streams.memory_study import load_memory_study

STUDY = load_memory_study("mc-dla")
NETWORKS = ("AlexNet", "GoogLeNet", "VGG-E", "ResNet", "RNN-GEMV", "RNN-LSTM-1", "RNN-LSTM-2", "RNN-GRU")

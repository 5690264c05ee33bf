"""Options that describe a model and a system where there is no instance file."""

from typing import Annotated, Any, Literal

import typer

from planner.cli import completions

Phase = Literal["training", "inference"]
PrecisionName = Literal["fp32", "bf16", "fp16", "fp8", "int8", "fp4"]

ModelName = Annotated[
    str | None,
    typer.Option(
        "--workload",
        metavar="MODEL",
        autocompletion=completions.models,
        help="A model instead of an instance: of the catalog, such as llama-3.1-70b or dlrm-dcnv2, or a file of sizes.",
    ),
]
PhaseOption = Annotated[Phase, typer.Option("--phase", help="What to run.")]
DeviceName = Annotated[
    str,
    typer.Option(
        "--device",
        metavar="NAME",
        autocompletion=completions.devices,
        help="A device of the catalog, or a file that describes one.",
    ),
]
NumDevices = Annotated[int, typer.Option("--devices", min=1, max=1 << 15, metavar="N", help="How many accelerators.")]
GlobalBatch = Annotated[
    int, typer.Option("--batch", min=1, help="Training: sequences of a step. Other models: samples of a step.")
]
SequenceTokens = Annotated[int, typer.Option("--sequence", min=1, help="Training: tokens of a sequence.")]
Concurrency = Annotated[int, typer.Option("--concurrency", min=1, help="Inference: users served at once.")]
InputTokens = Annotated[int, typer.Option("--input", min=1, help="Inference: tokens of a prompt.")]
OutputTokens = Annotated[int, typer.Option("--output", min=1, help="Inference: tokens of an answer.")]
PrecisionOption = Annotated[PrecisionName, typer.Option("--precision", help="Precision of matrix products.")]
Backend = Annotated[
    str,
    typer.Option("--backend", help="Inference: the software that serves: trtllm, vllm, sglang, or generic."),
]
SystemName = Annotated[
    str | None,
    typer.Option("--system", metavar="NAME", help="Servers and network; those sold with the device unless given."),
]
PlotPath = Annotated[
    str | None,
    typer.Option("--plot", metavar="FILE.png", help="Draw the Pareto front and the roofline of the best mapping."),
]


def _degree(name: str, what: str) -> Any:
    return typer.Option(f"--{name}", min=1, help=f"With --workload: this degree of {what} parallelism alone.")


TensorDegree = Annotated[int | None, _degree("tp", "tensor")]
PipelineDegree = Annotated[int | None, _degree("pp", "pipeline")]
DataDegree = Annotated[int | None, _degree("dp", "data")]
ContextDegree = Annotated[int | None, _degree("cp", "context")]
ExpertDegree = Annotated[int | None, _degree("ep", "expert")]

OF_SERVING = frozenset(("concurrency", "input_tokens", "output_tokens", "backend"))
"""parameters that training has not"""
OF_TRAINING = frozenset(("sequence",))
"""parameters that serving has not"""

"""Tables of measurements: kinds by columns, and each thing that a file may have wrong."""

from pathlib import Path

import numpy as np
import pytest

from planner.model.errors import InputError
from planner.tables import concatenate, csv_text, read_table

HEADER = "device,op_name,num_gpus,message_bytes,latency_ms\n"
ROW = "h100,all_gather,8,1048576,0.015\n"


def _written(folder: Path, text: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_columns_tell_the_kind_and_lines_count_from_the_header(tmp_path: Path) -> None:
    table = read_table(_written(tmp_path, "\ufeff" + HEADER + ROW + "\n, ,\n".replace(", ,", "") + ROW))
    assert table.kind == "nccl"
    assert table.lines.tolist() == [2, 5]
    assert table.columns["op_name"].tolist() == ["all_gather"] * 2
    assert table.columns["message_bytes"].dtype == np.float64


def test_other_columns_are_of_no_account(tmp_path: Path) -> None:
    text = "note," + HEADER + "x y," + ROW
    assert "note" not in read_table(_written(tmp_path, text)).columns


def test_tables_of_one_kind_are_joined(tmp_path: Path) -> None:
    tables = [read_table(_written(tmp_path, HEADER + ROW * count, f"{count}.csv")) for count in (1, 2)]
    assert len(concatenate(tables)["latency_ms"]) == 3


def test_joined_rows_are_blank_where_their_table_lacks_a_column(tmp_path: Path) -> None:
    header = "device,model,devices,layers,seq_len,tp,cp,pp,dp,interleave,micro_batch,micro_batches,recompute,step_s"
    row = "b200,llama3-70b,8,4,4096,2,1,1,4,1,1,4,none,1.0"
    plain = _written(tmp_path, f"{header}\n{row}\n", "plain.csv")
    told = _written(tmp_path, f"{header},precision,zero_stage\n{row},fp8,1\n", "told.csv")
    joined = concatenate([read_table(path, "training") for path in (plain, told)])
    assert joined["precision"].tolist() == ["", "fp8"]
    assert np.isnan(joined["zero_stage"]).tolist() == [True, False]


ATTENTION = "device,attn_dtype,kv_cache_dtype,batch_size,isl,step,num_heads,num_key_value_heads,head_dim,latency_ms\n"
ATTENTION_ROW = "h100,bfloat16,bfloat16,1,1,64,8,8,128,0.01\n"


def test_where_columns_fit_two_kinds_the_name_or_the_option_tells(tmp_path: Path) -> None:
    text = ATTENTION + ATTENTION_ROW
    assert read_table(_written(tmp_path, text, "attention_generation.csv")).kind == "attention_generation"
    path = _written(tmp_path, text)
    assert read_table(path, "attention_context").kind == "attention_context"
    with pytest.raises(InputError, match="several kinds; say which with --kind: attention_context or attention_gen"):
        read_table(path)


STEPS = (
    "device,devices,model,layers,seq_len,tp,cp,pp,dp,interleave,micro_batch,micro_batches,recompute,step_s,zero_stage\n"
    "h100,8,llama3-70b,12,4096,1,1,2,4,1,1,4,none,0.8,"
)
WRONG: dict[str, tuple[str | bytes, str | None, str, str]] = {
    "missing column": (
        "device,op_name,num_gpus,message_bytes\nh100,all_gather,8,1\n", None, "latency_ms", "of kind nccl",
    ),
    "misspelled column": (HEADER.replace("num_gpus", "num_gpu") + ROW, "nccl", "num_gpus", "did you mean 'num_gpu'?"),
    "other kind": (HEADER + ROW, "attention_context", "attn_dtype", "a table of kind attention_context has"),
    "unknown kind": (HEADER + ROW, "nccll", "'nccll'", "kinds are: "),
    "unknown device": (HEADER + ROW + ROW.replace("h100", "h1000"), None, "device", "line 3: unknown device 'h1000'"),
    "text for a number": (
        HEADER + ROW + "\n" + ROW.replace("8,", "eight,"), None, "num_gpus", "'eight' at line 4 is no finite number",
    ),
    "infinite": (HEADER + ROW.replace("0.015", "inf"), None, "latency_ms", "'inf' at line 2 is no finite number"),
    "blank cell": (HEADER + ROW.replace("0.015", ""), None, "latency_ms", "the cell at line 2 is blank"),
    "blank name": (HEADER + ROW.replace("all_gather", " "), None, "op_name", "line 2 is blank"),
    "beyond bounds": (
        "device,kernel,precision,flops,bytes,latency_ms,power_w\nh100,gemm,bf16,-1e9,0,1,300\n", None, "flops",
        "line 2: -1e+09 is none of 0 up; correct it",
    ),
    "no such stage": (STEPS + "4\n", "training", "zero_stage", "line 2: 4 is none of 0 to 3; correct it"),
    "no rows": (HEADER, None, "", "has a header but no rows"),
    "empty": ("", None, "", "is empty"),
    "blank": (" \n\n", None, "", "is empty"),
    "commas alone": (",,\n,,\n", None, "", "is empty"),
    "not UTF-8": (b"a,b\n\xff\xfe,1\n", None, "byte 4", "is not UTF-8"),
    "ragged": ("a,b\n1,2,3\n", None, "", "no table with one row a line"),
    "open quote": (HEADER + '"h100,', None, "", "no table with one row a line"),
    "two columns of one name": (HEADER.replace("op_name", "device") + ROW, None, "device", "of two columns"),
    "semicolons": (HEADER.replace(",", ";") + ROW.replace(",", ";"), None, "", "columns of no kind of table"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named(tmp_path: Path, case: str) -> None:
    text, kind, field, problem = WRONG[case]
    with pytest.raises(InputError) as caught:
        read_table(_written(tmp_path, text), kind)
    assert caught.value.field.startswith(field)
    assert problem in caught.value.problem


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"does not exist; name a \.csv file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(InputError, match="is a directory"):
        read_table(tmp_path)


def test_records_are_written_with_a_header_and_none_as_an_empty_cell() -> None:
    records = [{"name": "a,b", "value": 0.1, "gap": None}, {"name": 'c"', "value": 3, "gap": True}]
    assert csv_text(records) == 'name,value,gap\n"a,b",0.1,\n"c""",3,True\n'
    assert csv_text([]) == ""

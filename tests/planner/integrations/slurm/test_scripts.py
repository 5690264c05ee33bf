"""What becomes of jobs as they are submitted and changed: held, refused with a reason, or left alone."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.planner.integrations.slurm.lua import INFINITE, NO_VAL, Fields, modify, submit

GRAMMAR = re.compile(r"photonplan:nodes=\d{1,10}-\d{1,10}:gpus=\d{1,10}:type=[A-Za-z0-9_][A-Za-z0-9_.-]{0,39}")
SITE = '{partitions = {["gpu"] = true, ["big"] = true}, gpus_per_node = 8, admins = {[0] = true, [64030] = true}}'
PER = ("tres_per_job", "tres_per_node", "tres_per_task", "tres_per_socket")
TWO = {"min_nodes": 2, "max_nodes": 2}
HOSTILE = (
    "gpu:2\nadmin_comment=x", "gpu:$(reboot):2", "gpu:`id`:1", 'gpu:a":1', "gpu:a'b:1", "gpu:a:b:1", "gpu:-b:1",
    "gpu:2;x", "gpu:a=2", "gpu=2", "gpu:1K", "gpu:-1", "gpu:1e3", "gpu:0x8", "gpu:2 ", " gpu:2", "gpu:2:", "gpu::2",
    "gpu:\x00:1",
    "gpu:%s:1", "gpu:2*cpu", "GPU:2", "gpu:9999999", "gpu:a100:2,gpu:h100:2", "gpu:2,gpu:2", "gpu:\x7f:1", "gpu:\xe9:1",
    "gres:gres:gpu:2", "gpu:a100:2(S:0)", "gpu:" + "x" * 41 + ":1", "nic:1\ngpu:2",
)  # fmt: skip


def held(job: Fields) -> str:
    """Words after the mark; AssertionError where the job was not held as it must be."""
    (answer,) = submit([job], site=SITE)
    assert (answer.code, answer.said) == (0, "")
    comment = answer.fields["admin_comment"]
    assert isinstance(comment, str)
    assert GRAMMAR.fullmatch(comment)
    assert answer.fields["priority"] == 0
    assert not any("gpu" in str(answer.fields.get(field, "")) for field in (*PER, "tres_bind"))
    assert answer.fields.get("tres_per_task", "") == ("cpu=4" if "cpu" in str(job.get("tres_per_task")) else "")
    nodes = re.search(r"nodes=(\d+)-(\d+)", comment)
    assert nodes is not None
    assert (answer.fields["min_nodes"], answer.fields["max_nodes"]) == (int(nodes[1]), int(nodes[2]))
    return comment.removeprefix("photonplan:")


def refused(job: Fields) -> str:
    """What the user is told."""
    (answer,) = submit([job], site=SITE)
    assert answer.code == -1
    assert answer.said.startswith("photonplan: ")
    assert "administrator" not in answer.said
    assert "admin_comment" not in answer.fields
    return answer.said


@pytest.mark.parametrize(
    ("job", "words"),
    [
        ({"tres_per_node": "gres:gpu:2"}, "nodes=1-1:gpus=2:type=any"),
        ({"tres_per_node": "gres:gpu"}, "nodes=1-1:gpus=1:type=any"),
        ({"tres_per_node": "gres:gpu:a100:4"} | TWO, "nodes=2-2:gpus=4:type=a100"),
        ({"tres_per_node": "gres:gpu:a100"}, "nodes=1-1:gpus=1:type=a100"),
        ({"tres_per_node": "gres/gpu:nvidia_a100-sxm4-80gb:4"}, "nodes=1-1:gpus=4:type=nvidia_a100-sxm4-80gb"),
        ({"tres_per_node": "gres/gpu:mi300x.spx"}, "nodes=1-1:gpus=1:type=mi300x.spx"),
        ({"tres_per_node": "gres:gpu:8", "min_nodes": 2, "max_nodes": 4}, "nodes=2-4:gpus=8:type=any"),
        ({"tres_per_node": "gres:gpu:8", "min_nodes": 3}, "nodes=3-3:gpus=8:type=any"),
        ({"tres_per_node": "gres:gpu:4", "num_tasks": 16, "ntasks_per_node": 8}, "nodes=2-2:gpus=4:type=any"),
        ({"tres_per_node": "gres:gpu:4", "num_tasks": 4}, "nodes=1-1:gpus=4:type=any"),
        ({"tres_per_job": "gres:gpu:6"}, "nodes=1-1:gpus=6:type=any"),
        ({"tres_per_job": "gres:gpu:h100:24"}, "nodes=3-3:gpus=8:type=h100"),
        ({"tres_per_job": "gres:gpu:12"} | TWO, "nodes=2-2:gpus=6:type=any"),
        ({"tres_per_job": "gres:gpu:4", "tres_per_node": "gres:gpu:2"}, "nodes=2-2:gpus=2:type=any"),
        ({"tres_per_task": "gres:gpu:1", "ntasks_per_node": 4, "num_tasks": 8} | TWO, "nodes=2-2:gpus=4:type=any"),
        ({"tres_per_task": "gres:gpu:2", "num_tasks": 4}, "nodes=1-1:gpus=8:type=any"),
        ({"tres_per_task": "gres:gpu:2", "num_tasks": 8}, "nodes=2-2:gpus=8:type=any"),
        ({"tres_per_task": "gres:gpu:1", "num_tasks": 6} | TWO, "nodes=2-2:gpus=3:type=any"),
        ({"tres_per_task": "gres:gpu:3"}, "nodes=1-1:gpus=3:type=any"),
        ({"tres_per_node": "gres:gpu:8", "shared": 0}, "nodes=1-1:gpus=8:type=any"),
        ({"tres_per_node": "gres/gpu:a100:4", "tres_per_task": "cpu=4"} | TWO, "nodes=2-2:gpus=4:type=a100"),
        (
            {"tres_per_task": "cpu=4,gres/gpu:a100=1", "num_tasks": 4, "tres_bind": "gres/gpu:per_task:1"},
            "nodes=1-1:gpus=4:type=a100",
        ),
        ({"tres_per_task": "gres/gpu=1", "num_tasks": 8, "ntasks_per_node": 4} | TWO, "nodes=2-2:gpus=4:type=any"),
        ({"tres_per_node": "gres:gpu:2", "array_inx": "0-9%4"}, "nodes=1-1:gpus=2:type=any"),
        ({"tres_per_node": "gres:gpu:2", "partition": "big"}, "nodes=1-1:gpus=2:type=any"),
        ({"tres_per_node": "gres:gpu:2", "partition": "big,gpu"}, "nodes=1-1:gpus=2:type=any"),
        ({"tres_per_node": "gres:gpu:2,gres:gpu:0"[:10]}, "nodes=1-1:gpus=2:type=any"),
    ],
)
def test_a_gpu_job_is_held(job: Fields, words: str) -> None:
    assert held(job) == words


@pytest.mark.slow
@pytest.mark.parametrize(
    ("job", "said"),
    [
        ({"tres_per_node": "gres:gpu:9"}, "9 GPUs on a node are more than the 8"),
        ({"tres_per_job": "gres:gpu:12"}, "12 GPUs are no whole nodes of 8"),
        ({"tres_per_job": "gres:gpu:5"} | TWO, "5 GPUs do not divide over 2 nodes"),
        ({"tres_per_job": "gres:gpu:8", "min_nodes": 1, "max_nodes": 2}, "give one number of nodes"),
        ({"tres_per_job": "gres:gpu:9", "tres_per_node": "gres:gpu:2"}, "do not agree"),
        ({"tres_per_job": "gres:gpu:8", "tres_per_node": "gres:gpu:2"} | TWO, "do not agree"),
        ({"tres_per_job": "gres:gpu:a:2", "tres_per_node": "gres:gpu:b:2"}, "of one type"),
        ({"tres_per_task": "gres:gpu:3", "num_tasks": 8}, "lie on two nodes"),
        ({"tres_per_task": "gres:gpu:1", "tres_per_node": "gres:gpu:2"}, "either --gpus-per-task"),
        ({"tres_per_socket": "gres:gpu:1"}, "--gpus-per-node"),
        ({"tres_per_node": "gres:gpu:2", "num_tasks": 16}, "give -N, or --ntasks-per-node"),
        ({"tres_per_node": "gres:gpu:2,gres:nic:1"}, "leave the others out"),
        ({"tres_per_node": "gres:shard:1"}, "shares a GPU"),
        ({"tres_per_node": "gres:gpu:2", "shared": 0}, "--exclusive"),
        ({"tres_per_node": "gres:gpu:2", "priority": 0}, "--hold"),
        ({"tres_per_node": "gres:gpu:2", "het_job_offset": 0}, "one by one"),
        ({"tres_per_node": "gres:gpu:2", "req_nodes": "n1"}, "--nodelist"),
        ({"tres_per_node": "gres:gpu:2", "exc_nodes": "n1"}, "--exclude"),
        ({"tres_per_node": "gres:gpu:2", "features": "x"}, "--constraint"),
        ({"tres_per_node": "gres:gpu:2", "cpus_per_tres": "gres:gpu:2"}, "--cpus-per-task"),
        ({"tres_per_node": "gres:gpu:2", "tres_bind": "gpu:single:1"}, "--gpu-bind"),
        ({"tres_per_node": "gres:gpu:2", "partition": "gpu,cpu"}, "name one partition"),
        *(({"tres_per_node": text}, "cannot read") for text in HOSTILE),
    ],
)
def test_what_cannot_be_planned_is_refused_with_a_remedy(job: Fields, said: str) -> None:
    assert said in refused(job)


@pytest.mark.parametrize(
    "job",
    [
        {},
        {"num_tasks": 500, "array_inx": "1-3", "req_nodes": "n1", "partition": "gpu,cpu"},
        {"tres_per_node": "gres:nic:1"},
        {"tres_per_node": "gres:gpu:0"},
        {"tres_per_node": "gres:gpu:2", "partition": "cpu"},
        {"tres_per_node": "gres:shard:2", "partition": "cpu"},
    ],
)
def test_other_jobs_are_left_alone(job: Fields) -> None:
    (answer,) = submit([job], site=SITE)
    assert (answer.code, answer.said) == (0, "")
    assert {key: answer.fields[key] for key in job} == dict(job)
    assert "admin_comment" not in answer.fields
    assert answer.fields["priority"] == NO_VAL


def test_all_partitions_are_planned_where_none_is_named() -> None:
    (answer,) = submit([{"tres_per_node": "gres:gpu:2", "partition": "cpu"}])
    assert answer.fields["admin_comment"] == "photonplan:nodes=1-1:gpus=2:type=any"


def test_an_error_of_our_own_lets_no_job_through() -> None:
    (answer,) = submit([{"tres_per_node": "gres:gpu:2"}], site="{partitions = {}, gpus_per_node = nil, admins = {}}")
    assert answer.code == -1
    assert "administrator" in answer.said


_pieces = st.sampled_from(
    ["gpu", "gres:", "gres/", ":", ",", "2", "0", "a100", "nic", "%d", "$(id)", "`", '"', "\n", "\\"]
)
_texts = st.one_of(st.lists(_pieces, max_size=8).map("".join), st.text(max_size=20), st.sampled_from(HOSTILE))
_numbers = st.sampled_from([0, 1, 2, 3, 8, 16, 65535, NO_VAL - 1])
_jobs = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys((*PER, "partition", "comment", "name", "account", "array_inx", "features"), _texts)
    | dict.fromkeys(("min_nodes", "max_nodes", "num_tasks", "ntasks_per_node", "shared"), _numbers),
)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(_jobs, min_size=10, max_size=30), st.booleans())
def test_whatever_goes_in_what_comes_out_is_of_the_grammar(jobs: list[Fields], is_everywhere: bool) -> None:
    answers = submit(jobs, site=None if is_everywhere else SITE)
    assert len(answers) == len(jobs)
    for job, answer in zip(jobs, answers, strict=True):
        if answer.code != 0:
            assert answer.said.isascii()
            assert answer.said.isprintable()
            assert "administrator" not in answer.said
        elif "admin_comment" in answer.fields:
            assert GRAMMAR.fullmatch(str(answer.fields["admin_comment"]))
            assert answer.fields["priority"] == 0
            assert not any(answer.fields.get(field) for field in PER)
        elif is_everywhere:
            tokens = [token for field in PER for token in str(job.get(field, "")).split(",")]
            assert not [
                t for t in tokens if "gpu" in t.lower() and not re.fullmatch(r"(gres[:/])?gpu:(\w+:)?0+", t, re.A)
            ]


OURS = {"admin_comment": "photonplan:nodes=2-2:gpus=4:type=any why=light", "time_limit": 60, "partition": "gpu"}
THEIRS = {"partition": "gpu", "time_limit": 60}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "job", "is_allowed"),
    [
        ({"priority": INFINITE}, OURS, False),
        ({"priority": 0}, OURS, False),
        ({"nice": 5}, OURS, False),
        ({"req_nodes": "n1"}, OURS, False),
        ({"req_nodes": ""}, OURS, False),
        ({"min_nodes": 1}, OURS, False),
        ({"tres_per_node": "gres:gpu:8"}, OURS, False),
        ({"admin_comment": "photonplan:nodes=1-1:gpus=1:type=any"}, OURS, False),
        ({"features": "x"}, OURS, False),
        ({"partition": "cpu"}, OURS, False),
        ({"dependency": "singleton"}, OURS, False),
        ({"begin_time": 1795306333}, OURS, False),
        ({"time_limit": 61}, OURS, False),
        ({"time_limit": INFINITE}, OURS, False),
        ({"time_limit": 59}, OURS, True),
        ({"comment": "workload=llama"}, OURS, True),
        ({"name": "$(reboot)"}, OURS, True),
        ({"priority": INFINITE}, THEIRS, True),
        ({"req_nodes": "n1"}, THEIRS, True),
        ({"tres_per_node": "gres:gpu:1"}, THEIRS, False),
        ({"tres_per_job": "gres:gpu:1"}, THEIRS, False),
        *(({"tres_per_node": f"gres:{name}:4"}, THEIRS, False) for name in ("shard", "mps", "GPU")),
        ({"tres_per_node": "gres:nic:1"}, THEIRS, True),
        ({"tres_per_node": "gres:gpu:1"}, {"partition": "cpu"}, True),
        ({"partition": "gpu"}, {"partition": "cpu", "tres_per_node": "gres:gpu:1"}, False),
        ({"partition": "gpu"}, {"partition": "cpu"}, True),
        ({"partition": "cpu,gpu"}, {"partition": "cpu", "tres_per_job": "gres:gpu:1"}, False),
    ],
)
def test_users_change_what_is_theirs_alone(change: Fields, job: Fields, is_allowed: bool) -> None:
    for uid, expected in ((1000, is_allowed), (0, True), (64030, True)):
        (answer,) = modify([(change, job)], uid=uid, site=SITE)
        assert answer.code == (0 if expected else 2002)


RUNS = (
    '{partitions = {}, gpus_per_node = 3, admins = {[0] = true}, nodes = 64, default_workload = "bert", '
    'types = {["a100"] = true}, tried = {[1] = 64, [2] = 9, [3] = 64}, '
    'runs = {["bert"] = {[1] = "1-4,6,8", [2] = "2", [3] = ""}, ["llama"] = {[1] = "", [2] = "", [3] = ""}}}'
)


@pytest.mark.parametrize(
    ("job", "said"),
    [
        ({"min_nodes": 5, "max_nodes": 5}, "bert can never run on 5 nodes with 1 GPUs on each; .* on 1-4,6,8 nodes"),
        ({"min_nodes": 9, "max_nodes": 64}, "bert can never run on 9 nodes"),
        ({"tres_per_node": "gpu:3"}, "bert can never run with 3 GPUs on a node; it runs with 1, 2"),
        ({"comment": "workload=llama"}, "llama can never run with 1 GPUs on a node; it runs with no number of them"),
        ({"min_nodes": 65, "max_nodes": 70}, "65 nodes are asked for; the planner has 64"),
        ({"tres_per_node": "gpu:h100:1"}, "no node has GPUs of the type h100"),
        ({"comment": "workload=gpt"}, "there is no workload gpt; there are: bert, llama"),
        ({"comment": "workload=$(id)"}, r"--comment workload=\?\?id\? is not understood; give, each once: workload="),
        ({"comment": "workload=bert workload=bert"}, "is not understood"),
        ({"comment": "bert"}, "is not understood"),
    ],
)
def test_what_can_never_run_is_refused_with_the_reason(job: Fields, said: str) -> None:
    (answer,) = submit([{"tres_per_node": "gres:gpu:1"} | job], site=RUNS)
    assert answer.code == -1
    assert re.search(said, answer.said), answer.said
    assert "admin_comment" not in answer.fields


@pytest.mark.parametrize(
    "job",
    [
        {"min_nodes": 4, "max_nodes": 4},
        {"min_nodes": 5, "max_nodes": 7},
        {"min_nodes": 6},
        {
            "tres_per_node": "gpu:A100:2",
            "min_nodes": 2,
            "max_nodes": 2,
            "comment": "weight=2,utility=x workload=bert",
        },
        {"tres_per_node": "gpu:2", "min_nodes": 10, "max_nodes": 10},
    ],
)
def test_what_can_run_or_was_not_tried_is_held(job: Fields) -> None:
    (answer,) = submit([{"tres_per_node": "gres:gpu:1"} | job], site=RUNS)
    assert (answer.code, answer.said) == (0, "")
    assert answer.fields["priority"] == 0

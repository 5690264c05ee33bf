"""Run exported schedules under MPI on real buffers and compare the result on every rank.

    mpirun -n 8 python3 tests/mpi/run_schedule.py job.data.circuits.json

Reads the schedule of each file of circuits (or a schedule alone), one after the other. Each rank fills its buffer with
numbers of its own, every transfer is a message, and the first prints "rank R: right" for each that ends with what it
should. Needs no package beside mpi4py.
"""

import json
import sys
from array import array
from pathlib import Path

CHUNK = 64
"""numbers in a chunk"""


def value(rank: int, chunk: int, index: int) -> int:
    return (rank + 1) * 1_000_003 + chunk * 997 + index * index


def part(rank: int, chunk: int) -> array:
    return array("q", (value(rank, chunk, index) for index in range(CHUNK)))


def total(ranks: int, chunk: int) -> array:
    return array("q", (sum(value(rank, chunk, index) for rank in range(ranks)) for index in range(CHUNK)))


def initial(schedule: dict, rank: int) -> dict[int, array]:
    """Slots that a rank holds at first."""
    ranks, chunks = schedule["ranks"], schedule["num_chunks"]
    collective = schedule["collective"]
    if collective == "all_to_all":
        return {rank * ranks + other: part(rank, other) for other in range(ranks)}
    if collective == "all_gather":
        return {rank: part(rank, rank)}
    if collective == "broadcast":
        return {chunk: part(0, chunk) for chunk in range(chunks)} if rank == 0 else {}
    return {chunk: part(rank, chunk) for chunk in range(chunks)}


def expected(schedule: dict, rank: int) -> dict[int, array]:
    """Slots that a rank must hold at last."""
    ranks, chunks = schedule["ranks"], schedule["num_chunks"]
    collective = schedule["collective"]
    if collective == "all_to_all":
        return {other * ranks + rank: part(other, rank) for other in range(ranks)}
    if collective == "all_gather":
        return {chunk: part(chunk, chunk) for chunk in range(chunks)}
    if collective == "broadcast":
        return {chunk: part(0, chunk) for chunk in range(chunks)}
    return {chunk: total(ranks, chunk) for chunk in ([rank] if collective == "reduce_scatter" else range(chunks))}


def put(held: dict[int, array], slot: int, values: array, adds: int) -> None:
    held[slot] = array("q", (a + b for a, b in zip(held[slot], values, strict=True))) if adds else array("q", values)


def run(schedule: dict, comm: object, mpi: object) -> dict[int, array]:
    """All rounds of this rank; a round reads what was there before it."""
    me = comm.Get_rank()
    held = initial(schedule, me)
    for each in schedule["rounds"]:
        requests, arriving, local = [], [], []
        for tag, (sender, receiver, chunk, target, count, adds) in enumerate(each["transfers"]):
            if me == sender:
                message = array("q", b"".join(held[chunk + offset].tobytes() for offset in range(count)))
                if sender == receiver:
                    local.append((target, count, adds, message))
                else:
                    requests.append(comm.Isend([message, mpi.INT64_T], dest=receiver, tag=tag))
                    local.append((target, 0, adds, message))
            elif me == receiver:
                message = array("q", bytes(8 * CHUNK * count))
                requests.append(comm.Irecv([message, mpi.INT64_T], source=sender, tag=tag))
                arriving.append((target, count, adds, message))
        mpi.Request.Waitall(requests)
        for target, count, adds, message in arriving + local:
            for offset in range(count):
                put(held, target + offset, message[offset * CHUNK : (offset + 1) * CHUNK], adds)
    return held


def compare(schedule: dict, comm: object, mpi: object) -> bool:
    """Run a schedule, print what each rank has, and tell whether this one is right."""
    if comm.Get_size() != schedule["ranks"]:
        raise ValueError(f"the schedule is for {schedule['ranks']} ranks, mpirun started {comm.Get_size()}")
    held = run(schedule, comm, mpi)
    right = all(held.get(slot) == values for slot, values in expected(schedule, comm.Get_rank()).items())
    verdicts = comm.gather(right)
    if verdicts is not None:
        print("\n".join(f"rank {rank}: {'right' if verdict else 'WRONG'}" for rank, verdict in enumerate(verdicts)))
    return bool(comm.allreduce(int(right), op=mpi.MIN))


def main() -> int:
    from mpi4py import MPI

    documents = [json.loads(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:]]
    try:
        right = [compare(document.get("schedule", document), MPI.COMM_WORLD, MPI) for document in documents]
        return 0 if all(right) else 1
    except Exception as error:
        print(f"rank {MPI.COMM_WORLD.Get_rank()}: {error!r}", file=sys.stderr, flush=True)
        MPI.COMM_WORLD.Abort(1)
        raise


if __name__ == "__main__":
    sys.exit(main())

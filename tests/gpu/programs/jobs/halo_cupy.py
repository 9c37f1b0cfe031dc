# SPDX-License-Identifier: Apache-2.0
"""halo_cupy - a stencil on CuPy arrays: ranks exchange their edges with their neighbours and add up a residual.

    mpirun -n 2 python3 halo_cupy.py [--late RANK | --fixed]

--late RANK: that rank computes longer on its CPU before it sends (default: the last rank). --fixed: none.
Prints the number of MPI calls of each kind that this rank made, and the bytes that it sent: a recording must say the same.
"""
import json
import sys
import time

import cupy
import numpy
from mpi4py import MPI

STEPS, ROWS, COLUMNS = 60, 512, 2048
EXTRA_S = 0.006

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
late = int(sys.argv[sys.argv.index("--late") + 1]) if "--late" in sys.argv else size - 1
calls = {"Sendrecv": 0, "Allreduce": 0}
sent = 0


def log_state(step):
    """Work on the CPU that only the late rank does."""
    until = time.perf_counter() + (EXTRA_S if rank == late and "--fixed" not in sys.argv else 0)
    while time.perf_counter() < until:
        numpy.sqrt(numpy.arange(1000.0))


def exchange(field):
    """Sends the first and last row around the ring, and gets the neighbours' rows."""
    global sent
    for edge, to, source in ((0, rank - 1, rank + 1), (-1, rank + 1, rank - 1)):
        row = cupy.asnumpy(field[edge])
        other = numpy.empty_like(row)
        world.Sendrecv(row, dest=to % size, sendtag=7, recvbuf=other, source=source % size, recvtag=7)
        calls["Sendrecv"] += 1
        sent += row.nbytes
        field[-1 - edge if edge == 0 else 0] = cupy.asarray(other)


def main():
    global sent
    field = cupy.random.rand(ROWS, COLUMNS).astype(cupy.float32)
    begin = None
    for step in range(STEPS):
        if step == 10:
            begin = time.perf_counter()
        field[1:-1] = 0.25 * (field[:-2] + field[2:]) + 0.5 * field[1:-1]
        log_state(step)
        exchange(field)
        residual = numpy.array([float(cupy.abs(field).mean())])
        total = numpy.empty_like(residual)
        world.Allreduce(residual, total)
        calls["Allreduce"] += 1
        sent += residual.nbytes
    if rank == 0:
        print("step_ms %.4f" % ((time.perf_counter() - begin) / (STEPS - 10) * 1000), flush=True)
    print(f"rank {rank} calls {json.dumps(calls)} sent {sent}", flush=True)


main()

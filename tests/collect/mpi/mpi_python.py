# SPDX-License-Identifier: Apache-2.0
# mpi_python.py - calls MPI from Python, and writes down what it did, as mpi_calls.c does: mpi_python.py FOLDER.
import sys
from array import array
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, n = world.rank, world.size
following, previous = (rank + 1) % n, (rank + n - 1) % n
everybody = ",".join(map(str, range(n)))
lines = []


def message(op, peer, tag, sent, received):
    lines.append(f"MESSAGE {rank} {op} {peer} {tag} {sent} {received} {everybody}")


numbers, room = array("d", [rank] * 10), array("d", [0.0] * 20)
for i in range(4):
    request = world.Irecv([room, MPI.DOUBLE], source=MPI.ANY_SOURCE, tag=i)
    world.Send([numbers, i + 1, MPI.DOUBLE], dest=following, tag=i)
    request.Wait()
    message("Send", following, i, 8 * (i + 1), 0)
    message("Receive", previous, i, 0, 8 * (i + 1))
total = array("d", [0.0] * 10)
world.Allreduce(numbers, total)
message("AllReduce", "-", "-", 80, 80)
world.Barrier()
message("Barrier", "-", "-", 0, 0)
for name, count in {"Irecv": 4, "Send": 4, "Wait": 4, "Allreduce": 1}.items():
    lines.append(f"CALLS {rank} MPI_{name} {count}")
with open(f"{sys.argv[1]}/did.{rank}", "w") as did:
    did.write("\n".join(lines) + "\n")

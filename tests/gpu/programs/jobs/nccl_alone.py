# SPDX-License-Identifier: Apache-2.0
"""nccl_alone - one rank that sends to itself through NCCL, as often as it says.

    python3 nccl_alone.py [TURNS]

NCCL refuses two ranks on one GPU, and tells its profiler nothing of collectives with one rank: a group of a send and a receive to
itself is what one GPU can show. Prints how many of each it made, the bytes of each, the release of NCCL, and the time of a turn.
"""
import ctypes
import pathlib
import sys
import time

import torch

TURNS, WARMUP, COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 200, 20, 1 << 16
FLOAT = 7  # ncclFloat32


def library():
    """The NCCL that torch brings, else the system's."""
    near = pathlib.Path(torch.__file__).parent.parent / "nvidia" / "nccl" / "lib" / "libnccl.so.2"
    return ctypes.CDLL(str(near) if near.exists() else "libnccl.so.2")


nccl = library()


def call(name, *arguments):
    status = getattr(nccl, name)(*arguments)
    if status:
        raise SystemExit(f"{name}: {status}")


def main():
    torch.cuda.init()
    version, comm, own = ctypes.c_int(), ctypes.c_void_p(), (ctypes.c_int * 1)(0)
    call("ncclGetVersion", ctypes.byref(version))
    call("ncclCommInitAll", ctypes.byref(comm), 1, own)
    give, get = torch.ones(COUNT, device="cuda"), torch.zeros(COUNT, device="cuda")
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    give_at, get_at, count = ctypes.c_void_p(give.data_ptr()), ctypes.c_void_p(get.data_ptr()), ctypes.c_size_t(COUNT)

    def turn():
        call("ncclGroupStart")
        call("ncclSend", give_at, count, FLOAT, 0, comm, stream)
        call("ncclRecv", get_at, count, FLOAT, 0, comm, stream)
        call("ncclGroupEnd")

    for _ in range(WARMUP):
        turn()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(TURNS):
        turn()
    torch.cuda.synchronize()
    took = time.perf_counter() - begin
    if not torch.equal(give, get):
        raise SystemExit("what was received is not what was sent")
    call("ncclCommDestroy", comm)
    print(f"nccl {version.value} turns {TURNS + WARMUP} bytes {give.nbytes} us {took / TURNS * 1e6:.3f}", flush=True)


main()

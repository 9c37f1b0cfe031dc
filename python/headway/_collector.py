# SPDX-License-Identifier: Apache-2.0
"""libheadway-collect in this process: preloaded by ``headway profile``, or loaded when a recording is asked for.

The functions are those of src/collect/self_record.c.
"""
from __future__ import annotations

import ctypes
import os
import pathlib
import sys
from ctypes import c_char_p, c_int, c_uint32, c_uint64
from typing import Callable, Optional

from ._places import Error, find

# What headway_collect_tells is asked for.
HAS_RUN, CUDA_STAGE, NVTX_COPIES, TRACES, RECORDING, JOINED_ITSELF = range(6)
CUDA_ON = 1

_FUNCTIONS = {
    "expect": (c_int,),
    "join": (c_int, c_char_p),
    "leave": (None,),
    "capture": (None, c_int),
    "tells": (c_uint32, c_uint32),
    "push": (c_int, c_char_p),
    "pop": (c_int,),
    "start": (c_uint64, c_char_p),
    "end": (None, c_uint64),
}

_libc = ctypes.CDLL(None)
_libc.setenv.argtypes = [c_char_p, c_char_p, c_int]
_libc.unsetenv.argtypes = [c_char_p]
_libc.getenv.argtypes = [c_char_p]
_libc.getenv.restype = c_char_p


class Collector:
    """The functions of the collect library."""

    def __init__(self, library: ctypes.CDLL) -> None:
        for name, (result, *parameters) in _FUNCTIONS.items():
            function = getattr(library, "headway_collect_" + name)
            function.restype = result
            function.argtypes = parameters
            setattr(self, name, function)

    expect: Callable[[], int]
    join: Callable[[bytes], int]
    leave: Callable[[], None]
    capture: Callable[[int], None]
    tells: Callable[[int], int]
    push: Callable[[bytes], int]
    pop: Callable[[], int]
    start: Callable[[bytes], int]
    end: Callable[[int], None]


def _preloaded() -> Optional[Collector]:
    try:
        return Collector(_libc)
    except AttributeError:
        return None


#: the collector in this process; None: there is none, so that nothing is recorded
current: Optional[Collector] = _preloaded()
_probed: dict[str, bool] = {}


def loaded() -> Collector:
    """The collector, which is loaded now where it is not there yet."""
    global current
    if current is None:
        path = find().collector
        try:
            current = Collector(ctypes.CDLL(str(path)))
        except (OSError, AttributeError) as problem:
            raise Error(f"{path}: {problem}") from None
    return current


def is_profiled() -> bool:
    """Whether ``headway profile`` runs this program."""
    return current is not None and bool(current.tells(HAS_RUN)) and not current.tells(JOINED_ITSELF)


def set_variable(name: str, value: str) -> bool:
    """Sets a variable of the environment for libraries in this process, unless it is set. ``os.environ`` stays as it
    is."""
    if _libc.getenv(name.encode()) is not None:
        return False
    return bool(_libc.setenv(name.encode(), os.fsencode(value), 1) == 0)


def unset_variable(name: str) -> None:
    _libc.unsetenv(name.encode())


def is_mapped(part: str) -> bool:
    """Whether a library with this in its name is loaded."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            return any(part in os.path.basename(line.rstrip()) for line in maps)
    except OSError:
        return False


def opencl_was_used() -> bool:
    """Whether the program has used OpenCL: its loader maps the drivers that .icd files name at the first call, not
    before."""
    files = [pathlib.Path(name) for name in os.environ.get("OCL_ICD_FILENAMES", "").split(":") if name]
    vendors = pathlib.Path(os.environ.get("OCL_ICD_VENDORS") or "/etc/OpenCL/vendors")
    files += vendors.glob("*.icd") if vendors.is_dir() else [vendors]
    for file in files:
        try:
            driver = file.read_text(encoding="utf-8").strip() if file.suffix == ".icd" else str(file)
        except (OSError, UnicodeDecodeError):
            continue
        # The file that is mapped has another version in its name than the link that leads to it.
        stem, dot, _ = os.path.basename(driver).partition(".so")
        if dot and is_mapped(stem + dot):
            return True
    return False


def prepare() -> None:
    """Lets a recording that begins later see more: call it early, before libraries are used.

    NVTX and OpenCL look for a tool when a program first uses them, and never again. After this call they find Headway,
    which costs next to nothing until a recording begins. ``%load_ext headway`` and the first ``headway.record`` do it,
    too. Under ``headway profile`` there is nothing to prepare.
    """
    if is_profiled():
        return
    collector = loaded()
    if not collector.expect():
        return
    path = find().collector
    set_variable("NVTX_INJECTION64_PATH", str(path))
    layer = path.parent / "libheadway-opencl.so"
    if layer.exists():
        set_variable("OPENCL_LAYERS", str(layer))


def _mark(module: str) -> bool:
    """Has a module's copy of NVTX begin, by a mark that is not recorded; False: the module has no NVTX."""
    try:
        if module == "torch":
            sys.modules[module].cuda.nvtx.mark("headway")
        else:
            sys.modules[module].mark("headway")
        return True
    except Exception:  # pylint: disable=broad-except  # whatever a foreign module raises: it has no NVTX that works
        return False


def modules_without_nvtx(collector: Collector) -> list[str]:
    """Modules whose NVTX began before the collector was there, so that their ranges are not recorded. To be called
    before recording is on."""
    for module in ("torch", "nvtx"):
        if module in sys.modules and module not in _probed:
            before = collector.tells(NVTX_COPIES)
            if _mark(module):
                _probed[module] = collector.tells(NVTX_COPIES) > before
    return [module for module, is_ours in _probed.items() if not is_ours]

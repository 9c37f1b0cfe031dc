# SPDX-License-Identifier: Apache-2.0
"""Capsules of the Arrow PyCapsule interface around structs that libheadway fills.

A capsule owns its struct: when nobody took the struct out of it, the capsule releases it. What the struct points to
belongs to libheadway, which keeps the recording until the struct is released.
"""
from __future__ import annotations

import ctypes
from typing import Optional

from ._library import Why, library

# Bytes of ArrowSchema, ArrowArray and ArrowArrayStream, and where in them the release function stands.
_LAYOUT = {b"arrow_schema": (72, 56), b"arrow_array": (80, 64), b"arrow_array_stream": (40, 24)}

_api = ctypes.pythonapi
_Destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _Destructor)(
    ("PyCapsule_New", _api))
# The capsule is given as an address: in its destructor it must not be referred to any more.
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))
_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)(("PyCapsule_GetName", _api))
_take = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)(("PyMem_RawCalloc", _api))
_give = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(("PyMem_RawFree", _api))


def _release(address: int, name: bytes) -> None:
    function = ctypes.c_void_p.from_address(address + _LAYOUT[name][1]).value
    if function:
        _Release(function)(address)
    _give(address)


def _release_capsule(capsule: int) -> None:
    name = _name(capsule)
    _release(_pointer(capsule, name), name)


_destroy = _Destructor(_release_capsule)


def _struct(name: bytes) -> int:
    return int(_take(1, _LAYOUT[name][0]))


# Capsules keep the address of their name, so that these objects must live as long as the module.
_SCHEMA, _ARRAY, _STREAM = _LAYOUT


def array(trace: int, kind: Optional[bytes], column: Optional[bytes]) -> tuple[object, object]:
    """What ``__arrow_c_array__`` yields: the capsules of a schema and an array."""
    why, schema, values = Why(), _struct(_SCHEMA), _struct(_ARRAY)
    if not library().headway_arrow_export(trace, kind, column, schema, values, *why.arguments):
        _give(schema)
        _give(values)
        raise why.error()
    return _new(schema, _SCHEMA, _destroy), _new(values, _ARRAY, _destroy)


def schema(trace: int, kind: Optional[bytes], column: Optional[bytes]) -> object:
    """What ``__arrow_c_schema__`` yields."""
    return array(trace, kind, column)[0]


def stream(trace: int, kind: Optional[bytes]) -> object:
    """What ``__arrow_c_stream__`` yields: the capsule of a stream of one batch."""
    why, made = Why(), _struct(_STREAM)
    if not library().headway_arrow_stream(trace, kind, made, *why.arguments):
        _give(made)
        raise why.error()
    return _new(made, _STREAM, _destroy)

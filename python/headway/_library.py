# SPDX-License-Identifier: Apache-2.0
"""libheadway through ctypes: the declarations of include/headway.h, and nothing else."""
from __future__ import annotations

import ctypes
from ctypes import POINTER, c_bool, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint32, c_uint64
from ctypes import c_void_p
import functools
import os
import re
from typing import Optional

from ._places import Error, find

NONE = -(1 << 63)
NO_SPAN = (1 << 32) - 1
ALL_LANES = (1 << 32) - 1
REALS = 1


class LaneInfo(ctypes.Structure):
    _fields_ = [("type", c_char_p), ("name", c_char_p), ("thread", c_char_p), ("device", c_char_p), ("pid", c_int64),
                ("tid", c_int64), ("ordinal", c_int64), ("stream", c_int64), ("spans", c_uint32)]


class SpanInfo(ctypes.Structure):
    _fields_ = [("id", c_uint32), ("lane", c_uint32), ("start", c_int64), ("dur", c_int64), ("kind", c_char_p),
                ("name", c_char_p), ("cause", c_uint32)]


class Words(ctypes.Structure):
    _fields_ = [("bytes", c_void_p), ("offsets", POINTER(c_int64)), ("n", c_uint64)]


class ColumnInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("type", c_int), ("values", c_void_p), ("present", c_void_p), ("rows", c_uint64),
                ("absent", c_uint64), ("words", POINTER(Words))]


# name: what it yields, then its parameters
_WHY = (POINTER(c_char), c_size_t)
_FUNCTIONS = {
    "headway_version": (c_char_p,),
    "headway_use_language": (c_bool, c_char_p),
    "headway_trace_open": (c_void_p, c_char_p, *_WHY),
    "headway_trace_close": (None, c_void_p),
    "headway_trace_spans": (c_uint32, c_void_p),
    "headway_trace_lanes": (c_uint32, c_void_p),
    "headway_trace_spans_of_kind": (c_uint32, c_void_p, c_char_p),
    "headway_trace_wall": (c_int64, c_void_p),
    "headway_trace_property": (c_char_p, c_void_p, c_char_p),
    "headway_kind_name": (c_char_p, c_uint),
    "headway_trace_lane": (c_bool, c_void_p, c_uint32, POINTER(LaneInfo)),
    "headway_cursor_open": (c_void_p, c_void_p, c_uint32, c_char_p, *_WHY),
    "headway_cursor_next": (c_bool, c_void_p, POINTER(SpanInfo)),
    "headway_cursor_close": (None, c_void_p),
    "headway_column_name": (c_char_p, c_void_p, c_char_p, c_uint),
    "headway_trace_column": (POINTER(ColumnInfo), c_void_p, c_char_p, c_char_p, *_WHY),
    "headway_arrow_export": (c_bool, c_void_p, c_char_p, c_char_p, c_void_p, c_void_p, *_WHY),
    "headway_arrow_stream": (c_bool, c_void_p, c_char_p, c_void_p, *_WHY),
}


def _language() -> str:
    """The language of the reader, as the program chooses it: ``HEADWAY_LANG``, else that of a locale of UTF-8."""
    locale = next((os.environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(name)), "")
    return os.environ.get("HEADWAY_LANG") or (locale if re.search(r"\.utf-?8", locale, re.I) else "en")


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """libheadway, loaded when it is first needed."""
    path = find().library
    try:
        loaded = ctypes.CDLL(str(path))
        for name, (result, *parameters) in _FUNCTIONS.items():
            function = getattr(loaded, name)
            function.restype = result
            function.argtypes = parameters
        loaded.headway_use_language(os.fsencode(_language()))
    except (OSError, AttributeError) as problem:
        raise Error(f"{path}: {problem}") from None
    return loaded


class Why:
    """Memory for the reason that a function of the library gives."""

    def __init__(self) -> None:
        self._text = ctypes.create_string_buffer(1024)

    @property
    def arguments(self) -> tuple[ctypes.Array[c_char], int]:
        return self._text, len(self._text)

    def error(self) -> Error:
        return Error(text(self._text.value))


def text(value: Optional[bytes]) -> str:
    """A text of a recording; names may hold any byte."""
    return (value or b"").decode("utf-8", "replace")


def key(value: Optional[str]) -> Optional[bytes]:
    """A text for the library, whose texts end at a NUL: one that contains it would name something else."""
    if value is None:
        return None
    if "\0" in value:
        raise ValueError("embedded null byte")
    return os.fsencode(value)


def number(value: int) -> Optional[int]:
    """A number of the library, or None where the recording does not contain it."""
    return None if value == NONE else value


__all__ = ["ALL_LANES", "ColumnInfo", "LaneInfo", "NO_SPAN", "REALS", "SpanInfo", "Why", "c_double", "key",
           "library", "number", "text"]

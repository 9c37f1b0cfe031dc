# SPDX-License-Identifier: Apache-2.0
"""Columns of spans: numbers that lie in libheadway's memory, read in place."""
from __future__ import annotations

import ctypes
import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Optional, Union, overload

from . import _arrow
from ._library import REALS, ColumnInfo, Why, key, library, text

Value = Union[int, float, str, None]


class _Unknown(KeyError):
    """A name that there is not: says which there are, and which was probably meant."""

    def __init__(self, name: object, what: str, names: Sequence[str]) -> None:
        super().__init__(name)
        near = difflib.get_close_matches(str(name), names, 1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        self._says = f"no {what} {name!r}; {meant}there are {', '.join(names)}"

    def __str__(self) -> str:
        return self._says


def _kinds() -> list[str]:
    kinds: list[str] = []
    while (kind := library().headway_kind_name(len(kinds))) is not None:
        kinds.append(text(kind))
    return kinds


class Trace:
    """A trace that libheadway holds open; closed when nobody refers to this object any more."""

    def __init__(self, path: str) -> None:
        why = Why()
        handle = library().headway_trace_open(key(path), *why.arguments)
        if not handle:
            raise why.error()
        self.handle: int = handle
        self._close = library().headway_trace_close

    def __del__(self) -> None:
        if hasattr(self, "_close"):
            self._close(self.handle)


class Column(Sequence[Value]):
    """One column of the spans of a kind, in the order of their ids.

    It is a sequence of Python values, with ``None`` where a span has no value:

    >>> recording = headway.open(example)
    >>> direction = recording.columns("copy")["direction"]
    >>> direction[0], len(direction)
    ('Device-to-Host', 18)

    NumPy sees the same memory without a copy (``numpy.asarray(column)``; texts are then their numbers), and so do
    libraries that know Arrow (``pyarrow.array(column)``, ``polars.Series(column)``).
    """

    def __init__(self, trace: Trace, kind: Optional[str], name: str) -> None:
        why = Why()
        self._trace, self._kind = trace, key(kind)
        found = library().headway_trace_column(trace.handle, self._kind, key(name), *why.arguments)
        if not found:
            raise why.error()
        info: ColumnInfo = found.contents
        self.name = name
        #: how many spans have no value
        self.absent: int = info.absent
        #: the address of the numbers in libheadway's memory
        self.address: int = info.values
        self._is_real = info.type == REALS
        self._rows: int = info.rows
        number: Any = ctypes.c_double if self._is_real else ctypes.c_int64
        memory = (number * self._rows).from_address(self.address)
        memory.owner = trace  # whoever holds the memory holds the trace
        bits = memoryview(memory).toreadonly()
        self._values: Any = bits.cast("B").cast("d" if self._is_real else "q") if self._rows else ()
        self._present = (ctypes.c_uint8 * ((self._rows + 7) // 8)).from_address(info.present) if info.present else None
        self._words = info.words.contents if info.words else None

    def __len__(self) -> int:
        return self._rows

    @property
    def words(self) -> Optional[list[str]]:
        """The texts that the column's numbers stand for; ``None``: the column holds plain numbers."""
        return None if self._words is None else [self._word(i) for i in range(self._words.n)]

    @property
    def numbers(self) -> Sequence[Union[int, float]]:
        """The numbers as they lie in memory, read-only: 0 where a span has no value, and the number of a text for a
        text."""
        numbers: Sequence[Union[int, float]] = self._values
        return numbers

    def has(self, row: int) -> bool:
        """Whether the span in this row has a value."""
        return self._present is None or bool(self._present[row // 8] >> row % 8 & 1)

    def _word(self, number: int) -> str:
        first, end = self._words.offsets[number], self._words.offsets[number + 1]
        return ctypes.string_at(self._words.bytes + first, end - first).decode()

    def _value(self, row: int) -> Value:
        if not self.has(row):
            return None
        value: Union[int, float] = self._values[row]
        return value if self._words is None else self._word(int(value))

    @overload
    def __getitem__(self, row: int) -> Value: ...

    @overload
    def __getitem__(self, row: slice) -> list[Value]: ...

    def __getitem__(self, row: Union[int, slice]) -> Union[Value, list[Value]]:
        if isinstance(row, slice):
            return [self._value(i) for i in range(*row.indices(self._rows))]
        if not -self._rows <= row < self._rows:
            raise IndexError(row)
        return self._value(row % self._rows)

    def __repr__(self) -> str:
        return f"<headway.Column {self.name}: {self._rows} rows, {self.absent} absent>"

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {"version": 3, "shape": (self._rows,), "typestr": "<f8" if self._is_real else "<i8",
                "data": (self.address, True)}

    def __arrow_c_schema__(self) -> object:
        return _arrow.schema(self._trace.handle, self._kind, self.name.encode())

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return _arrow.array(self._trace.handle, self._kind, self.name.encode())


class Columns(Mapping[str, Column]):
    """All columns of the spans of a kind, by name: a table.

    >>> kernels = headway.open(example).columns("kernel")
    >>> sum(kernels["duration"])
    184720359
    >>> "shape" in kernels, "bytes" in kernels
    (True, False)

    The names, and what they mean, are those of ``headway sql FILE '.schema kernel'``. The table goes to other libraries
    as it is: ``pandas.DataFrame(dict(kernels))``, ``polars.DataFrame(kernels)``, ``pyarrow.table(kernels)``,
    ``duckdb.sql('select name, sum(duration) from kernels group by name')``.
    """

    def __init__(self, trace: Trace, kind: Optional[str]) -> None:
        self._trace, self._kind = trace, kind
        self._names: list[str] = []
        while True:
            name = library().headway_column_name(trace.handle, self._key, len(self._names))
            if name is None:
                break
            self._names.append(text(name))
        if not self._names:
            raise _Unknown(kind, "kind of spans", _kinds())

    @property
    def _key(self) -> Optional[bytes]:
        return key(self._kind)

    def __getitem__(self, name: str) -> Column:
        if name not in self._names:
            raise _Unknown(name, "column", self._names)
        return Column(self._trace, self._kind, name)

    def __contains__(self, name: object) -> bool:
        """Whether there is a column of this name, which is not made for that."""
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<headway.Columns of {self._kind or 'all spans'}: {', '.join(self._names)}>"

    def __arrow_c_schema__(self) -> object:
        return _arrow.schema(self._trace.handle, self._key, None)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return _arrow.array(self._trace.handle, self._key, None)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return _arrow.stream(self._trace.handle, self._key)

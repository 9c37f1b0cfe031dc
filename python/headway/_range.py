# SPDX-License-Identifier: Apache-2.0
"""Ranges: names for parts of a program, which the timeline shows and by which steps are found."""
from __future__ import annotations

import functools
import inspect
from types import TracebackType
from typing import Any, Callable, Optional, TypeVar, Union, cast, overload

from . import _collector

F = TypeVar("F", bound=Callable[..., Any])


class Range:
    """A range that was named; ``headway.range`` makes it."""

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"headway.range: {name!r} is neither a name nor a function")
        self.name = name
        self._text = name.encode("utf-8", "replace").replace(b"\0", b"?")
        self._open: list[Optional[_collector.Collector]] = []

    def __enter__(self) -> "Range":
        # What began is ended at the same collector, also where a recording began in between.
        collector = _collector.current
        self._open.append(collector)
        if collector is not None:
            collector.push(self._text)
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        collector = self._open.pop()
        if collector is not None:
            collector.pop()

    def __call__(self, function: F) -> F:
        text = self._text
        if isinstance(function, (staticmethod, classmethod)):
            return cast(F, type(function)(self(function.__func__)))
        if not callable(function) or isinstance(function, type):
            raise TypeError(f"headway.range: {function!r} is no function")
        if inspect.iscoroutinefunction(function):
            return cast(F, _of_coroutine(text, function))
        if inspect.isgeneratorfunction(function):
            return cast(F, _of_generator(text, function))

        @functools.wraps(function)
        def wrapped(*words: Any, **named: Any) -> Any:
            collector = _collector.current
            if collector is None:
                return function(*words, **named)
            collector.push(text)
            try:
                return function(*words, **named)
            finally:
                collector.pop()

        return cast(F, wrapped)


def _of_coroutine(text: bytes, function: Callable[..., Any]) -> Callable[..., Any]:
    """Coroutines of one thread take turns: their ranges do not nest, and are told by numbers."""

    @functools.wraps(function)
    async def wrapped(*words: Any, **named: Any) -> Any:
        collector = _collector.current
        number = collector.start(text) if collector is not None else 0
        try:
            return await function(*words, **named)
        finally:
            if collector is not None:
                collector.end(number)

    return wrapped


def _of_generator(text: bytes, function: Callable[..., Any]) -> Callable[..., Any]:
    """What the caller does between two values is inside, too, and need not nest."""

    @functools.wraps(function)
    def wrapped(*words: Any, **named: Any) -> Any:
        collector = _collector.current
        number = collector.start(text) if collector is not None else 0
        try:
            return (yield from function(*words, **named))
        finally:
            if collector is not None:
                collector.end(number)

    return wrapped


@overload
def range(name: str) -> Range: ...  # noqa: A001


@overload
def range(name: F) -> F: ...  # noqa: A001


def range(name: Union[str, F]) -> Union[Range, F]:  # noqa: A001
    """A range of NVTX while the program is recorded, and nothing otherwise: a context manager or a decorator.

    >>> for i in (0, 1, 2):
    ...     with headway.range(f"step_{i}"):
    ...         pass
    >>> @headway.range("load")
    ... def load():
    ...     return "batch"
    >>> @headway.range
    ... def train():
    ...     return load()
    >>> train()
    'batch'

    A decorated coroutine or generator is one range from its first step to its last.
    """
    if callable(name) or isinstance(name, (staticmethod, classmethod)):
        function = getattr(name, "__func__", name)
        return cast(F, Range(getattr(function, "__qualname__", repr(function)))(cast(Any, name)))
    return Range(name)

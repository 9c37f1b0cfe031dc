# SPDX-License-Identifier: Apache-2.0
"""Finds the parts of Headway that this package uses: the program and its libraries.

The first place that has the program is taken, so that all parts are of one build:

1. ``headway/_bin`` and ``headway/_lib`` in this package, as a wheel has them;
2. the folder that ``HEADWAY_HOME`` names: an installation prefix, or a build folder;
3. the prefix under which this package is installed;
4. ``build/`` of the source tree that this file lies in;
5. the ``headway`` in ``PATH``, then the prefixes ``/usr/local`` and ``/usr``.
"""
from __future__ import annotations

import os
import pathlib
import shutil
from typing import Iterator, NamedTuple, Optional


class Error(Exception):
    """Headway could not do what was asked; the text is one line with the file and the reason."""


def reason(said: str) -> str:
    """Of what the program said on stderr the line with the reason: after a misuse, the last one only names the help of a
    command that nobody typed."""
    lines = said.splitlines()
    return next((line for line in reversed(lines) if line.strip() and " --help'" not in line), "")


class Places(NamedTuple):
    """Where the parts of one build of Headway are."""

    program: pathlib.Path
    library: pathlib.Path
    collector: pathlib.Path


LIBRARY = "libheadway.so"
COLLECTOR = "libheadway-collect.so"


def _first(folders: list[pathlib.Path], name: str) -> Optional[pathlib.Path]:
    """The file of this name in the first folder that has it; a library may have only its versioned name."""
    for folder in folders:
        for found in [folder / name, *sorted(folder.glob(name + ".*"))]:
            if found.exists():
                return found
    return None


def _places_in(root: pathlib.Path) -> Optional[Places]:
    """The parts under an installation prefix, in a build folder, or in this package."""
    libraries = [root, root / "_lib", root / "lib", root / "lib64", *sorted((root / "lib").glob("*-linux-gnu"))]
    program = _first([root, root / "_bin", root / "bin"], "headway")
    library = _first(libraries, LIBRARY)
    collector = _first([*libraries, *[folder / "headway" for folder in libraries]], COLLECTOR)
    if program is None or not program.is_file() or library is None or collector is None:
        return None
    return Places(program, library, collector)


def _roots() -> Iterator[pathlib.Path]:
    package = pathlib.Path(__file__).resolve().parent
    if (package / "_bin").is_dir():
        yield package
    home = os.environ.get("HEADWAY_HOME")
    if home:
        yield pathlib.Path(home)
    for parent in package.parents:
        if (parent / "bin" / "headway").is_file():
            yield parent
    tree = package.parent.parent
    if (tree / "include" / "headway.h").is_file():
        yield tree / "build"
    found = shutil.which("headway")
    if found:
        yield pathlib.Path(found).resolve().parent.parent
    yield pathlib.Path("/usr/local")
    yield pathlib.Path("/usr")


def find() -> Places:
    """Where Headway is. :raises Error: where it is not installed."""
    tried = []
    for root in _roots():
        places = _places_in(root)
        if places is not None:
            return places
        tried.append(str(root))
    raise Error(f"headway and its libraries were not found in {', '.join(tried)}; "
                "HEADWAY_HOME names the folder under which they are installed")

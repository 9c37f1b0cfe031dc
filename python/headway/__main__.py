# SPDX-License-Identifier: Apache-2.0
"""``python -m headway ARGS``: the command ``headway`` of this package, for where it is not in ``PATH``."""
import os
import sys

from ._places import Error, find


def main() -> None:
    try:
        program = str(find().program)
    except Error as problem:
        sys.exit(f"headway: {problem}")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()

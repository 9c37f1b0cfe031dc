# SPDX-License-Identifier: Apache-2.0
"""privacy_strings.py FILE - prints what can be found in a report, an export or a page: as it is, and decompressed."""

import base64
import ctypes
import gzip
import os
import re
import sys

zstd = ctypes.CDLL("libzstd.so.1")
for function in (zstd.ZSTD_findFrameCompressedSize, zstd.ZSTD_decompress, zstd.ZSTD_getFrameContentSize):
    function.restype = ctypes.c_ulonglong
MOST = 1 << 28
ZSTD, GZIP = b"\x28\xb5\x2f\xfd", b"\x1f\x8b\x08"


def show(content):
    sys.stdout.buffer.write(content + b"\n")
    # Blocks of a report: every place that may begin a frame is tried.
    for found in re.finditer(re.escape(ZSTD), content):
        frame = content[found.start():]
        stored = zstd.ZSTD_findFrameCompressedSize(frame, ctypes.c_size_t(len(frame)))
        size = zstd.ZSTD_getFrameContentSize(frame, ctypes.c_size_t(len(frame)))
        if stored > len(frame) or size > MOST:
            continue
        room = ctypes.create_string_buffer(size + 1)
        zstd.ZSTD_decompress(room, ctypes.c_size_t(size), frame, ctypes.c_size_t(stored))
        sys.stdout.buffer.write(room.raw[:size] + b"\n")
    if content.startswith(GZIP):
        show(gzip.decompress(content))
    # The answers inside a page.
    for value in re.findall(rb'"(H4sI[A-Za-z0-9+/=]+)"', content):
        show(gzip.decompress(base64.b64decode(value)))


def main(path):
    paths = [os.path.join(path, name) for name in os.listdir(path)] if os.path.isdir(path) else [path]
    for one in paths:
        with open(one, "rb") as file:
            show(file.read())


main(sys.argv[1])

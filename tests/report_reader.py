#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report_reader.py FILE - a second reader of .hwy reports, written from docs/report-format.md alone.

Prints every table of the report with a hash of each of its columns. report_document_test.c holds that
against what Headway reads, so that the document stays true; names come from the document's own tables.
Needs nothing but the Python of the system and libzstd (or the zstd program).
"""
import ctypes
import pathlib
import re
import struct
import subprocess
import sys

CHUNK, PIECE, MASK = 16384, 1 << 20, (1 << 64) - 1
DOCUMENT = pathlib.Path(__file__).resolve().parent.parent / "docs" / "report-format.md"


def load_zstd():
    try:
        library = ctypes.CDLL("libzstd.so.1")
    except OSError:
        return lambda frame, size: subprocess.run(
            ["zstd", "-dcq"], input=frame, stdout=subprocess.PIPE, check=True).stdout
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t] * 2

    def decompress(frame, size):
        room = ctypes.create_string_buffer(size + 1)
        done = library.ZSTD_decompress(room, size, frame, len(frame))
        if done != size:
            sys.exit("a frame does not decompress")
        return room.raw[:size]
    return decompress


decompress = load_zstd()


def signed64(value):
    value &= MASK
    return value - (1 << 64) if value >> 63 else value


def unzigzag(value):
    return (value >> 1) ^ -(value & 1)


class Body:
    """The bytes of the directory, and where the section's next block begins."""

    def __init__(self, raw, report, place=0):
        self.raw, self.at, self.report, self.place = raw, 0, report, place

    def take(self, n):
        self.at += n
        return self.raw[self.at - n:self.at]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed(self):
        return unzigzag(self.varint())

    def block(self, size):
        stored = self.varint()
        frame = self.report[self.place:self.place + stored]
        self.place += stored
        return decompress(frame, size)


def read_chunk(body, rows):
    head, base = body.take(1)[0], body.signed()
    if head == 0:
        return [base] * rows
    coding, planes = head & 3, (head >> 5) + 1
    raw = body.take(rows * planes) if head & 4 else body.block(rows * planes)
    values, before = [], base
    for row in range(rows):
        coded = sum(raw[p * rows + row] << (8 * p) for p in range(planes))
        if coding == 1:
            value = base + coded
        else:
            value = before + (unzigzag(coded) if coding == 2 else coded)
        before = signed64(value)
        values.append(before)
    return values


def read_table(body):
    rows, n_columns = body.varint(), body.varint()
    columns = {}
    for _ in range(n_columns):
        column = body.varint()
        columns[column] = []
        for first in range(0, rows, CHUNK):
            columns[column] += read_chunk(body, min(CHUNK, rows - first))
    return rows, columns


def read_bytes(body):
    size = body.varint()
    return b"".join(body.block(min(PIECE, size - at)) for at in range(0, size, PIECE))


def fold(values):
    hashed = 0
    for value in values:
        hashed = (hashed * 31 + value) & MASK
    return hashed


def document_names():
    """Column names of strips, and (name, fields) of the record tables, by number."""
    text = DOCUMENT.read_text()
    columns = {int(n): name for n, name in re.findall(r"^\| (\d+) \| `([\w-]+)` \|", text, re.M)}
    records = {int(n): (name, fields.split(", "))
               for n, name, fields in re.findall(r"^\| (\d+) \| (\w+) \| ([\w, ]+) \|$", text, re.M)}
    return columns, records


def show(title, rows, columns, names):
    hashes = (f"{names[c]}={fold(values):016x}" for c, values in sorted(columns.items()))
    print(title, rows, *hashes)


def read_section(section, body, columns, records):
    if section in records:
        name, fields = records[section]
        show(name, *read_table(body), fields)
    elif section == 32:
        rows, table = read_table(body)
        texts, at, hashes = read_bytes(body), 0, []
        for length in table[0]:
            hashes.append(fold(texts[at:at + length]))
            at += length + 1
        print("texts", rows, f"{fold(hashes):016x}")
    elif section == 33:
        lane, kind = body.varint(), body.varint()
        show(f"strip {lane} {kind}", *read_table(body), columns)
    elif section == 34:
        lane, level = body.varint(), body.varint()
        show(f"level {lane} {level}", *read_table(body), range(9))
    elif section == 35:
        index = body.varint()
        print("result", index, f"{fold(read_bytes(body)):016x}")


def main():
    report = pathlib.Path(sys.argv[1]).read_bytes()
    magic, major, _, features, size = struct.unpack_from("<8sHHIQ", report)
    offset, stored, length, end = struct.unpack("<QQQ8s", report[-32:])
    if magic != b"\x89HWY\r\n\x1a\n" or major != 1 or features or size != len(report) or end != b"HWY.END\n":
        sys.exit("not a report of format 1")
    directory = Body(decompress(report[offset:offset + stored], length), report)
    names = document_names()
    print("wall", directory.signed())
    place = 24
    for _ in range(directory.varint()):
        section, version = directory.varint(), directory.varint()
        n, blocks = directory.varint(), directory.varint()
        body = Body(directory.take(n), report, place)
        if version == 1:
            read_section(section, body, *names)
        place += blocks


if __name__ == "__main__":
    main()

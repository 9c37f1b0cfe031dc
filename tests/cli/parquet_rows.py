# SPDX-License-Identifier: Apache-2.0
"""parquet_rows.py FILE … - the number of rows of each Parquet file, as its footer tells: FILE ROWS, a line each.

Reads what Thrift's compact protocol wrote before the field it looks for, and nothing else of the file.
"""
import sys

BOOLEANS, BYTE, INTEGERS, DOUBLE, BINARY, LISTS, STRUCT = (1, 2), 3, (4, 5, 6), 7, 8, (9, 10), 12
NUM_ROWS = 3  # of FileMetaData


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def integer(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def fields(self):
        """Yields number and type of each field of a struct; its value is read, or skipped, by the caller."""
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.integer()
            yield number, head & 15

    def skip(self, kind, in_list=False):
        if kind in BOOLEANS:
            self.at += in_list
        elif kind == BYTE:
            self.at += 1
        elif kind in INTEGERS:
            self.varint()
        elif kind == DOUBLE:
            self.at += 8
        elif kind == BINARY:
            length = self.varint()
            self.at += length
        elif kind in LISTS:
            head = self.byte()
            for _ in range(head >> 4 if head >> 4 < 15 else self.varint()):
                self.skip(head & 15, True)
        elif kind == STRUCT:
            for _, inner in self.fields():
                self.skip(inner)
        else:
            sys.exit(f"parquet_rows: type {kind} at {self.at}")


def rows(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:4] != b"PAR1" or data[-4:] != b"PAR1":
        sys.exit(f"parquet_rows: {path}: no Parquet file")
    length = int.from_bytes(data[-8:-4], "little")
    reader = Reader(data[-8 - length:-8])
    for number, kind in reader.fields():
        if number == NUM_ROWS:
            return reader.integer()
        reader.skip(kind)
    sys.exit(f"parquet_rows: {path}: no number of rows")


for name in sys.argv[1:]:
    print(name, rows(name))

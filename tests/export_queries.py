#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks two SQLite exports what public tools for Nsight Systems' files ask, and compares the rows.

The queries are written afresh from the tables and columns those tools touch: kernels with names, NVTX ranges by
text and by registered string, calls joined to the work they enqueued, copies, fills, waits, samples with their
stacks, scheduling, OS calls, allocations, metrics, devices, processes, threads. Rows may come in any order, and
numbers of StringIds may differ. A query for tables that the first file lacks is left out. Exits with 1 if any
answer differs.
"""
import collections
import sqlite3
import sys

PID = "/ 0x1000000 % 0x1000000"
QUERIES = {
    "nsys2json: kernels": """
        SELECT k.start, k.end, k.deviceId, k.streamId, k.correlationId, k.globalPid, s.value
        FROM CUPTI_ACTIVITY_KIND_KERNEL k LEFT JOIN StringIds s ON s.id = k.shortName""",
    "nsys2json: NVTX by text": """
        SELECT start, end, text, globalTid FROM NVTX_EVENTS WHERE eventType == 59""",
    "nsightful: NVTX by registered string": """
        SELECT n.start, n.end, n.globalTid, s.value FROM NVTX_EVENTS n JOIN StringIds s ON s.id = n.textId
        WHERE n.eventType == 59""",
    "nsys2json: calls": """
        SELECT r.start, r.end, r.globalTid, r.correlationId, s.value
        FROM CUPTI_ACTIVITY_KIND_RUNTIME r LEFT JOIN StringIds s ON s.id = r.nameId""",
    "nsys-perfetter: calls and their work": f"""
        SELECT r.start, r.end, r.globalTid, r.correlationId, k.start, k.end, c.start, c.end, m.start, m.end
        FROM CUPTI_ACTIVITY_KIND_RUNTIME r
        LEFT JOIN CUPTI_ACTIVITY_KIND_KERNEL k ON k.correlationId = r.correlationId
            AND k.globalPid {PID} = r.globalTid {PID}
        LEFT JOIN CUPTI_ACTIVITY_KIND_MEMCPY c ON c.correlationId = r.correlationId
            AND c.globalPid {PID} = r.globalTid {PID}
        LEFT JOIN CUPTI_ACTIVITY_KIND_MEMSET m ON m.correlationId = r.correlationId
            AND m.globalPid {PID} = r.globalTid {PID}""",
    "flameox: launches": """
        SELECT k.start, k.end, k.gridX, k.gridY, k.gridZ, k.blockX, k.blockY, k.blockZ, k.registersPerThread,
            k.staticSharedMemory, k.dynamicSharedMemory, k.localMemoryPerThread, k.localMemoryTotal,
            k.sharedMemoryExecuted, k.launchType, d.value, m.value
        FROM CUPTI_ACTIVITY_KIND_KERNEL k LEFT JOIN StringIds d ON d.id = k.demangledName
        LEFT JOIN StringIds m ON m.id = k.mangledName""",
    "flameox: graphs": """
        SELECT start, end, deviceId, contextId, streamId, correlationId, globalPid, graphId, graphExecId
        FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE""",
    "nsys-ai: copies": """
        SELECT start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind, srcKind, dstKind,
            migrationCause, coalesce(virtualAddress, 0) FROM CUPTI_ACTIVITY_KIND_MEMCPY""",
    "nsys-ai: pageable copies": """
        SELECT c.start, c.bytes, k.label, s.label, d.label FROM CUPTI_ACTIVITY_KIND_MEMCPY c
        JOIN ENUM_CUDA_MEMCPY_OPER k ON k.id = c.copyKind JOIN ENUM_CUDA_MEM_KIND s ON s.id = c.srcKind
        JOIN ENUM_CUDA_MEM_KIND d ON d.id = c.dstKind""",
    "nsys-ai: fills": """
        SELECT start, end, deviceId, streamId, correlationId, globalPid, value, bytes, memKind
        FROM CUPTI_ACTIVITY_KIND_MEMSET""",
    "nsys-ai: waits": """
        SELECT start, end, deviceId, contextId, streamId, correlationId, globalPid, eventId
        FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION""",
    "nsys-ai: waits by call": f"""
        SELECT n.value, count(*), sum(s.end - s.start) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION s
        JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = s.correlationId
            AND s.globalPid {PID} = r.globalTid {PID}
        JOIN StringIds n ON n.id = r.nameId GROUP BY 1""",
    "Megatron-Bridge: events": """
        SELECT coalesce(timestamp, 0), deviceId, streamId, correlationId, globalPid, eventId, eventSyncId
        FROM CUPTI_ACTIVITY_KIND_CUDA_EVENT""",
    "nsys-ai: all ranges": """
        SELECT n.start, n.end, n.eventType, n.globalTid, n.endGlobalTid, n.color, coalesce(n.text, s.value), n.uint64Value,
            n.int64Value, n.doubleValue, n.uint32Value, n.int32Value, n.floatValue
        FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId WHERE n.eventType IN (34, 59, 60)""",
    "nsys-ai: domains of ranges": f"""
        SELECT n.rowid, coalesce(d.text, e.value) FROM NVTX_EVENTS n LEFT JOIN NVTX_EVENTS d ON d.eventType = 75
            AND d.domainId = n.domainId AND d.globalTid {PID} = n.globalTid {PID}
        LEFT JOIN StringIds e ON e.id = d.textId WHERE n.eventType IN (34, 59, 60)""",
    "nsys-ai: overheads": """
        SELECT o.start, o.end, o.globalTid, s.value FROM PROFILER_OVERHEAD o LEFT JOIN StringIds s ON s.id = o.nameId""",
    "nsys-ai: CUDA's overheads": """
        SELECT o.start, o.end, o.globalTid, s.value FROM CUPTI_ACTIVITY_KIND_OVERHEAD o
        LEFT JOIN StringIds s ON s.id = o.nameId""",
    "OS calls": """
        SELECT o.start, o.end, o.globalTid, s.value, o.returnValue, o.nestingLevel FROM OSRT_API o
        LEFT JOIN StringIds s ON s.id = o.nameId WHERE o.eventClass = 27""",
    "OS calls' stacks": """
        SELECT o.start, o.globalTid, c.stackDepth, s.value, m.value FROM OSRT_API o
        JOIN OSRT_CALLCHAINS c ON c.id = o.callchainId LEFT JOIN StringIds s ON s.id = c.symbol
        LEFT JOIN StringIds m ON m.id = c.module WHERE o.callchainId > 0""",
    "calls' stacks": """
        SELECT r.start, r.globalTid, c.stackDepth, s.value FROM CUPTI_ACTIVITY_KIND_RUNTIME r
        JOIN CUDA_CALLCHAINS c ON c.id = r.callchainId LEFT JOIN StringIds s ON s.id = c.symbol""",
    "samples": "SELECT start, cpu, globalTid, cpuCycles FROM COMPOSITE_EVENTS",
    "samples' stacks": """
        SELECT e.start, e.globalTid, c.stackDepth, s.value, c.originalIP FROM COMPOSITE_EVENTS e
        JOIN SAMPLING_CALLCHAINS c ON c.id = e.id LEFT JOIN StringIds s ON s.id = c.symbol""",
    "allocations": """
        SELECT start, globalPid, address, bytes, memKind, memoryOperationType, name, correlationId
        FROM CUDA_GPU_MEMORY_USAGE_EVENTS""",
    "metrics": """
        SELECT g.timestamp, g.typeId & 0xff, n.metricName, g.value FROM GPU_METRICS g
        JOIN TARGET_INFO_GPU_METRICS n ON n.typeId = g.typeId AND n.metricId = g.metricId""",
    "nsys-ai: devices": """
        SELECT DISTINCT d.gpuId, d.cudaId, d.pid FROM TARGET_INFO_CUDA_DEVICE d
        JOIN CUPTI_ACTIVITY_KIND_KERNEL k ON k.globalPid / 0x1000000 % 0x1000000 = d.pid AND k.deviceId = d.cudaId""",
    "GPUs": f"""
        SELECT DISTINCT g.id, g.name, g.uuid, g.smCount, g.totalMemory, g.memoryBandwidth, g.clockRate, g.computeMajor,
            g.computeMinor, g.maxWarpsPerSm FROM TARGET_INFO_GPU g JOIN TARGET_INFO_CUDA_DEVICE d ON d.gpuId = g.id
        JOIN CUPTI_ACTIVITY_KIND_KERNEL k ON k.globalPid {PID} = d.pid AND k.deviceId = d.cudaId""",
    "processes": f"""
        SELECT DISTINCT p.globalPid, p.pid, p.name FROM PROCESSES p
        JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.globalTid / 0x1000000 = p.globalPid / 0x1000000""",
    "threads": """
        SELECT DISTINCT s.value, t.globalTid FROM ThreadNames t JOIN StringIds s ON s.id = t.nameId
        JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.globalTid = t.globalTid""",
    "streams": """
        SELECT DISTINCT s.streamId, s.processId, s.contextId, s.priority, s.flag FROM TARGET_INFO_CUDA_STREAM s
        JOIN CUPTI_ACTIVITY_KIND_KERNEL k ON k.streamId = s.streamId AND k.contextId = s.contextId
            AND k.globalPid / 0x1000000 % 0x1000000 = s.processId""",
    "wall clock": "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME",
}


def ask(db, sql):
    try:
        return collections.Counter(db.execute(sql).fetchall())
    except sqlite3.OperationalError as error:
        return str(error)


def main():
    want_db, got_db = (sqlite3.connect(f"file:{path}?mode=ro", uri=True) for path in sys.argv[1:3])
    bad = asked = 0
    for name, sql in QUERIES.items():
        want = ask(want_db, sql)
        if isinstance(want, str) or not want:
            continue
        asked += 1
        got = ask(got_db, sql)
        if got == want:
            continue
        bad += 1
        if isinstance(got, str):
            print(f"{name}: {got}")
            continue
        print(f"{name}: {sum(got.values())} rows, not {sum(want.values())}; e.g. {next(iter(got - want), None)}, "
              f"not {next(iter(want - got), None)}"[:500])
    print(f"{asked - bad} of {asked} queries give the same rows")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())

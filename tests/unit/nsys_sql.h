/* SPDX-License-Identifier: Apache-2.0 */
/* nsys_sql.h - nsys exports for tests, written table by table. */
#ifndef HWY_TESTS_NSYS_SQL_H
#define HWY_TESTS_NSYS_SQL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "import/import.h"

#define PID(pid) "((1 << 48) | (" #pid " << 24))"
#define TID(pid, tid) "((1 << 48) | (" #pid " << 24) | " #tid ")"
#define NONE "4294967295"
#define STRINGS "CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
#define KERNELS                                                                                    \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, "      \
	"correlationId, globalPid, demangledName, shortName, mangledName, gridX, gridY, gridZ, "   \
	"blockX, blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory);"
#define CALLS                                                                                      \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, "             \
	"correlationId, nameId, returnValue, callchainId);"
#define SYNCS                                                                                      \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, end, deviceId, contextId, "       \
	"streamId, correlationId, globalPid, syncType, eventId, eventSyncId);"
#define NVTX                                                                                       \
	"CREATE TABLE NVTX_EVENTS(start, end, eventType, rangeId, category, color, text, "         \
	"globalTid, endGlobalTid, textId, domainId, uint64Value, int64Value, doubleValue, "        \
	"uint32Value, int32Value, floatValue, jsonTextId, jsonText, binaryData);"

static char path[64];
static struct hwy_err err;

/* Writes a database and opens it; NULL, with err, where it cannot be. */
static struct hwy_trace *open_sql(const char *sql)
{
	sqlite3 *db;
	char *message = NULL;
	unlink(path);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s", message);
	sqlite3_close(db);
	err.text[0] = '\0';
	return import_nsys(path, NULL, &err);
}

static struct hwy_trace *opened(const char *sql)
{
	struct hwy_trace *trace = open_sql(sql);
	if (!trace)
		fail_msg("%s", err.text);
	return trace;
}

static int make_path(void **state)
{
	strcpy(path, "/tmp/headway-nsys-test-XXXXXX");
	int file = mkstemp(path);
	return file < 0 ? -1 : close(file);
}

static int remove_path(void **state)
{
	return unlink(path);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* table_recorder.c - what the recorder says about itself: its messages, what it lost, its
 * clocks, what recording costs. */
#include "sql/sql_tables.h"

static const char *const severities[] = {NULL, "info", "warning", "error"};
static const struct sql_column diagnostic_columns[] = {
	{"severity", SQL_WORD, .description = "info, warning or error",
	 SQL_FIELD(hwy_diagnostic, severity), SQL_WORDS(severities)},
	{"time", SQL_TIME, .description = "when it was said", SQL_FIELD(hwy_diagnostic, time)},
	{"process_id", SQL_ROW, .description = "processes.id", SQL_FIELD(hwy_diagnostic, process)},
	{"text", SQL_TEXT, .description = "the message", SQL_FIELD(hwy_diagnostic, text)},
};
const struct sql_table table_diagnostics = {.name = "diagnostics",
					    .about = "messages of the recorder",
					    SQL_COLUMNS(diagnostic_columns),
					    .records = HWY_TABLE_diagnostics};

static const struct sql_column drop_columns[] = {
	{"source", SQL_TEXT, .description = "whose events", SQL_FIELD(hwy_drop, source)},
	{"reason", SQL_TEXT, .description = "why they were lost", SQL_FIELD(hwy_drop, reason)},
	{"count", SQL_NUMBER, .description = "how many events", SQL_FIELD(hwy_drop, count)},
	{"bytes", SQL_BYTES, .description = "their size", SQL_FIELD(hwy_drop, bytes)},
	{"start", SQL_TIME, .description = "from when on", SQL_FIELD(hwy_drop, from)},
	{"end", SQL_TIME, .description = "until when", SQL_FIELD(hwy_drop, to)},
	{"process_id", SQL_ROW, .description = "processes.id", SQL_FIELD(hwy_drop, process)},
	{"thread_id", SQL_ROW, .description = "threads.id", SQL_FIELD(hwy_drop, thread)},
};
const struct sql_table table_drops = {.name = "drops",
				      .about = "events that were lost",
				      SQL_COLUMNS(drop_columns),
				      .records = HWY_TABLE_drops};

static const struct sql_column clock_columns[] = {
	{"host_id", SQL_ROW, .description = "hosts.id", SQL_FIELD(hwy_clock, host)},
	{"monotonic", SQL_NUMBER, .description = "ns of CLOCK_MONOTONIC",
	 SQL_FIELD(hwy_clock, monotonic)},
	{"monotonic_raw", SQL_NUMBER, .description = "ns of CLOCK_MONOTONIC_RAW",
	 SQL_FIELD(hwy_clock, monotonic_raw)},
	{"realtime", SQL_NUMBER, .description = "ns of CLOCK_REALTIME",
	 SQL_FIELD(hwy_clock, realtime)},
	{"device_id", SQL_ROW, .description = "devices.id", SQL_FIELD(hwy_clock, device)},
	{"device_time", SQL_NUMBER, .description = "ns of the device's clock",
	 SQL_FIELD(hwy_clock, device_time)},
};
const struct sql_table table_clocks = {.name = "clocks",
				       .about = "moments that were read on several clocks",
				       SQL_COLUMNS(clock_columns),
				       .records = HWY_TABLE_clocks};

static const struct sql_column ping_columns[] = {
	{"process_id", SQL_ROW, .description = "processes.id of who asked",
	 SQL_FIELD(hwy_ping, process)},
	{"peer", SQL_NUMBER, .description = "the rank that answered", SQL_FIELD(hwy_ping, peer)},
	{"time", SQL_TIME, .description = "when it was asked", SQL_FIELD(hwy_ping, time)},
	{"peer_time", SQL_NUMBER, .description = "ns of the peer's CLOCK_MONOTONIC",
	 SQL_FIELD(hwy_ping, peer_time)},
	{"error", SQL_DURATION, .description = "by how much that may be wrong",
	 SQL_FIELD(hwy_ping, error)},
};
const struct sql_table table_pings = {.name = "pings",
				      .about = "readings of another rank's clock",
				      SQL_COLUMNS(ping_columns),
				      .records = HWY_TABLE_pings};

static const struct sql_column calibration_columns[] = {
	{"device_id", SQL_ROW, .description = "devices.id", SQL_FIELD(hwy_calibration, device)},
	{"name", SQL_TEXT, .description = "what was measured", SQL_FIELD(hwy_calibration, name)},
	{"value", SQL_NUMBER, .description = "its value", SQL_FIELD(hwy_calibration, value)},
	{"spread", SQL_NUMBER, .description = "how much it varies",
	 SQL_FIELD(hwy_calibration, spread)},
	{"unit", SQL_TEXT, .description = "its unit", SQL_FIELD(hwy_calibration, unit)},
};
const struct sql_table table_calibrations = {
	.name = "calibrations",
	.about = "costs of recording, and times that the machine takes without it",
	SQL_COLUMNS(calibration_columns),
	.records = HWY_TABLE_calibrations};

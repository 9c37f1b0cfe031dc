/* SPDX-License-Identifier: Apache-2.0 */
/* table_records.c - the tables of who is who, as the trace holds them: hosts, processes,
 * threads, devices, contexts, streams, modules, groups, and facts about the recording. */
#include "sql/sql_tables.h"

static const struct sql_column host_columns[] = {
	{"name", SQL_TEXT, .description = "the host's name", SQL_FIELD(hwy_host, name)},
	{"cpu", SQL_TEXT, .description = "the model of its CPU", SQL_FIELD(hwy_host, cpu)},
	{"cpus", SQL_NUMBER, .description = "how many CPUs it has", SQL_FIELD(hwy_host, cpus)},
	{"kernel", SQL_TEXT, .description = "the version of its kernel",
	 SQL_FIELD(hwy_host, kernel)},
	{"os", SQL_TEXT, .description = "its operating system", SQL_FIELD(hwy_host, os)},
	{"boot_id", SQL_TEXT, .description = "tells one start of the host from another",
	 SQL_FIELD(hwy_host, boot_id)},
};
const struct sql_table table_hosts = {.name = "hosts",
				      .about = "machines",
				      SQL_COLUMNS(host_columns),
				      .records = HWY_TABLE_hosts};

static const struct sql_column process_columns[] = {
	{"pid", SQL_NUMBER, .description = "the id that the system gave the process",
	 SQL_FIELD(hwy_process, pid)},
	{"name", SQL_TEXT, .description = "the name of the program", SQL_FIELD(hwy_process, name)},
	{"command", SQL_TEXT, .description = "the command line", SQL_FIELD(hwy_process, command)},
	{"host_id", SQL_ROW, .description = "hosts.id", SQL_FIELD(hwy_process, host)},
	{"parent_id", SQL_ROW, .description = "processes.id of the process that started it",
	 SQL_FIELD(hwy_process, parent)},
	{"start", SQL_TIME, .description = "when the process began", SQL_FIELD(hwy_process, start)},
	{"end", SQL_TIME, .description = "when the process ended", SQL_FIELD(hwy_process, end)},
	{"exit", SQL_NUMBER, .description = "the exit status as wait() gives it",
	 SQL_FIELD(hwy_process, exit)},
	{"rank", SQL_NUMBER, .description = "the rank in the job", SQL_FIELD(hwy_process, rank)},
	{"local_rank", SQL_NUMBER, .description = "the rank on the host",
	 SQL_FIELD(hwy_process, local_rank)},
	{"world", SQL_NUMBER, .description = "how many ranks the job has",
	 SQL_FIELD(hwy_process, world)},
	{"labels", SQL_TEXT, .description = "labels that a framework gave the process",
	 SQL_FIELD(hwy_process, labels)},
};
const struct sql_table table_processes = {.name = "processes",
					  .about = "the recorded processes",
					  SQL_COLUMNS(process_columns),
					  .records = HWY_TABLE_processes};

static const struct sql_column thread_columns[] = {
	{"tid", SQL_NUMBER, .description = "the id that the system gave the thread",
	 SQL_FIELD(hwy_thread, tid)},
	{"name", SQL_TEXT, .description = "the name of the thread", SQL_FIELD(hwy_thread, name)},
	{"process_id", SQL_ROW, .description = "processes.id", SQL_FIELD(hwy_thread, process)},
	{"priority", SQL_NUMBER, .description = "its priority", SQL_FIELD(hwy_thread, priority)},
	{"source_name", SQL_TEXT,
	 .description = "the source's name of the thread, where that is not a number",
	 SQL_FIELD(hwy_thread, source_name)},
};
const struct sql_table table_threads = {.name = "threads",
					.about = "threads",
					SQL_COLUMNS(thread_columns),
					.records = HWY_TABLE_threads};

static const struct sql_column device_columns[] = {
	{"device", SQL_NUMBER, .description = "the number that people see",
	 SQL_FIELD(hwy_device, ordinal)},
	{"name", SQL_TEXT, .description = "the model", SQL_FIELD(hwy_device, name)},
	{"host_id", SQL_ROW, .description = "hosts.id", SQL_FIELD(hwy_device, host)},
	{"uuid", SQL_TEXT, .description = "the vendor's id of this device",
	 SQL_FIELD(hwy_device, uuid)},
	{"bus", SQL_TEXT, .description = "its place on the PCI bus", SQL_FIELD(hwy_device, bus)},
	{"compute_major", SQL_NUMBER, .description = "compute capability",
	 SQL_FIELD(hwy_device, compute_major)},
	{"compute_minor", SQL_NUMBER, .description = "compute capability",
	 SQL_FIELD(hwy_device, compute_minor)},
	{"sms", SQL_NUMBER, .description = "multiprocessors", SQL_FIELD(hwy_device, sms)},
	{"threads_per_warp", SQL_NUMBER, .description = "threads of a warp",
	 SQL_FIELD(hwy_device, threads_per_warp)},
	{"max_warps_per_sm", SQL_NUMBER, .description = "limit of a multiprocessor",
	 SQL_FIELD(hwy_device, max_warps_per_sm)},
	{"max_blocks_per_sm", SQL_NUMBER, .description = "limit of a multiprocessor",
	 SQL_FIELD(hwy_device, max_blocks_per_sm)},
	{"max_threads_per_sm", SQL_NUMBER, .description = "limit of a multiprocessor",
	 SQL_FIELD(hwy_device, max_threads_per_sm)},
	{"max_threads_per_block", SQL_NUMBER, .description = "limit of a block",
	 SQL_FIELD(hwy_device, max_threads_per_block)},
	{"registers_per_sm", SQL_NUMBER, .description = "registers of a multiprocessor",
	 SQL_FIELD(hwy_device, registers_per_sm)},
	{"registers_per_block", SQL_NUMBER, .description = "limit of a block",
	 SQL_FIELD(hwy_device, registers_per_block)},
	{"shared_per_sm", SQL_BYTES, .description = "shared memory of a multiprocessor",
	 SQL_FIELD(hwy_device, shared_per_sm)},
	{"shared_per_block", SQL_BYTES, .description = "limit of a block",
	 SQL_FIELD(hwy_device, shared_per_block)},
	{"shared_per_block_optin", SQL_BYTES, .description = "limit of a block that asks for more",
	 SQL_FIELD(hwy_device, shared_per_block_optin)},
	{"l2_bytes", SQL_BYTES, .description = "L2 cache", SQL_FIELD(hwy_device, l2_bytes)},
	{"memory_bytes", SQL_BYTES, .description = "memory", SQL_FIELD(hwy_device, memory_bytes)},
	{"memory_bandwidth", SQL_NUMBER, .description = "bytes a second",
	 SQL_FIELD(hwy_device, memory_bandwidth)},
	{"clock_hz", SQL_NUMBER, .description = "the highest clock rate, in Hz",
	 SQL_FIELD(hwy_device, clock_hz)},
	{"copy_engines", SQL_NUMBER, .description = "engines that copy beside kernels",
	 SQL_FIELD(hwy_device, copy_engines)},
	{"pcie_generation", SQL_NUMBER, .description = "PCI Express",
	 SQL_FIELD(hwy_device, pcie_generation)},
	{"pcie_width", SQL_NUMBER, .description = "lanes of PCI Express",
	 SQL_FIELD(hwy_device, pcie_width)},
};
const struct sql_table table_devices = {.name = "devices",
					.about = "devices",
					SQL_COLUMNS(device_columns),
					.records = HWY_TABLE_devices};

static const struct sql_column context_columns[] = {
	{"context", SQL_NUMBER, .description = "the vendor's number of the context",
	 SQL_FIELD(hwy_context, number)},
	{"process_id", SQL_ROW, .description = "processes.id", SQL_FIELD(hwy_context, process)},
	{"device_id", SQL_ROW, .description = "devices.id", SQL_FIELD(hwy_context, device)},
	{"parent", SQL_NUMBER,
	 .description = "of a green context: the number of the context it is a part of",
	 SQL_FIELD(hwy_context, parent)},
	{"green", SQL_FLAG, .description = "a green context", SQL_FIELD(hwy_context, green)},
	{"null_stream", SQL_NUMBER, .description = "the number of the default stream",
	 SQL_FIELD(hwy_context, null_stream)},
	{"sms", SQL_NUMBER, .description = "multiprocessors", SQL_FIELD(hwy_context, sms)},
	{"name", SQL_TEXT, .description = "its name", SQL_FIELD(hwy_context, name)},
};
const struct sql_table table_contexts = {.name = "contexts",
					 .about = "contexts of devices",
					 SQL_COLUMNS(context_columns),
					 .records = HWY_TABLE_contexts};

static const struct sql_column stream_columns[] = {
	{"stream", SQL_NUMBER, .description = "the vendor's number of the stream",
	 SQL_FIELD(hwy_stream, number)},
	{"name", SQL_TEXT, .description = "its name", SQL_FIELD(hwy_stream, name)},
	{"process_id", SQL_ROW, .description = "processes.id", SQL_FIELD(hwy_stream, process)},
	{"device_id", SQL_ROW, .description = "devices.id", SQL_FIELD(hwy_stream, device)},
	{"context", SQL_NUMBER, .description = "the number of its context",
	 SQL_FIELD(hwy_stream, context)},
	{"green", SQL_NUMBER, .description = "the number of its green context",
	 SQL_FIELD(hwy_stream, green)},
	{"priority", SQL_NUMBER, .description = "its priority", SQL_FIELD(hwy_stream, priority)},
	{"flags", SQL_NUMBER,
	 .description =
		 "CUDA: 1 default (blocking), 2 non-blocking, 3 null; OpenCL: 4 in order, 5 out of order",
	 SQL_FIELD(hwy_stream, flags)},
	{"process_device", SQL_NUMBER, .description = "the device's number in the process",
	 SQL_FIELD(hwy_stream, ordinal)},
};
const struct sql_table table_streams = {.name = "streams",
					.about = "streams and queues",
					SQL_COLUMNS(stream_columns),
					.records = HWY_TABLE_streams};

static const struct sql_column module_columns[] = {
	{"path", SQL_TEXT, .description = "the file", SQL_FIELD(hwy_module, path)},
	{"process_id", SQL_ROW, .description = "processes.id", SQL_FIELD(hwy_module, process)},
	{"build_id", SQL_TEXT, .description = "tells one build from another",
	 SQL_FIELD(hwy_module, build_id)},
	{"base", SQL_NUMBER, .description = "the address it is mapped to",
	 SQL_FIELD(hwy_module, base)},
	{"size", SQL_BYTES, .description = "how much of it is mapped", SQL_FIELD(hwy_module, size)},
};
const struct sql_table table_modules = {.name = "modules",
					.about = "programs and libraries in the processes",
					SQL_COLUMNS(module_columns),
					.records = HWY_TABLE_modules};

static const struct sql_column group_columns[] = {
	{"name", SQL_TEXT, .description = "the name of the group", SQL_FIELD(hwy_group, name)},
	{"process_id", SQL_ROW, .description = "processes.id of the process that tells",
	 SQL_FIELD(hwy_group, process)},
	{"description", SQL_TEXT, .description = "what the framework says of it",
	 SQL_FIELD(hwy_group, description)},
	{"backend", SQL_TEXT, .description = "the library that communicates",
	 SQL_FIELD(hwy_group, backend)},
	{"size", SQL_NUMBER, .description = "how many ranks it has", SQL_FIELD(hwy_group, size)},
	{"ranks", SQL_TEXT, .description = "the list of its ranks", SQL_FIELD(hwy_group, ranks)},
};
const struct sql_table table_groups = {.name = "groups",
				       .about = "groups of ranks: communicators",
				       SQL_COLUMNS(group_columns),
				       .records = HWY_TABLE_groups};

static const struct sql_column property_columns[] = {
	{"name", SQL_TEXT, .description = "what the fact is about: source.format, driver …",
	 SQL_FIELD(hwy_property, name)},
	{"value", SQL_TEXT, .description = "the fact", SQL_FIELD(hwy_property, value)},
};
const struct sql_table table_properties = {.name = "properties",
					   .about = "facts about the recording",
					   SQL_COLUMNS(property_columns),
					   .records = HWY_TABLE_properties};

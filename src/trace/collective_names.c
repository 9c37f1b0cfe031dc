/* SPDX-License-Identifier: Apache-2.0 */
/* collective_names.c - see collective_names.h.
 *
 * Names are compared by their letters alone, in lower case: "all_reduce", "AllReduce" and
 * "all-reduce" are one. A beginning (the library; MPI's I of calls that do not wait) and an
 * ending (what kind of buffers it has) tell the same operation.
 */
#include "trace/collective_names.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { MOST_LETTERS = 48 };

const struct hwy_exchange hwy_exchange_both = {"SendReceive", HWY_MESSAGE_COLLECTIVE, false};
const struct hwy_exchange hwy_exchange_unknown = {"Collective", HWY_MESSAGE_COLLECTIVE, false};

static const struct {
	const char *letters;
	struct hwy_exchange operation;
} operations[] = {
	{"allreduce", {"AllReduce", HWY_MESSAGE_COLLECTIVE, false}},
	{"sparseallreduce", {"AllReduce", HWY_MESSAGE_COLLECTIVE, false}},
	{"allgather", {"AllGather", HWY_MESSAGE_COLLECTIVE, false}},
	{"reducescatter", {"ReduceScatter", HWY_MESSAGE_COLLECTIVE, false}},
	{"broadcast", {"Broadcast", HWY_MESSAGE_COLLECTIVE, true}},
	{"bcast", {"Broadcast", HWY_MESSAGE_COLLECTIVE, true}},
	{"reduce", {"Reduce", HWY_MESSAGE_COLLECTIVE, true}},
	{"alltoall", {"AllToAll", HWY_MESSAGE_COLLECTIVE, false}},
	{"gather", {"Gather", HWY_MESSAGE_COLLECTIVE, true}},
	{"scatter", {"Scatter", HWY_MESSAGE_COLLECTIVE, true}},
	{"scan", {"Scan", HWY_MESSAGE_COLLECTIVE, false}},
	{"exscan", {"Scan", HWY_MESSAGE_COLLECTIVE, false}},
	{"barrier", {"Barrier", HWY_MESSAGE_COLLECTIVE, false}},
	{"send", {"Send", HWY_MESSAGE_SEND, false}},
	{"ssend", {"Send", HWY_MESSAGE_SEND, false}},
	{"bsend", {"Send", HWY_MESSAGE_SEND, false}},
	{"rsend", {"Send", HWY_MESSAGE_SEND, false}},
	{"recv", {"Receive", HWY_MESSAGE_RECEIVE, false}},
	{"mrecv", {"Receive", HWY_MESSAGE_RECEIVE, false}},
	{"recvanysource", {"Receive", HWY_MESSAGE_RECEIVE, false}},
	{"receive", {"Receive", HWY_MESSAGE_RECEIVE, false}},
	/* Each rank of XLA's permutation sends to one and receives from one. */
	{"collectivepermute", {"SendReceive", HWY_MESSAGE_COLLECTIVE, false}},
};

static bool is_ending(const char *rest)
{
	static const char *const endings[] = {"",           "base",
					      "coalesced",  "basecoalesced",
					      "intotensor", "intotensorcoalesced",
					      "tensor",     "single",
					      "v",          "w",
					      "block",      "init",
					      "start",      "async",
					      "object"};
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (strcmp(rest, endings[i]) == 0)
			return true;
	return false;
}

static const struct hwy_exchange *operation_of_letters(const char *letters)
{
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
		size_t n = strlen(operations[i].letters);
		if (strncmp(letters, operations[i].letters, n) == 0 && is_ending(letters + n))
			return &operations[i].operation;
	}
	return NULL;
}

const struct hwy_exchange *hwy_exchange_of(const char *name, size_t length)
{
	static const char *const beginnings[] = {"mpi", "nccl", "rccl"};
	char letters[MOST_LETTERS] = "";
	size_t n = 0;
	for (size_t i = 0; i < length; i++) {
		/* "nccl:send 0->1" and "all-reduce.3": what follows is a number. */
		if (name[i] == ' ' || name[i] == '.')
			break;
		if (!isalpha((unsigned char)name[i]))
			continue;
		if (n + 1 == sizeof letters)
			return NULL;
		letters[n++] = (char)tolower((unsigned char)name[i]);
	}
	const char *from = letters;
	for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
		if (strncmp(from, beginnings[i], strlen(beginnings[i])) == 0)
			from += strlen(beginnings[i]);
	if (strncmp(from, "ineighbor", 9) == 0 || strncmp(from, "neighbor", 8) == 0)
		from = strstr(from, "neighbor") + 8;
	const struct hwy_exchange *found = operation_of_letters(from);
	return !found && *from == 'i' ? operation_of_letters(from + 1) : found;
}

const struct hwy_exchange *hwy_exchange_of_kernel(const char *name)
{
	static const struct {
		const char *part, *operation;
	} parts[] = {
		{"allreduce", "allreduce"},
		{"all_reduce", "allreduce"},
		{"cross_device_reduce", "allreduce"},
		{"quick_reduce", "allreduce"},
		{"quickreduce", "allreduce"},
		{"allgather", "allgather"},
		{"all_gather", "allgather"},
		{"reducescatter", "reducescatter"},
		{"reduce_scatter", "reducescatter"},
		{"alltoall", "alltoall"},
		{"all_to_all", "alltoall"},
		{"ncclKernel_Broadcast", "broadcast"},
		{"ncclDevKernel_Broadcast", "broadcast"},
		{"ncclKernel_Reduce_", "reduce"},
		{"ncclDevKernel_Reduce_", "reduce"},
	};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (strcasestr(name, parts[i].part))
			return operation_of_letters(parts[i].operation);
	return strcasestr(name, "SendRecv") ? &hwy_exchange_both : NULL;
}

/* ---- types of elements ----------------------------------------------------------------------- */

static const struct {
	const char *spelling; /* without c10::, nccl or MPI_ */
	struct hwy_datatype type;
} datatypes[] = {
	{"float", {"float32", 4}},
	{"float32", {"float32", 4}},
	{"double", {"float64", 8}},
	{"float64", {"float64", 8}},
	{"half", {"float16", 2}},
	{"float16", {"float16", 2}},
	{"bfloat16", {"bfloat16", 2}},
	{"float8_e4m3fn", {"float8_e4m3", 1}},
	{"float8_e4m3fnuz", {"float8_e4m3", 1}},
	{"float8e4m3", {"float8_e4m3", 1}},
	{"float8_e5m2", {"float8_e5m2", 1}},
	{"float8_e5m2fnuz", {"float8_e5m2", 1}},
	{"float8e5m2", {"float8_e5m2", 1}},
	{"char", {"int8", 1}},
	{"signed char", {"int8", 1}},
	{"signed_char", {"int8", 1}},
	{"int8", {"int8", 1}},
	{"byte", {"uint8", 1}},
	{"unsigned char", {"uint8", 1}},
	{"unsigned_char", {"uint8", 1}},
	{"uint8", {"uint8", 1}},
	{"bool", {"bool", 1}},
	{"short", {"int16", 2}},
	{"short int", {"int16", 2}},
	{"int", {"int32", 4}},
	{"int32", {"int32", 4}},
	{"uint32", {"uint32", 4}},
	{"unsigned", {"uint32", 4}},
	{"unsigned int", {"uint32", 4}},
	{"long", {"int64", 8}},
	{"long int", {"int64", 8}},
	{"long_long", {"int64", 8}},
	{"int64", {"int64", 8}},
	{"uint64", {"uint64", 8}},
	{"unsigned long", {"uint64", 8}},
	{"unsigned_long", {"uint64", 8}},
	{"complexhalf", {"complex32", 4}},
	{"complex<c10::half>", {"complex32", 4}},
	{"complexfloat", {"complex64", 8}},
	{"complex<float>", {"complex64", 8}},
	{"complexdouble", {"complex128", 16}},
	{"complex<double>", {"complex128", 16}},
};

const struct hwy_datatype *hwy_datatype_of(const char *name)
{
	static const char *const beginnings[] = {"c10::", "nccl", "MPI_"};
	for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			name += strlen(beginnings[i]);
	for (size_t i = 0; i < sizeof datatypes / sizeof *datatypes; i++)
		if (strcasecmp(name, datatypes[i].spelling) == 0)
			return &datatypes[i].type;
	return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* kineto_args.c - recognises the names of arguments and categories, and keeps other arguments as
 * text.
 *
 * Names are told apart by their length first, so that one comparison of a few machine words
 * decides.
 */
#include <string.h>

#include "import/kineto/kineto.h"

#define IS(text) (memcmp(at, text, sizeof text - 1) == 0)

static enum kineto_key key_of_short_name(const char *at, uint32_t length)
{
	switch (length) {
	case 4:
		return IS("grid")   ? KEY_GRID
		       : IS("name") ? KEY_NAME
		       : IS("Addr") ? KEY_ADDRESS
				    : KEY_OTHER;
	case 5:
		return IS("block")   ? KEY_BLOCK
		       : IS("bytes") ? KEY_BYTES
		       : IS("Bytes") ? KEY_MEMORY_BYTES
				     : KEY_OTHER;
	case 6:
		return IS("Ev Idx")   ? KEY_INDEX
		       : IS("stream") ? KEY_STREAM
		       : IS("device") ? KEY_DEVICE
		       : IS("queued") ? KEY_QUEUED
		       : IS("labels") ? KEY_LABELS
				      : KEY_OTHER;
	case 7: return IS("context") ? KEY_CONTEXT : IS("channel") ? KEY_CHANNEL : KEY_OTHER;
	case 8:
		return IS("graph id")   ? KEY_GRAPH
		       : IS("event_id") ? KEY_EVENT
		       : IS("priority") ? KEY_PRIORITY
		       : IS("toDevice") ? KEY_TO_DEVICE
					: KEY_OTHER;
	case 9:
		return IS("Python id")   ? KEY_PYTHON
		       : IS("Device Id") ? KEY_DEVICE_ID
		       : IS("toContext") ? KEY_TO_CONTEXT
					 : KEY_OTHER;
	case 10: return IS("fromDevice") ? KEY_FROM_DEVICE : KEY_OTHER;
	case 11:
		return IS("External id") || IS("external id") ? KEY_EXTERNAL
		       : IS("correlation")                    ? KEY_CORRELATION
		       : IS("Device Type")                    ? KEY_DEVICE_TYPE
		       : IS("fromContext")                    ? KEY_FROM_CONTEXT
							      : KEY_OTHER;
	default: return KEY_OTHER;
	}
}

static enum kineto_key key_of_long_name(const char *at, uint32_t length)
{
	switch (length) {
	case 12: return IS("channel_type") ? KEY_CHANNEL_TYPE : KEY_OTHER;
	case 13:
		return IS("shared memory")   ? KEY_SHARED
		       : IS("graph node id") ? KEY_GRAPH_NODE
					     : KEY_OTHER;
	case 14:
		return IS("Total Reserved")   ? KEY_RESERVED
		       : IS("cuda_sync_kind") ? KEY_SYNC_KIND
		       : IS("wait_on_stream") ? KEY_WAIT_STREAM
					      : KEY_OTHER;
	case 15:
		return IS("Sequence number")   ? KEY_SEQUENCE
		       : IS("Total Allocated") ? KEY_ALLOCATED
					       : KEY_OTHER;
	case 16: return IS("Python parent id") ? KEY_PYTHON_PARENT : KEY_OTHER;
	case 18: return IS("Record function id") ? KEY_RECORD_FUNCTION : KEY_OTHER;
	case 20: return IS("registers per thread") ? KEY_REGISTERS : KEY_OTHER;
	case 21: return IS("wait_on_cuda_event_id") ? KEY_WAIT_EVENT : KEY_OTHER;
	case 23: return IS("memory bandwidth (GB/s)") ? KEY_BANDWIDTH : KEY_OTHER;
	case 33: return IS("wait_on_cuda_event_record_corr_id") ? KEY_WAIT_RECORD : KEY_OTHER;
	default: return KEY_OTHER;
	}
}

enum kineto_key kineto_key_of(const char *key, uint32_t length)
{
	return length < 12 ? key_of_short_name(key, length) : key_of_long_name(key, length);
}

/* The end of a name tells its category, whatever the vendor: cuda_runtime, xpu_driver,
 * privateuse1_runtime. */
static enum kineto_category category_by_end(const char *text, uint32_t length)
{
	static const struct {
		const char *end;
		enum kineto_category category;
	} ends[] = {{"_runtime", CAT_API}, {"_driver", CAT_API}, {"_sync", CAT_SYNC}};
	static const char *const libraries[] = {"MPI",      "NCCL",     "cuBLAS",
						"cuBLASLt", "cuBLASXt", "cuDNN",
						"cuSPARSE", "cuSOLVER", "cuFFT"};
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		size_t n = strlen(ends[i].end);
		if (length > n && memcmp(text + length - n, ends[i].end, n) == 0)
			return ends[i].category;
	}
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
		if (strlen(libraries[i]) == length && memcmp(text, libraries[i], length) == 0)
			return CAT_LIBRARY;
	return CAT_OTHER;
}

/* The names with capitals are those that PyTorch wrote in 2021. */
enum kineto_category kineto_category_of(const struct scan_value *cat)
{
	const char *at = cat->text;
	switch (cat->length) {
	case 4: return IS("ac2g") ? CAT_LAUNCH_FLOW : category_by_end(at, 4);
	case 5:
		return IS("Trace")   ? CAT_TRACE
		       : IS("async") ? CAT_LAUNCH_FLOW
				     : category_by_end(at, 5);
	case 6:
		return IS("cpu_op")                   ? CAT_OP
		       : IS("kernel") || IS("Kernel") ? CAT_KERNEL
		       : IS("fwdbwd")                 ? CAT_FORWARD_FLOW
		       : IS("Memcpy")                 ? CAT_COPY
		       : IS("Memset")                 ? CAT_FILL
						      : category_by_end(at, 6);
	case 7: return IS("Runtime") ? CAT_API : CAT_OTHER;
	case 8:
		return IS("Operator")   ? CAT_OP
		       : IS("overhead") ? CAT_OVERHEAD
					: category_by_end(at, 8);
	case 9: return IS("async_gpu") ? CAT_LAUNCH_FLOW : category_by_end(at, 9);
	case 10:
		return IS("gpu_memcpy")   ? CAT_COPY
		       : IS("gpu_memset") ? CAT_FILL
		       : IS("cuda_event") ? CAT_EVENT
					  : category_by_end(at, 10);
	case 12: return IS("cuda_runtime") ? CAT_API : category_by_end(at, 12);
	case 15:
		return IS("python_function")   ? CAT_PYTHON
		       : IS("user_annotation") ? CAT_ANNOTATION
					       : category_by_end(at, 15);
	case 19: return IS("gpu_user_annotation") ? CAT_DEVICE_ANNOTATION : category_by_end(at, 19);
	default: return category_by_end(at, cat->length);
	}
}

void kineto_need_scratch(struct kineto *k, size_t bytes)
{
	if (k->scratch_size >= bytes)
		return;
	k->scratch_size = bytes * 2;
	k->scratch = hwy_realloc(k->scratch, k->scratch_size);
}

struct hwy_text kineto_text(struct kineto *k, const struct scan_value *value)
{
	if (!value->escaped)
		return (struct hwy_text){value->text, value->length};
	kineto_need_scratch(k, value->length);
	return (struct hwy_text){
		k->scratch,
		(uint32_t)scan_unescape(value->text, value->length, k->scratch),
	};
}

uint32_t kineto_text_id(struct kineto *k, const struct scan_value *value)
{
	struct hwy_text text = kineto_text(k, value);
	return hwy_text_id_n(k->b, text.at, text.length);
}

bool kineto_arg(const struct kineto *k, enum kineto_key key, int64_t *number)
{
	const struct scan_value *value = kineto_value(k, key);
	return value && scan_integer(value, number);
}

int64_t kineto_number(const struct kineto *k, enum kineto_key key)
{
	int64_t number;
	return kineto_arg(k, key, &number) ? number : 0;
}

const struct scan_value *kineto_value(const struct kineto *k, enum kineto_key key)
{
	uint32_t ref = k->event.arg_refs[key];
	return hwy_ref32_is_set(ref) ? &k->event.args[hwy_ref32_index(ref)].value : NULL;
}

/* Writes a value that is not valid JSON as a string that holds the value's text; yields the end. */
static char *put_value_as_string(char *to, const struct scan_value *value)
{
	*to++ = '"';
	for (uint32_t i = 0; i < value->length; i++) {
		if (value->text[i] == '"' || value->text[i] == '\\')
			*to++ = '\\';
		*to++ = value->text[i];
	}
	*to++ = '"';
	return to;
}

static char *put_arg(char *to, const struct kineto_arg *arg)
{
	*to++ = '"';
	memcpy(to, arg->key.at, arg->key.length);
	to += arg->key.length;
	*to++ = '"';
	*to++ = ':';
	if (arg->value.odd)
		return put_value_as_string(to, &arg->value);
	uint32_t quote = arg->value.type == SCAN_STRING;
	memcpy(to, arg->value.text - quote, arg->value.length + 2 * quote);
	return to + arg->value.length + 2 * quote;
}

/* Whether a text has a control character (a byte below 32). Eight bytes are tested at once:
 * subtracting 32 from each sets the top bit of bytes below 32, and '& ~bytes' excludes bytes above
 * 127, which had it before. */
static bool has_control(const char *at, const char *end)
{
	const uint64_t ones = UINT64_MAX / 255;
	for (; end - at >= 8; at += 8) {
		uint64_t bytes;
		memcpy(&bytes, at, sizeof bytes);
		if ((bytes - ones * 0x20) & ~bytes & ones * 0x80)
			return true;
	}
	for (; at < end; at++)
		if ((unsigned char)*at < 0x20)
			return true;
	return false;
}

/* Copies an object without line breaks between values, and with control characters in strings
 * escaped. 'to' has room for six times the text. */
static size_t put_object_on_one_line(char *to, const char *at, const char *end)
{
	static const char digits[] = "0123456789abcdef";
	char *start = to;
	for (bool in_string = false; at < end; at++) {
		unsigned char c = (unsigned char)*at;
		if (c >= 0x20) {
			*to++ = *at;
			if (c == '\\' && in_string && at + 1 < end && (unsigned char)at[1] >= 0x20)
				*to++ = *++at;
			else if (c == '"')
				in_string = !in_string;
		} else if (in_string) {
			memcpy(to, "\\u00", 4);
			to[4] = digits[c >> 4];
			to[5] = digits[c & 15];
			to += 6;
		}
	}
	return (size_t)(to - start);
}

static uint32_t keep_args(struct kineto *k, size_t length)
{
	if (!has_control(k->scratch, k->scratch + length))
		return hwy_text_id_n(k->b, k->scratch, length);
	kineto_need_scratch(k, length * 7);
	size_t clean = put_object_on_one_line(k->scratch + length, k->scratch, k->scratch + length);
	return hwy_text_id_n(k->b, k->scratch + length, clean);
}

uint32_t kineto_args_text(struct kineto *k, uint64_t taken)
{
	const struct kineto_event *event = &k->event;
	size_t most = 2;
	for (uint32_t i = 0; i < event->n_args; i++)
		most += event->args[i].key.length + 2 * (size_t)event->args[i].value.length + 6;
	kineto_need_scratch(k, most);
	char *to = k->scratch;
	for (uint32_t i = 0; i < event->n_args; i++) {
		if (taken & KINETO_TAKES(event->args[i].id))
			continue;
		*to = to == k->scratch ? '{' : ',';
		to = put_arg(to + 1, &event->args[i]);
	}
	if (to == k->scratch)
		return 0;
	*to++ = '}';
	return keep_args(k, (size_t)(to - k->scratch));
}

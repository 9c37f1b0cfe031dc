/* SPDX-License-Identifier: Apache-2.0 */
/* dump.c - prints spools as text, one record a line: PID TID TYPE, then what the type has.
 *
 * dump RUN_DIRECTORY | SPOOL…   Texts are resolved over all spools of a process. What is not as record.h
 * says is printed as a line with "BROKEN" and makes the exit status 1.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spool/record.h"
#include "spool/record_frameworks.h"

static const char *const type_names[REC_TYPES] = {
	"NONE",
	"STRING",
	"SHAPE",
	"CODE",
	"PROCESS",
	"EXIT",
	"THREAD",
	"MODULE",
	"DEVICE",
	"CONTEXT",
	"STREAM",
	"API",
	"KERNEL",
	"COPY",
	"FILL",
	"GRAPH",
	"SYNC",
	"EVENT",
	"MEMORY",
	"OVERHEAD",
	"PUSH",
	"POP",
	"RANGE_START",
	"RANGE_END",
	"MARK",
	"NAME",
	"PYTHON_STACK",
	"NATIVE_STACK",
	"NOTE",
	"DROP",
	"CLOCK",
	"RECORDING",
	"PROPERTY",
	"STATUS",
	"OS",
	"SAMPLE",
	"SWITCH",
	"WAKEUP",
	"DEPENDS",
	"COMMAND",
	"TASK",
	"MAP",
	"OWNER",
	"ROOM",
	"INTERRUPTED",
	"OPERATOR",
	"PLACE",
	"LAYER",
	"NODE",
	"COLLECTION",
	"COUNTER_DEVICE",
	"COUNTER_LANE",
	"COUNTER_VALUE",
	"COUNTER_ROW",
	"COUNTER_TOTAL",
	"NCCL_COMM",
	"NCCL_EVENT",
	"NCCL_END",
	"NCCL_CHANNEL",
	"NCCL_PROXY",
	"CALL",
	"NVTX_DEFINITION",
	"NVTX_PAYLOAD",
	"NVTX_SAMPLE",
};

struct spool {
	const char *path;
	const char *bytes;
	size_t size;
};
static struct spool spools[4096];
static size_t spool_count;
static bool broken;
static uint32_t owner; /* the thread that wrote the current record */

struct text {
	uint32_t pid, id;
	uint64_t process;
	const struct rec_string *record;
};
static struct text *texts;
static size_t text_count, text_room;

static struct text *codes; /* code objects, the same way */
static size_t code_count, code_room;

static void open_spool(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat about;
	if (fd < 0 || fstat(fd, &about) != 0 || spool_count == sizeof spools / sizeof spools[0]) {
		perror(path);
		exit(2);
	}
	struct spool *spool = &spools[spool_count];
	if (about.st_size > 0) {
		spool->path = strdup(path);
		spool->size = (size_t)about.st_size;
		/* A copy: whoever outlives the program, Python's resource tracker say, may still write between two walks. */
		char *bytes = malloc(spool->size);
		size_t have = 0;
		for (ssize_t n; (n = read(fd, bytes + have, spool->size - have)) > 0;)
			have += (size_t)n;
		spool->bytes = bytes;
		spool->size = have;
		spool_count++;
	}
	close(fd);
}

static int is_spool(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');
	return end && strcmp(end, ".spool") == 0;
}

static void open_run(const char *directory)
{
	struct dirent **entries;
	int n = scandir(directory, &entries, is_spool, versionsort);
	if (n < 0) {
		perror(directory);
		exit(2);
	}
	for (int i = 0; i < n; i++) {
		char path[5000];
		snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name);
		open_spool(path);
		free(entries[i]);
	}
	free(entries);
}

/* ---- walking ------------------------------------------------------------------------------------ */

typedef void visit(const struct rec_chunk *chunk, const struct rec_head *head);

static void complain(const struct spool *spool, size_t at, const char *what)
{
	printf("BROKEN %s at %zu: %s\n", spool->path, at, what);
	broken = true;
}

static void walk_chunk(const struct spool *spool, size_t at, visit *each)
{
	const struct rec_chunk *chunk = (const void *)(spool->bytes + at);
	size_t left = spool->size - at;
	if (left < sizeof *chunk) {
		complain(spool, at, "no room for a chunk's head");
		return;
	}
	if (chunk->used < 2)
		return;
	owner = chunk->tid;
	if (chunk->magic != REC_MAGIC || chunk->version != REC_VERSION)
		complain(spool, at, "not a chunk");
	else if ((size_t)chunk->used * REC_SLOT > (left < REC_CHUNK_BYTES ? left : REC_CHUNK_BYTES))
		complain(spool, at, "used reaches beyond the chunk");
	else
		for (uint32_t slot = 2; slot < chunk->used;) {
			const struct rec_head *head =
				(const void *)(spool->bytes + at + (size_t)slot * REC_SLOT);
			if (head->slots == 0 || slot + head->slots > chunk->used ||
			    head->type >= REC_TYPES) {
				complain(spool, at + (size_t)slot * REC_SLOT, "not a record");
				return;
			}
			if (head->type == REC_OWNER)
				owner = head->value;
			each(chunk, head);
			slot += head->slots;
		}
}

static void walk(visit *each)
{
	for (size_t i = 0; i < spool_count; i++)
		for (size_t at = 0; at < spools[i].size; at += REC_CHUNK_BYTES)
			walk_chunk(&spools[i], at, each);
}

/* ---- texts -------------------------------------------------------------------------------------- */

static void remember(struct text **list, size_t *count, size_t *room, const struct rec_chunk *chunk,
		     const struct rec_head *head)
{
	if (*count == *room) {
		*room = *room ? *room * 2 : 1024;
		*list = realloc(*list, *room * sizeof **list);
		if (!*list)
			exit(2);
	}
	(*list)[(*count)++] =
		(struct text){chunk->pid, head->value, chunk->process, (const void *)head};
}

static void define(const struct rec_chunk *chunk, const struct rec_head *head)
{
	if (head->type == REC_STRING)
		remember(&texts, &text_count, &text_room, chunk, head);
	else if (head->type == REC_CODE)
		remember(&codes, &code_count, &code_room, chunk, head);
}

static const void *find(const struct text *list, size_t count, const struct rec_chunk *chunk,
			uint32_t id)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].pid == chunk->pid && list[i].id == id &&
		    list[i].process == chunk->process)
			return list[i].record;
	return NULL;
}

static void print_bytes(const char *text, size_t length)
{
	putchar('"');
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\0')
			putchar(' ');
		else if ((unsigned char)text[i] < 32 || text[i] == '"')
			printf("\\x%02x", (unsigned char)text[i]);
		else
			putchar(text[i]);
	}
	putchar('"');
}

static void print_text(const struct rec_chunk *chunk, const char *name, uint32_t id)
{
	printf(" %s=", name);
	const struct rec_string *text = id ? find(texts, text_count, chunk, id) : NULL;
	if (text)
		print_bytes(text->text, text->length);
	else if (id)
		printf("UNDEFINED#%u", id);
	else
		printf("-");
}

/* ---- printing ----------------------------------------------------------------------------------- */

static void print_process(const struct rec_chunk *chunk, const struct rec_process *r)
{
	printf(" pid=%u parent=%u start=%" PRId64 " rank=%d local_rank=%d world=%d python=%x",
	       r->pid, r->parent, r->start, r->rank, r->local_rank, r->world, r->python);
	print_text(chunk, "exe", r->exe);
	print_text(chunk, "command", r->command);
	print_text(chunk, "host", r->host);
}

static void print_module(const struct rec_chunk *chunk, const struct rec_module *r)
{
	printf(" flags=%u base=%" PRIx64 " size=%" PRIx64 " low=%" PRIx64, r->head.flags, r->base,
	       r->size, r->low);
	print_text(chunk, "path", r->path);
	printf(" build_id=");
	for (unsigned i = 0; i < r->build_id_length && i < sizeof r->build_id; i++)
		printf("%02x", r->build_id[i]);
}

static void print_range(const struct rec_chunk *chunk, const struct rec_range *r)
{
	printf(" time=%" PRId64 " id=%" PRIu64 " domain=%u category=%u", r->time, r->id, r->domain,
	       r->category);
	if (r->head.slots > 1 && (r->head.flags & 1))
		printf(" color=%08x", r->color);
	if (r->head.slots > 1 && r->payload_type)
		printf(" payload=%u:%" PRIx64, r->payload_type, r->payload);
	print_text(chunk, "message", r->head.value);
}

static void print_naming(const struct rec_chunk *chunk, const struct rec_naming *r)
{
	static const char *const what[] = {"domain", "category", "stream", "context", "device"};
	printf(" of=%s domain=%u number=%u handle=%" PRIx64,
	       r->head.flags < 5 ? what[r->head.flags] : "?", r->domain, r->number, r->handle);
	print_text(chunk, "name", r->head.value);
}

/* The line at an offset of the bytecode: PEP 626 pairs (3.10). */
static int line_3_10(const struct rec_code *code, int offset)
{
	int line = code->first_line, at = 0;
	for (uint32_t i = 0; i + 1 < code->table_length; i += 2) {
		int change = (int8_t)code->table[i + 1];
		line += change == -128 ? 0 : change;
		at += code->table[i];
		if (offset < at)
			return change == -128 ? 0 : line;
	}
	return 0;
}

static int varint(const struct rec_code *code, uint32_t *i)
{
	int value = 0;
	for (int shift = 0; *i < code->table_length && shift < 30; shift += 6) {
		uint8_t byte = code->table[(*i)++];
		value |= (byte & 63) << shift;
		if (!(byte & 64))
			break;
	}
	return value;
}

/* The location table (3.11 on): entries 1cccclll, then what the kind cccc has. */
static int line_3_11(const struct rec_code *code, int offset)
{
	int line = code->first_line, at = 0;
	for (uint32_t i = 0; i < code->table_length;) {
		uint8_t first = code->table[i++];
		int kind = first >> 3 & 15;
		at += ((first & 7) + 1) * 2;
		if (kind == 13 || kind == 14) {
			int value = varint(code, &i);
			line += value & 1 ? -(value >> 1) : value >> 1;
			for (int skip = 0; kind == 14 && skip < 3; skip++)
				varint(code, &i);
		} else if (kind >= 10 && kind <= 12) {
			line += kind - 10;
			i += 2;
		} else if (kind < 10) {
			i++;
		}
		if (offset < at)
			return kind == 15 ? 0 : line;
	}
	return 0;
}

static void print_python(const struct rec_chunk *chunk, const struct rec_stack *r)
{
	printf(" why=%u time=%" PRId64 " tid=%u correlation=%u frames=%u", r->head.flags, r->time,
	       r->tid, r->correlation, r->count);
	const struct rec_frame *frames = (const void *)(r + 1);
	for (uint32_t i = 0; i < r->count; i++) {
		const struct rec_code *code = find(codes, code_count, chunk, frames[i].code);
		if (!code) {
			printf(" [UNDEFINED#%u", frames[i].code);
		} else {
			printf(" [");
			print_text(chunk, "at", code->name);
			printf(":%d", code->python < 0x030b0000
					      ? line_3_10(code, frames[i].offset)
					      : line_3_11(code, frames[i].offset));
		}
		printf(" offset=%d]", frames[i].offset);
	}
}

static void print_work(const struct rec_chunk *chunk, const struct rec_work *r)
{
	printf(" start=%" PRId64 " duration=%" PRId64
	       " correlation=%u stream=%u context=%u device=%u channel=%u shape=%u graph=%u node=%" PRIu64
	       " exec=%u bytes=%" PRIu64 " value=%x",
	       r->start, r->duration, r->correlation, r->stream, r->context, r->device, r->channel,
	       r->shape, r->graph, r->node, r->graph_exec, r->bytes, r->head.value);
	if (r->head.type == REC_KERNEL)
		print_text(chunk, "name", r->head.value);
}

static void print_node(const struct rec_node *r)
{
	static const char *const events[] = {"created", "cloned", "after"};
	printf(" %s node=%u:%u other=%u:%u graph=%u place=%u",
	       r->head.flags <= REC_NODE_AFTER ? events[r->head.flags] : "?",
	       (uint32_t)(r->node >> 32), (uint32_t)r->node, (uint32_t)(r->other >> 32),
	       (uint32_t)r->other, r->graph, r->place);
}

static void print_os(const struct rec_chunk *chunk, const struct rec_os *r)
{
	uint32_t tid = r->head.slots > 1 ? ((const struct rec_os_of *)r)->tid : owner;
	printf(" tid=%u flags=%u start=%" PRId64 " duration=%" PRId64 " object=%" PRIx64, tid,
	       r->head.flags, r->start, r->duration, r->object);
	print_text(chunk, "name", r->head.value);
}

static void print_operator(const struct rec_chunk *chunk, const void *record)
{
	const struct rec_operator *op = record;
	print_text(chunk, "name", op->head.value);
	printf(" scope=%u sequence=%u place=%u", op->head.flags, op->sequence, op->place);
	if (op->head.slots > 1 && ((const struct rec_operator_inputs *)record)->thread)
		printf(" began-on=%u", ((const struct rec_operator_inputs *)record)->thread);
}

static void print_device(const struct rec_chunk *chunk, const struct rec_device *r)
{
	printf(" ordinal=%u cc=%u.%u sms=%u memory=%" PRIu64, r->head.value, r->compute_major,
	       r->compute_minor, r->sms, r->memory_bytes);
	print_text(chunk, "name", r->name);
	print_text(chunk, "bus", r->bus);
}

static void print_code(const struct rec_chunk *chunk, const struct rec_code *r)
{
	printf(" id=%u first=%d python=%x table=", r->head.value, r->first_line, r->python);
	for (uint32_t i = 0; i < r->table_length; i++)
		printf("%02x", r->table[i]);
	print_text(chunk, "file", r->filename);
	print_text(chunk, "name", r->name);
}

static void print_rest(const struct rec_chunk *chunk, const struct rec_head *head)
{
	const struct rec_string *text = (const void *)head;
	const struct rec_time *time = (const void *)head;
	const struct rec_sync *sync = (const void *)head;
	const struct rec_api *api = (const void *)head;
	const struct rec_drop *drop = (const void *)head;
	const struct rec_clock *clock = (const void *)head;
	const struct rec_stack *stack = (const void *)head;
	switch (head->type) {
	case REC_STRING:
	case REC_NOTE:
		printf(" %u ", head->value);
		print_bytes(text->text, text->length);
		break;
	case REC_PROPERTY:
		print_text(chunk, "name", head->value);
		printf(" value=");
		print_bytes(text->text, text->length);
		break;
	case REC_EXIT:
	case REC_RECORDING:
		printf(" time=%" PRId64 " flags=%u value=%u", time->time, head->flags, head->value);
		break;
	case REC_API:
		printf(" %s cbid=%u result=%u start=%" PRId64 " duration=%" PRId64
		       " correlation=%u tid=%u",
		       head->flags & REC_API_DRIVER ? "driver" : "runtime", head->value & 0xffff,
		       head->value >> 16, api->start, api->duration, api->correlation, api->tid);
		break;
	case REC_SYNC:
	case REC_EVENT:
		printf(" type=%u value=%u start=%" PRId64 " duration=%" PRId64
		       " correlation=%u stream=%u context=%u event=%u event_sync=%" PRIu64,
		       head->flags, head->value, sync->start, sync->duration, sync->correlation,
		       sync->stream, sync->context, sync->event, sync->event_sync);
		break;
	case REC_DROP:
		printf(" count=%" PRIu64, drop->count);
		print_text(chunk, "reason", drop->reason);
		break;
	case REC_CLOCK:
		printf(" monotonic=%" PRId64 " raw=%" PRId64 " realtime=%" PRId64, clock->monotonic,
		       clock->raw, clock->realtime);
		break;
	case REC_NATIVE_STACK:
		printf(" why=%u time=%" PRId64 " tid=%u correlation=%u bytes=%u number=%u",
		       head->flags, stack->time, stack->tid, stack->correlation, stack->count,
		       stack->number);
		break;
	default: printf(" flags=%u value=%u", head->flags, head->value);
	}
}

static void print(const struct rec_chunk *chunk, const struct rec_head *head)
{
	const void *record = head;
	printf("%u %u %s", chunk->pid, owner, type_names[head->type]);
	switch (head->type) {
	case REC_PROCESS: print_process(chunk, record); break;
	case REC_THREAD:
		printf(" tid=%u flags=%u", head->value, head->flags);
		print_text(chunk, "name", ((const struct rec_name *)record)->name);
		break;
	case REC_MODULE: print_module(chunk, record); break;
	case REC_PUSH:
	case REC_POP:
	case REC_RANGE_START:
	case REC_RANGE_END:
	case REC_MARK: print_range(chunk, record); break;
	case REC_NAME: print_naming(chunk, record); break;
	case REC_PYTHON_STACK: print_python(chunk, record); break;
	case REC_CODE: print_code(chunk, record); break;
	case REC_NODE: print_node(record); break;
	case REC_OS: print_os(chunk, record); break;
	case REC_OPERATOR: print_operator(chunk, record); break;
	case REC_DEVICE: print_device(chunk, record); break;
	case REC_KERNEL:
	case REC_COPY:
	case REC_FILL:
	case REC_GRAPH: print_work(chunk, record); break;
	default: print_rest(chunk, head);
	}
	putchar('\n');
}

static void print_drops(void)
{
	for (size_t i = 0; i < spool_count; i++)
		for (size_t at = 0; at + sizeof(struct rec_chunk) <= spools[i].size;
		     at += REC_CHUNK_BYTES) {
			const struct rec_chunk *chunk = (const void *)(spools[i].bytes + at);
			if (chunk->magic == REC_MAGIC && chunk->dropped)
				printf("%u %u DROPPED %u\n", chunk->pid, chunk->tid,
				       chunk->dropped);
		}
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct stat about;
		if (stat(argv[i], &about) == 0 && S_ISDIR(about.st_mode))
			open_run(argv[i]);
		else
			open_spool(argv[i]);
	}
	walk(define);
	walk(print);
	print_drops();
	return broken;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx.c - records the ranges and marks that the program makes through NVTX.
 *
 * Each linkage unit of the program has a copy of NVTX. Each copy loads this library by
 * NVTX_INJECTION64_PATH and calls InitializeInjectionNvtx2, which puts the functions below into
 * that copy's tables. No state is kept per copy: domains and registered strings belong to the
 * process.
 *
 * Times are taken last in a push and first in a pop: what recording costs lies outside of the
 * range. Nesting levels are counted even while nothing is recorded, since NVTX returns them to the
 * program.
 */
#include "collect/nvtx/nvtx.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/process.h"
#include "collect/spool.h"
#include "collect/text_ids.h"
#include "spool/libraries.h"

#define EXPORT __attribute__((visibility("default")))
/* How many ranges nvtxRangeStart has started, which is also the id of the last range. */
static _Atomic uint64_t started_ranges;
static _Atomic uint32_t
	copies; /* how many copies of NVTX called InitializeInjectionNvtx2 with success */

/* ---- the capture range ----------------------------------------------------------------------- */

enum { CAPTURE_IDLE, CAPTURE_CHANGING, CAPTURE_OPEN };

/* The range that started the recording: when this range ends, so does the recording. A process has
 * one at a time. 'state' guards the other fields: the thread that sets it to CAPTURE_OPEN has
 * written them before. CAPTURE_CHANGING: a thread is opening or closing the range, and no other may
 * touch it. */
static struct {
	_Atomic int state;
	/* The thread, the domain number and the nesting level at which a push/pop range is open. */
	uint32_t tid, domain, level;
	uint64_t id; /* the id of a start/end range; 0: the capture range is a push/pop range */
} capture;

/* Copies a text up to an '@' that no backslash protects, without backslashes. Yields the length;
 * 'rest' points behind the '@', or is NULL. */
static size_t unescape(const char *from, char into[256], const char **rest)
{
	size_t n = 0;
	for (; *from && *from != '@' && n < 255; from++) {
		if (from[0] == '\\' && from[1])
			from++;
		into[n++] = *from;
	}
	*rest = *from == '@' ? from + 1 : NULL;
	return n;
}

static bool capture_matches(const struct nvtx_domain *domain, const struct nvtx_text *text)
{
	char name[256];
	const char *wanted;
	size_t length = unescape(collect_control->nvtx_range, name, &wanted);
	if (length != text->length || memcmp(name, text->bytes, length) != 0)
		return false;
	if (!wanted)
		return !domain;
	size_t domain_length;
	const char *bytes = text_ids_text(nvtx_domain_name(domain), &domain_length);
	return strcmp(wanted, "*") == 0 ||
	       (strlen(wanted) == domain_length && memcmp(wanted, bytes, domain_length) == 0);
}

static void capture_open(struct nvtx_domain *domain, uint32_t level, uint64_t id)
{
	int idle = CAPTURE_IDLE;
	if (!atomic_compare_exchange_strong(&capture.state, &idle, CAPTURE_CHANGING))
		return;
	capture.tid = collect_tid();
	capture.domain = nvtx_domain_number(domain);
	capture.level = level;
	capture.id = id;
	atomic_fetch_add((_Atomic uint32_t *)&collect_control->capturing, 1);
	collect_set_recording(true);
	atomic_store(&capture.state, CAPTURE_OPEN);
}

/* Closes this process's capture range. The last open range of all processes ends the recording. */
static void capture_close(void)
{
	int open = CAPTURE_OPEN;
	if (!atomic_compare_exchange_strong(&capture.state, &open, CAPTURE_CHANGING))
		return;
	if (atomic_fetch_sub((_Atomic uint32_t *)&collect_control->capturing, 1) == 1)
		collect_set_recording(false);
	atomic_store(&capture.state, CAPTURE_IDLE);
}

static bool capture_is_open(void)
{
	return atomic_load_explicit(&capture.state, memory_order_acquire) == CAPTURE_OPEN;
}

static void look_for_capture(struct nvtx_domain *domain, const struct nvtx_text *text,
			     uint32_t level, uint64_t id)
{
	bool finished = atomic_load_explicit((_Atomic uint32_t *)&collect_control->finished,
					     memory_order_relaxed);
	if (!finished && !capture_is_open() && capture_matches(domain, text))
		capture_open(domain, level, id);
}

void nvtx_exit(void)
{
	if (capture_is_open())
		capture_close();
}

void nvtx_after_fork(void)
{
	/* A capture range that is open at the fork is the parent's. */
	atomic_store(&capture.state, CAPTURE_IDLE);
}

/* ---- records --------------------------------------------------------------------------------- */

static void put_event(enum rec_type type, struct nvtx_domain *domain,
		      const struct abi_nvtx_event *event, const struct nvtx_text *text, uint64_t id)
{
	uint32_t name = nvtx_string(text), number = nvtx_domain_number(domain);
	bool colored = event && event->color_type == ABI_NVTX_COLOR_ARGB;
	bool loaded =
		event && event->payload_type > 0 && event->payload_type <= ABI_NVTX_PAYLOAD_LAST;
	uint64_t extended = 0;
	if (event && event->payload_type == ABI_NVTX_PAYLOAD_EXT && event->reserved > 0)
		extended = nvtx_put_payloads(number, (const void *)(uintptr_t)event->payload,
					     (size_t)event->reserved);
	struct rec_range *record = collect_reserve(type, colored || loaded || extended ? 2 : 1);
	if (!record)
		return;
	record->head.value = name;
	record->id = id;
	record->domain = number;
	record->category = event ? event->category : 0;
	if (colored) {
		record->head.flags = 1;
		record->color = event->color;
	}
	if (loaded) {
		record->payload_type = (uint32_t)event->payload_type;
		record->payload = event->payload;
	}
	if (extended) {
		record->payload_type = REC_PAYLOAD_EXTENDED;
		record->payload = extended;
	}
	record->time = collect_now();
	collect_publish(record);
}

/* The payloads that the program gives with the end of a range. */
struct payloads {
	const struct abi_nvtx_payload *list;
	size_t n;
};

static void put_range_end(enum rec_type type, int64_t time, struct nvtx_domain *domain, uint64_t id,
			  struct payloads payloads)
{
	uint32_t number = nvtx_domain_number(domain);
	uint64_t extended = nvtx_put_payloads(number, payloads.list, payloads.n);
	struct rec_range *record = collect_reserve(type, extended ? 2 : 1);
	if (!record)
		return;
	record->time = time;
	record->id = id;
	record->domain = number;
	if (extended) {
		record->payload_type = REC_PAYLOAD_EXTENDED;
		record->payload = extended;
	}
	collect_publish(record);
}

/* The argument of an NVTX function: an event with its attributes, or only a text. */
struct message {
	/* The event with its attributes; NULL: there is only a text. */
	const struct abi_nvtx_event *event;
	int type;
	union abi_nvtx_message text;
};

static struct message message_of_event(const struct abi_nvtx_event *event)
{
	if (!event || event->size < sizeof *event)
		return (struct message){.type = ABI_NVTX_MESSAGE_NONE};
	return (struct message){event, event->message_type, event->message};
}

static struct message message_of_ascii(const char *text)
{
	return (struct message){.type = ABI_NVTX_MESSAGE_ASCII, .text.ascii = text};
}

static struct message message_of_wide(const wchar_t *text)
{
	return (struct message){.type = ABI_NVTX_MESSAGE_WIDE, .text.wide = text};
}

static void event_with_text(enum rec_type type, struct nvtx_domain *domain,
			    const struct message *message, const struct nvtx_text *text,
			    uint32_t level, uint64_t id)
{
	if (type != REC_MARK && collect_control->capture == REC_CAPTURE_NVTX)
		look_for_capture(domain, text, level, id);
	if (nvtx_is_on(domain))
		put_event(type, domain, message->event, text, id);
}

/* Not part of event_begin, whose frame would have to hold the room: the program may call NVTX with
 * less stack left than that. */
__attribute__((noinline)) static void event_with_wide_text(enum rec_type type,
							   struct nvtx_domain *domain,
							   const struct message *message,
							   uint32_t level, uint64_t id)
{
	char room[NVTX_WIDE_BYTES];
	struct nvtx_text text = nvtx_text_of(message->type, message->text, room);
	event_with_text(type, domain, message, &text, level, id);
}

static void event_begin(enum rec_type type, struct nvtx_domain *domain, struct message message,
			uint32_t level, uint64_t id)
{
	bool looks = type != REC_MARK && collect_control->capture == REC_CAPTURE_NVTX;
	if (!looks && !nvtx_is_on(domain))
		return;
	if (message.type == ABI_NVTX_MESSAGE_WIDE) {
		event_with_wide_text(type, domain, &message, level, id);
		return;
	}
	struct nvtx_text text = nvtx_text_of(message.type, message.text, NULL);
	event_with_text(type, domain, &message, &text, level, id);
}

/* Yields the thread's count of open push/pop ranges in a domain; NULL: the domain's ranges are
 * not counted. */
static uint32_t *open_ranges(struct nvtx_domain *domain)
{
	struct spool *spool = spool_own();
	uint32_t number = nvtx_domain_number(domain);
	return spool && number < SPOOL_DOMAINS ? &spool->levels[number] : NULL;
}

static int range_push(struct nvtx_domain *domain, struct message message)
{
	uint32_t *open = open_ranges(domain), level = open ? (*open)++ : 0;
	event_begin(REC_PUSH, domain, message, level, 0);
	return (int)level;
}

static int range_pop_with(struct nvtx_domain *domain, struct payloads payloads)
{
	int64_t time = collect_now();
	uint32_t *open = open_ranges(domain);
	if (open && *open == 0)
		return -1; /* no range is open: NVTX returns a negative number then */
	uint32_t level = open ? --*open : 0;
	if (nvtx_is_on(domain))
		put_range_end(REC_POP, time, domain, 0, payloads);
	if (capture_is_open() && !capture.id && capture.level == level &&
	    capture.tid == collect_tid() && capture.domain == nvtx_domain_number(domain))
		capture_close();
	return (int)level;
}

static int range_pop(struct nvtx_domain *domain)
{
	return range_pop_with(domain, (struct payloads){NULL, 0});
}

static uint64_t range_start(struct nvtx_domain *domain, struct message message)
{
	uint64_t id = atomic_fetch_add_explicit(&started_ranges, 1, memory_order_relaxed) + 1;
	event_begin(REC_RANGE_START, domain, message, 0, id);
	return id;
}

static void range_end_with(struct nvtx_domain *domain, uint64_t id, struct payloads payloads)
{
	int64_t time = collect_now();
	if (nvtx_is_on(domain))
		put_range_end(REC_RANGE_END, time, domain, id, payloads);
	if (id && capture_is_open() && capture.id == id)
		capture_close();
}

static void range_end(struct nvtx_domain *domain, uint64_t id)
{
	range_end_with(domain, id, (struct payloads){NULL, 0});
}

static void put_mark(struct nvtx_domain *domain, struct message message)
{
	event_begin(REC_MARK, domain, message, 0, 0);
}

/* ---- the functions that NVTX calls ----------------------------------------------------------- */

static void nvtx_domain_mark_ex(struct nvtx_domain *domain, const struct abi_nvtx_event *event)
{
	put_mark(domain, message_of_event(event));
}

static void nvtx_mark_ex(const struct abi_nvtx_event *event)
{
	put_mark(NULL, message_of_event(event));
}

static void nvtx_mark_a(const char *text)
{
	put_mark(NULL, message_of_ascii(text));
}

static void nvtx_mark_w(const wchar_t *text)
{
	put_mark(NULL, message_of_wide(text));
}

static uint64_t nvtx_domain_range_start_ex(struct nvtx_domain *domain,
					   const struct abi_nvtx_event *event)
{
	return range_start(domain, message_of_event(event));
}

static uint64_t nvtx_range_start_ex(const struct abi_nvtx_event *event)
{
	return range_start(NULL, message_of_event(event));
}

uint64_t nvtx_range_start_a(const char *text)
{
	return range_start(NULL, message_of_ascii(text));
}

static uint64_t nvtx_range_start_w(const wchar_t *text)
{
	return range_start(NULL, message_of_wide(text));
}

void nvtx_range_end(uint64_t id)
{
	range_end(NULL, id);
}

static int nvtx_domain_range_push_ex(struct nvtx_domain *domain, const struct abi_nvtx_event *event)
{
	return range_push(domain, message_of_event(event));
}

static int nvtx_range_push_ex(const struct abi_nvtx_event *event)
{
	return range_push(NULL, message_of_event(event));
}

int nvtx_range_push_a(const char *text)
{
	return range_push(NULL, message_of_ascii(text));
}

static int nvtx_range_push_w(const wchar_t *text)
{
	return range_push(NULL, message_of_wide(text));
}

int nvtx_range_pop(void)
{
	return range_pop(NULL);
}

/* Events of the payload extension have no attributes: what they have, their message too, is in
 * their payloads. */
static struct abi_nvtx_event event_of_payloads(const struct abi_nvtx_payload *payloads, size_t n)
{
	return (struct abi_nvtx_event){
		.size = sizeof(struct abi_nvtx_event),
		.payload_type = ABI_NVTX_PAYLOAD_EXT,
		.reserved = n < INT32_MAX ? (int32_t)n : INT32_MAX,
		.payload = (uintptr_t)payloads,
	};
}

void nvtx_mark_payload(struct nvtx_domain *domain, const struct abi_nvtx_payload *payloads,
		       size_t n)
{
	struct abi_nvtx_event event = event_of_payloads(payloads, n);
	nvtx_domain_mark_ex(domain, &event);
}

int nvtx_range_push_payload(struct nvtx_domain *domain, const struct abi_nvtx_payload *payloads,
			    size_t n)
{
	struct abi_nvtx_event event = event_of_payloads(payloads, n);
	return nvtx_domain_range_push_ex(domain, &event);
}

int nvtx_range_pop_payload(struct nvtx_domain *domain, const struct abi_nvtx_payload *payloads,
			   size_t n)
{
	return range_pop_with(domain, (struct payloads){payloads, n});
}

uint64_t nvtx_range_start_payload(struct nvtx_domain *domain,
				  const struct abi_nvtx_payload *payloads, size_t n)
{
	struct abi_nvtx_event event = event_of_payloads(payloads, n);
	return nvtx_domain_range_start_ex(domain, &event);
}

void nvtx_range_end_payload(struct nvtx_domain *domain, uint64_t id,
			    const struct abi_nvtx_payload *payloads, size_t n)
{
	range_end_with(domain, id, (struct payloads){payloads, n});
}

/* ---- installing ------------------------------------------------------------------------------ */

static void install_core(abi_nvtx_function **table, unsigned size)
{
	NVTX_INSTALL(table, size, ABI_NVTX_MARK_EX, nvtx_mark_ex);
	NVTX_INSTALL(table, size, ABI_NVTX_MARK_A, nvtx_mark_a);
	NVTX_INSTALL(table, size, ABI_NVTX_MARK_W, nvtx_mark_w);
	NVTX_INSTALL(table, size, ABI_NVTX_RANGE_START_EX, nvtx_range_start_ex);
	NVTX_INSTALL(table, size, ABI_NVTX_RANGE_START_A, nvtx_range_start_a);
	NVTX_INSTALL(table, size, ABI_NVTX_RANGE_START_W, nvtx_range_start_w);
	NVTX_INSTALL(table, size, ABI_NVTX_RANGE_END, nvtx_range_end);
	NVTX_INSTALL(table, size, ABI_NVTX_RANGE_PUSH_EX, nvtx_range_push_ex);
	NVTX_INSTALL(table, size, ABI_NVTX_RANGE_PUSH_A, nvtx_range_push_a);
	NVTX_INSTALL(table, size, ABI_NVTX_RANGE_PUSH_W, nvtx_range_push_w);
	NVTX_INSTALL(table, size, ABI_NVTX_RANGE_POP, nvtx_range_pop);
}

static void install_core2(abi_nvtx_function **table, unsigned size)
{
	NVTX_INSTALL(table, size, ABI_NVTX_DOMAIN_MARK_EX, nvtx_domain_mark_ex);
	NVTX_INSTALL(table, size, ABI_NVTX_DOMAIN_RANGE_START_EX, nvtx_domain_range_start_ex);
	NVTX_INSTALL(table, size, ABI_NVTX_DOMAIN_RANGE_END, range_end);
	NVTX_INSTALL(table, size, ABI_NVTX_DOMAIN_RANGE_PUSH_EX, nvtx_domain_range_push_ex);
	NVTX_INSTALL(table, size, ABI_NVTX_DOMAIN_RANGE_POP, range_pop);
}

EXPORT int InitializeInjectionNvtx2(abi_nvtx_get_export get);
EXPORT int InitializeInjectionNvtx(abi_nvtx_get_export get);

/* Installs the functions in one copy of NVTX; each copy in the process calls this once. With a
 * result of 0 that copy records nothing. */
int InitializeInjectionNvtx2(abi_nvtx_get_export get)
{
	static const int modules[] = {ABI_NVTX_CORE, ABI_NVTX_CORE2, ABI_NVTX_CUDA,
				      ABI_NVTX_CUDART};
	if (!collect_control || !get ||
	    !(collect_control->traces & (REC_TRACE_NVTX | REC_TRACES_BY_NVTX)))
		return 0;
	const struct abi_nvtx_version_info *version = get(ABI_NVTX_VERSION_INFO);
	const struct abi_nvtx_callbacks *callbacks = get(ABI_NVTX_CALLBACKS);
	if (!callbacks || callbacks->struct_size < sizeof *callbacks || !callbacks->module_table)
		return 0;
	if (version && version->struct_size >= sizeof *version && version->set_injection_version)
		version->set_injection_version(2);
	for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++) {
		abi_nvtx_function **table = NULL;
		unsigned size = 0;
		if (!callbacks->module_table(modules[i], &table, &size) || !table)
			continue;
		if (modules[i] == ABI_NVTX_CORE)
			install_core(table, size);
		else if (modules[i] == ABI_NVTX_CORE2)
			install_core2(table, size);
		nvtx_install_names(modules[i], table, size);
	}
	atomic_fetch_add(&copies, 1);
	return 1;
}

uint32_t nvtx_copies(void)
{
	return atomic_load(&copies);
}

int InitializeInjectionNvtx(abi_nvtx_get_export get)
{
	return InitializeInjectionNvtx2(get);
}

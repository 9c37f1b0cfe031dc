/* nvtx.c - ranges and marks that the program makes through NVTX.
 *
 * The program's copies of NVTX (one a linkage unit) each load this library by NVTX_INJECTION64_PATH and call
 * InitializeInjectionNvtx2, which puts the functions below into that copy's tables. No state is kept per
 * copy: domains and registered strings are the process's.
 *
 * Times are taken last in a push and first in a pop: what recording costs lies outside of the range.
 * Nesting levels are counted even while nothing is recorded, since the program gets to see them.
 */
#include "collect/nvtx/nvtx.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/process.h"
#include "collect/spool.h"
#include "collect/text_ids.h"

#define EXPORT __attribute__((visibility("default")))
static _Atomic uint64_t ranges; /* started by nvtxRangeStart so far */

/* ---- the capture range -------------------------------------------------------------------------- */

enum { IDLE, OPENING, OPEN };

/* One at a time a process: where the range that started the recording ends. 'state' guards the rest, which
 * the thread that set it to OPEN wrote before. */
static struct {
	_Atomic int state;
	uint32_t tid, domain, level; /* of a push/pop range */
	uint64_t id;                 /* of a start/end range, else 0 */
} capture;

/* The text up to an '@' that no backslash protects; yields its length, without backslashes in 'into'. */
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
	const char *bytes = strings_text(nvtx_domain_name(domain), &domain_length);
	return strcmp(wanted, "*") == 0 ||
	       (strlen(wanted) == domain_length && memcmp(wanted, bytes, domain_length) == 0);
}

static void capture_open(struct nvtx_domain *domain, uint32_t level, uint64_t id)
{
	int idle = IDLE;
	if (!atomic_compare_exchange_strong(&capture.state, &idle, OPENING))
		return;
	capture.tid = collect_tid();
	capture.domain = nvtx_domain_number(domain);
	capture.level = level;
	capture.id = id;
	atomic_fetch_add((_Atomic uint32_t *)&collect_control->capturing, 1);
	collect_set_recording(true);
	atomic_store(&capture.state, OPEN);
}

/* The last range of all processes ends the recording. */
static void capture_close(void)
{
	int open = OPEN;
	if (!atomic_compare_exchange_strong(&capture.state, &open, OPENING))
		return;
	if (atomic_fetch_sub((_Atomic uint32_t *)&collect_control->capturing, 1) == 1)
		collect_set_recording(false);
	atomic_store(&capture.state, IDLE);
}

static bool capture_is_open(void)
{
	return atomic_load_explicit(&capture.state, memory_order_acquire) == OPEN;
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
	atomic_store(&capture.state, IDLE); /* it is the parent's */
}

/* ---- events ------------------------------------------------------------------------------------- */

static void nvtx_put(enum rec_type type, struct nvtx_domain *domain,
		     const struct abi_nvtx_event *event, const struct nvtx_text *text, uint64_t id)
{
	uint32_t name = nvtx_string(text), number = nvtx_domain_number(domain);
	bool colored = event && event->color_type == ABI_NVTX_COLOR_ARGB;
	bool loaded =
		event && event->payload_type > 0 && event->payload_type <= ABI_NVTX_PAYLOAD_LAST;
	struct rec_range *record = collect_reserve(type, colored || loaded ? 2 : 1);
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
	record->time = collect_now();
	collect_publish();
}

static void put_end(enum rec_type type, int64_t time, struct nvtx_domain *domain, uint64_t id)
{
	uint32_t number = nvtx_domain_number(domain);
	struct rec_range *record = collect_reserve(type, 1);
	if (!record)
		return;
	record->time = time;
	record->id = id;
	record->domain = number;
	collect_publish();
}

/* The message of an event or of one of the short forms. */
struct message {
	const struct abi_nvtx_event *event; /* or NULL */
	int type;
	union abi_nvtx_message text;
};

static struct message of_event(const struct abi_nvtx_event *event)
{
	if (!event || event->size < sizeof *event)
		return (struct message){.type = ABI_NVTX_MESSAGE_NONE};
	return (struct message){event, event->message_type, event->message};
}

static struct message of_ascii(const char *text)
{
	return (struct message){.type = ABI_NVTX_MESSAGE_ASCII, .text.ascii = text};
}

static struct message of_wide(const wchar_t *text)
{
	return (struct message){.type = ABI_NVTX_MESSAGE_WIDE, .text.wide = text};
}

static void nvtx_begin(enum rec_type type, struct nvtx_domain *domain, struct message message,
		       uint32_t level, uint64_t id)
{
	bool looks = type != REC_MARK && collect_control->capture == REC_CAPTURE_NVTX;
	if (!looks && !collect_is_on(REC_TRACE_NVTX))
		return;
	char room[NVTX_WIDE_BYTES];
	struct nvtx_text text = nvtx_text_of(message.type, message.text, room);
	if (looks)
		look_for_capture(domain, &text, level, id);
	if (collect_is_on(REC_TRACE_NVTX))
		nvtx_put(type, domain, message.event, &text, id);
}

/* The thread's open ranges of a domain; NULL where they are not counted. */
static uint32_t *level_of(struct nvtx_domain *domain)
{
	struct spool *spool = spool_own();
	uint32_t number = nvtx_domain_number(domain);
	return spool && number < SPOOL_DOMAINS ? &spool->levels[number] : NULL;
}

static int nvtx_push(struct nvtx_domain *domain, struct message message)
{
	uint32_t *open = level_of(domain), level = open ? (*open)++ : 0;
	nvtx_begin(REC_PUSH, domain, message, level, 0);
	return (int)level;
}

static int nvtx_pop(struct nvtx_domain *domain)
{
	int64_t time = collect_now();
	uint32_t *open = level_of(domain);
	if (open && *open == 0)
		return -1; /* nothing to end: NVTX wants a negative number */
	uint32_t level = open ? --*open : 0;
	if (collect_is_on(REC_TRACE_NVTX))
		put_end(REC_POP, time, domain, 0);
	if (capture_is_open() && !capture.id && capture.level == level &&
	    capture.tid == collect_tid() && capture.domain == nvtx_domain_number(domain))
		capture_close();
	return (int)level;
}

static uint64_t nvtx_start(struct nvtx_domain *domain, struct message message)
{
	uint64_t id = atomic_fetch_add_explicit(&ranges, 1, memory_order_relaxed) + 1;
	nvtx_begin(REC_RANGE_START, domain, message, 0, id);
	return id;
}

static void nvtx_end(struct nvtx_domain *domain, uint64_t id)
{
	int64_t time = collect_now();
	if (collect_is_on(REC_TRACE_NVTX))
		put_end(REC_RANGE_END, time, domain, id);
	if (id && capture_is_open() && capture.id == id)
		capture_close();
}

static void mark(struct nvtx_domain *domain, struct message message)
{
	nvtx_begin(REC_MARK, domain, message, 0, 0);
}

/* ---- NVTX's functions --------------------------------------------------------------------------- */

static void domain_mark_ex(struct nvtx_domain *domain, const struct abi_nvtx_event *event)
{
	mark(domain, of_event(event));
}

static void mark_ex(const struct abi_nvtx_event *event)
{
	mark(NULL, of_event(event));
}

static void mark_a(const char *text)
{
	mark(NULL, of_ascii(text));
}

static void mark_w(const wchar_t *text)
{
	mark(NULL, of_wide(text));
}

static uint64_t domain_start_ex(struct nvtx_domain *domain, const struct abi_nvtx_event *event)
{
	return nvtx_start(domain, of_event(event));
}

static uint64_t start_ex(const struct abi_nvtx_event *event)
{
	return nvtx_start(NULL, of_event(event));
}

static uint64_t start_a(const char *text)
{
	return nvtx_start(NULL, of_ascii(text));
}

static uint64_t start_w(const wchar_t *text)
{
	return nvtx_start(NULL, of_wide(text));
}

static void end_default(uint64_t id)
{
	nvtx_end(NULL, id);
}

static int domain_push_ex(struct nvtx_domain *domain, const struct abi_nvtx_event *event)
{
	return nvtx_push(domain, of_event(event));
}

static int push_ex(const struct abi_nvtx_event *event)
{
	return nvtx_push(NULL, of_event(event));
}

static int push_a(const char *text)
{
	return nvtx_push(NULL, of_ascii(text));
}

static int push_w(const wchar_t *text)
{
	return nvtx_push(NULL, of_wide(text));
}

static int pop_default(void)
{
	return nvtx_pop(NULL);
}

/* ---- installing --------------------------------------------------------------------------------- */

static void install_core(abi_nvtx_function **table, unsigned size)
{
	NVTX_INSTALL(table, size, ABI_NVTX_MARK_EX, mark_ex);
	NVTX_INSTALL(table, size, ABI_NVTX_MARK_A, mark_a);
	NVTX_INSTALL(table, size, ABI_NVTX_MARK_W, mark_w);
	NVTX_INSTALL(table, size, ABI_NVTX_RANGE_START_EX, start_ex);
	NVTX_INSTALL(table, size, ABI_NVTX_RANGE_START_A, start_a);
	NVTX_INSTALL(table, size, ABI_NVTX_RANGE_START_W, start_w);
	NVTX_INSTALL(table, size, ABI_NVTX_RANGE_END, end_default);
	NVTX_INSTALL(table, size, ABI_NVTX_RANGE_PUSH_EX, push_ex);
	NVTX_INSTALL(table, size, ABI_NVTX_RANGE_PUSH_A, push_a);
	NVTX_INSTALL(table, size, ABI_NVTX_RANGE_PUSH_W, push_w);
	NVTX_INSTALL(table, size, ABI_NVTX_RANGE_POP, pop_default);
}

static void install_core2(abi_nvtx_function **table, unsigned size)
{
	NVTX_INSTALL(table, size, ABI_NVTX_DOMAIN_MARK_EX, domain_mark_ex);
	NVTX_INSTALL(table, size, ABI_NVTX_DOMAIN_RANGE_START_EX, domain_start_ex);
	NVTX_INSTALL(table, size, ABI_NVTX_DOMAIN_RANGE_END, nvtx_end);
	NVTX_INSTALL(table, size, ABI_NVTX_DOMAIN_RANGE_PUSH_EX, domain_push_ex);
	NVTX_INSTALL(table, size, ABI_NVTX_DOMAIN_RANGE_POP, nvtx_pop);
}

EXPORT int InitializeInjectionNvtx2(abi_nvtx_get_export get);
EXPORT int InitializeInjectionNvtx(abi_nvtx_get_export get);

/* Once for each copy of NVTX in the process. 0: the program's calls stay empty. */
int InitializeInjectionNvtx2(abi_nvtx_get_export get)
{
	static const int modules[] = {ABI_NVTX_CORE, ABI_NVTX_CORE2, ABI_NVTX_CUDA,
				      ABI_NVTX_CUDART};
	if (!collect_control || !(collect_control->traces & REC_TRACE_NVTX) || !get)
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
	return 1;
}

int InitializeInjectionNvtx(abi_nvtx_get_export get)
{
	return InitializeInjectionNvtx2(get);
}

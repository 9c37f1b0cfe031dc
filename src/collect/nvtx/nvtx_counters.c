/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_counters.c - NVTX's extension for counters: values that the program samples.
 *
 * A sample gets the time at which the program gives it. Samples of a batch bring times of their
 * own: they are recorded where these are of CLOCK_MONOTONIC, else they are counted as lost.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "collect/abi/nvtx_extensions.h"
#include "collect/collect.h"
#include "collect/nvtx/nvtx.h"
#include "spool/record_nvtx.h"

enum { MOST_COUNTERS = 256, MOST_TIME_DOMAINS = 64 };

/* ---- clocks ---------------------------------------------------------------------------------- */

/* The time domains that are CLOCK_MONOTONIC; 0: the place is free. */
static _Atomic uint64_t monotonic[MOST_TIME_DOMAINS];

static bool clock_is_monotonic(uint64_t domain)
{
	if (domain == ABI_NVTX_TIME_TOOL || domain == ABI_NVTX_TIME_MONOTONIC ||
	    domain == ABI_NVTX_TIME_STEADY)
		return true;
	for (int i = 0; i < MOST_TIME_DOMAINS; i++)
		if (domain && atomic_load_explicit(&monotonic[i], memory_order_relaxed) == domain)
			return true;
	return false;
}

uint64_t nvtx_time_domain(uint64_t given, uint64_t type)
{
	uint64_t id = nvtx_new_id(given), none = 0;
	for (int i = 0; clock_is_monotonic(type) && i < MOST_TIME_DOMAINS; i++, none = 0)
		if (atomic_compare_exchange_strong(&monotonic[i], &none, id))
			break;
	return id;
}

/* ---- counters -------------------------------------------------------------------------------- */

/* What batches need to know of a counter. Written once, by the thread that sets 'id'; 'is_ready'
 * is set last. */
static struct counter {
	_Atomic uint64_t id;
	_Atomic int is_ready;
	uint32_t domain;
	uint32_t size; /* bytes of one sample; 0: not known */
	bool has_time; /* times of batches are of CLOCK_MONOTONIC */
} counters[MOST_COUNTERS];

static bool has_monotonic_time(const struct abi_nvtx_semantics *semantics)
{
	for (int i = 0; semantics && i < 16; semantics = semantics->next, i++) {
		const struct abi_nvtx_semantics_time *time = (const void *)semantics;
		if (semantics->id == ABI_NVTX_SEMANTICS_TIME &&
		    semantics->struct_size >= sizeof *time)
			return clock_is_monotonic(time->time_domain);
	}
	return false;
}

static void counter_keep(uint64_t id, uint32_t domain, const struct abi_nvtx_counter *given)
{
	for (int i = 0; i < MOST_COUNTERS; i++) {
		uint64_t none = 0;
		if (!atomic_compare_exchange_strong(&counters[i].id, &none, id))
			continue;
		counters[i].domain = domain;
		counters[i].size = nvtx_size_of_type(domain, given->schema);
		counters[i].has_time = has_monotonic_time(given->semantics);
		atomic_store_explicit(&counters[i].is_ready, 1, memory_order_release);
		return;
	}
}

static const struct counter *counter_find(uint64_t id, uint32_t domain)
{
	for (int i = 0; i < MOST_COUNTERS; i++) {
		const struct counter *counter = &counters[i];
		if (atomic_load_explicit(&counters[i].is_ready, memory_order_acquire) &&
		    atomic_load_explicit(&counters[i].id, memory_order_relaxed) == id &&
		    counter->domain == domain)
			return counter;
	}
	return NULL;
}

static uint64_t counter_register(struct nvtx_domain *domain, const struct abi_nvtx_counter *given)
{
	if (!given || given->struct_size < sizeof *given)
		return 0;
	int saved = errno;
	uint64_t id = nvtx_new_id(given->id), scale = 0;
	uint32_t number = nvtx_domain_number(domain);
	const char *unit = nvtx_unit(given->semantics, &scale);
	uint32_t name = given->name ? collect_string_z(given->name) : 0;
	uint32_t unit_text = unit ? collect_string_z(unit) : 0;
	struct rec_nvtx_definition *record = nvtx_reserve_definition(REC_NVTX_COUNTER, name, 0);
	if (record) {
		record->id = id;
		record->of = given->schema;
		record->domain = number;
		record->unit = unit_text;
		record->scope = given->scope;
		record->scale = scale;
		collect_publish(record);
	}
	counter_keep(id, number, given);
	errno = saved;
	return id;
}

/* ---- samples --------------------------------------------------------------------------------- */

static void put_sample(struct nvtx_domain *domain, uint64_t counter, enum rec_nvtx_value what,
		       uint64_t value)
{
	if (!nvtx_is_on(domain))
		return;
	uint32_t number = nvtx_domain_number(domain);
	struct rec_nvtx_sample *record = collect_reserve(REC_NVTX_SAMPLE, 1);
	if (!record)
		return;
	record->head.flags = (uint8_t)what;
	record->head.value = number;
	record->counter = counter;
	record->value = value;
	record->time = collect_now();
	collect_publish(record);
}

static void sample_int64(struct nvtx_domain *domain, uint64_t counter, int64_t value)
{
	put_sample(domain, counter, REC_NVTX_INT64, (uint64_t)value);
}

static void sample_float64(struct nvtx_domain *domain, uint64_t counter, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	put_sample(domain, counter, REC_NVTX_FLOAT64, bits);
}

static void sample_no_value(struct nvtx_domain *domain, uint64_t counter, uint8_t reason)
{
	put_sample(domain, counter, REC_NVTX_NO_VALUE, reason);
}

static void put_bytes(uint32_t domain, uint64_t counter, const void *bytes, size_t size,
		      int64_t time)
{
	size_t whole = sizeof(struct rec_nvtx_sample) + size;
	struct rec_nvtx_sample *record =
		collect_reserve(REC_NVTX_SAMPLE, (unsigned)((whole + REC_SLOT - 1) / REC_SLOT));
	if (!record)
		return;
	record->head.flags = REC_NVTX_BYTES;
	record->head.value = domain;
	record->counter = counter;
	record->value = size;
	record->time = time;
	memcpy(record + 1, bytes, size);
	collect_publish(record);
}

static void sample_bytes(struct nvtx_domain *domain, uint64_t counter, const void *bytes,
			 size_t size)
{
	if (nvtx_is_on(domain) && bytes && size > 0 && size <= REC_NVTX_MOST_BYTES)
		put_bytes(nvtx_domain_number(domain), counter, bytes, size, collect_now());
}

static void sample_batch(struct nvtx_domain *domain, const struct abi_nvtx_counter_batch *batch)
{
	if (!batch || !nvtx_is_on(domain))
		return;
	uint32_t number = nvtx_domain_number(domain);
	const struct counter *counter = counter_find(batch->counter, number);
	uint32_t size = counter ? counter->size : 0;
	size_t n = size ? batch->size / size : 0;
	bool is_known = counter && counter->has_time && batch->samples && batch->times && n > 0 &&
			!(batch->flags & ABI_NVTX_BATCH_INTERVAL) &&
			batch->times_size / sizeof *batch->times >= n;
	if (!is_known) {
		collect_drop("batches of NVTX counters whose times or sizes are not known",
			     n ? n : 1);
		return;
	}
	for (size_t i = 0; i < n; i++)
		put_bytes(number, batch->counter, (const char *)batch->samples + i * size, size,
			  batch->times[i]);
}

#define INSTALL(slot, function)                                                                    \
	do {                                                                                       \
		if ((size_t)(slot) < count)                                                        \
			slots[slot] = (intptr_t)(function);                                        \
	} while (0)

void nvtx_install_counters(intptr_t *slots, size_t count)
{
	INSTALL(ABI_NVTX_COUNTER_REGISTER, counter_register);
	INSTALL(ABI_NVTX_COUNTER_INT64, sample_int64);
	INSTALL(ABI_NVTX_COUNTER_FLOAT64, sample_float64);
	INSTALL(ABI_NVTX_COUNTER_SAMPLE, sample_bytes);
	INSTALL(ABI_NVTX_COUNTER_NO_VALUE, sample_no_value);
	INSTALL(ABI_NVTX_COUNTER_BATCH, sample_batch);
}

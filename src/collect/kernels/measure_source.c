/* SPDX-License-Identifier: Apache-2.0 */
/* measure_source.c - program counters of a launch, through CUPTI's PC sampling, and the code
 * that they are in.
 *
 * Sampling is continuous: from the first chosen launch to the end of the context, at almost no
 * cost (H200: a step of 7.8 ms takes 8.0 ms). CUPTI names the function of each program counter,
 * so that samples of other kernels are left out. Lines are not looked up here: the parent has
 * the code of the modules and the same functions of CUPTI, which need no GPU.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "collect/kernels/measure.h"
#include "collect/sys.h"

enum {
	MOST_PCS = 4096,    /* program counters that are read at a time */
	MOST_REASONS = 128, /* CUDA 13.0 knows 38 reasons on an H200 */
	ROUNDS = 1024,      /* how often data is read at the end */
	MOST_CUBINS = 256,
};
#define HARDWARE_BYTES ((size_t)64 << 20) /* CUPTI's own default takes 512 MiB of the device */

static struct {
	uint32_t n_reasons;
	bool named; /* the names of the reasons were written */
	struct cupti_pc_data *kept,
		*given; /* 'given' belongs to CUPTI while sampling is configured */
	uint64_t cubins;
} source;

bool measure_source_load(void *library)
{
	bool whole = true;
#define LOOK_UP(name, parameters)                                                                  \
	*(void **)&measure.pc.name = dlsym(library, #name);                                        \
	whole = whole && measure.pc.name;
	CUPTI_PC_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
	if (!whole)
		measure_note(0, "this libcupti samples no program counters");
	return whole;
}

static bool source_refuse(struct measure_context *c, int result, const char *what)
{
	c->is_refused = true;
	measure_note(result, "%s", what);
	return false;
}

/* Memory for MOST_PCS program counters with all their reasons. */
static struct cupti_pc_data *new_data(uint32_t n_reasons)
{
	size_t reasons = (size_t)MOST_PCS * n_reasons * sizeof(struct cupti_pc_reason);
	size_t pcs = MOST_PCS * sizeof(struct cupti_pc);
	char *memory = sys_memory(sizeof(struct cupti_pc_data) + pcs + reasons);
	if (!memory)
		return NULL;
	struct cupti_pc_data *data = (struct cupti_pc_data *)memory;
	*data = (struct cupti_pc_data){
		.size = sizeof *data,
		.most = MOST_PCS,
		.pcs = (struct cupti_pc *)(memory + sizeof *data),
	};
	struct cupti_pc_reason *next = (struct cupti_pc_reason *)(memory + sizeof *data + pcs);
	for (size_t i = 0; i < MOST_PCS; i++, next += n_reasons) {
		data->pcs[i].size = sizeof(struct cupti_pc);
		data->pcs[i].reasons = next;
	}
	return data;
}

/* Writes the names of the stall reasons, once a process. */
static bool name_reasons(struct measure_context *c)
{
	static char texts[MOST_REASONS][CUPTI_PC_REASON_BYTES];
	uint32_t indexes[MOST_REASONS];
	char *names[MOST_REASONS];
	size_t n = 0;
	struct cupti_pc_count count = {
		.size = CUPTI_SIZE(cupti_pc_count, n), .context = c->context, .n = &n};
	int result = measure.pc.cuptiPCSamplingGetNumStallReasons(&count);
	n = n < MOST_REASONS ? n : MOST_REASONS;
	for (size_t i = 0; i < n; i++)
		names[i] = texts[i];
	struct cupti_pc_names ask = {.size = CUPTI_SIZE(cupti_pc_names, names),
				     .context = c->context,
				     .n = n,
				     .indexes = indexes,
				     .names = names};
	if (result == CUPTI_OK)
		result = measure.pc.cuptiPCSamplingGetStallReasons(&ask);
	if (result != CUPTI_OK)
		return source_refuse(c, result, "CUPTI does not name its stall reasons");
	source.n_reasons = (uint32_t)n;
	for (size_t i = 0; i < n && !source.named; i++)
		measure_answer(KERNELS_ANSWER_REASON, c->device, 0, indexes[i], names[i],
			       strnlen(names[i], CUPTI_PC_REASON_BYTES));
	source.named = true;
	return true;
}

static bool configure_sampling(struct measure_context *c)
{
	struct cupti_pc_attribute attributes[] = {
		{.type = CUPTI_PC_MODE, .number = CUPTI_PC_CONTINUOUS},
		{.type = CUPTI_PC_DATA, .pointer = source.given},
		{.type = CUPTI_PC_HARDWARE_BUFFER, .bytes = HARDWARE_BYTES},
	};
	struct cupti_pc_config config = {
		.size = CUPTI_SIZE(cupti_pc_config, attributes),
		.context = c->context,
		.n = sizeof attributes / sizeof *attributes,
		.attributes = attributes,
	};
	int result = measure.pc.cuptiPCSamplingSetConfigurationAttribute(&config);
	return result == CUPTI_OK ||
	       source_refuse(c, result, "the sampling of program counters cannot be configured");
}

static bool enable_sampling(struct measure_context *c)
{
	measure.range.cuptiGetDeviceId(c->context, &c->device);
	struct cupti_pc_context on = {.size = CUPTI_SIZE(cupti_pc_context, context),
				      .context = c->context};
	int result = measure.pc.cuptiPCSamplingEnable(&on);
	if (result != CUPTI_OK)
		return source_refuse(c, result, "program counters cannot be sampled");
	c->profiler = c->context; /* marks the context as enabled */
	if (!name_reasons(c))
		return false;
	if (!source.kept)
		source.kept = new_data(source.n_reasons);
	if (!source.given)
		source.given = new_data(source.n_reasons);
	if (!source.kept || !source.given)
		return source_refuse(c, 0, "there is no memory for samples");
	return configure_sampling(c);
}

bool measure_source_start(struct measure_context *c)
{
	return !c->is_refused && (c->profiler || enable_sampling(c));
}

static void put_pc(const struct measure_context *c, const struct cupti_pc *pc)
{
	struct {
		struct kernels_sample sample;
		char rest[MOST_REASONS * sizeof(struct kernels_sample_reason) + 4096];
	} payload;
	size_t name = pc->name ? strnlen(pc->name, 4096) : 0;
	size_t n = pc->n_reasons < MOST_REASONS ? pc->n_reasons : MOST_REASONS;
	payload.sample = (struct kernels_sample){
		.crc = pc->crc,
		.pc = pc->offset,
		.n_reasons = (uint32_t)n,
		.name_bytes = (uint32_t)name,
	};
	size_t at = 0;
	for (size_t i = 0; i < n; i++, at += sizeof(struct kernels_sample_reason)) {
		struct kernels_sample_reason one = {pc->reasons[i].reason, pc->reasons[i].samples};
		memcpy(payload.rest + at, &one, sizeof one);
	}
	if (name)
		memcpy(payload.rest + at, pc->name, name);
	measure_answer(KERNELS_ANSWER_SAMPLES, c->device, measure.ordinal, 0, &payload,
		       sizeof payload.sample + at + name);
}

static void take_data(const struct measure_context *c, struct cupti_pc_data *data)
{
	size_t n = data->n < MOST_PCS ? data->n : MOST_PCS;
	for (size_t i = 0; i < n; i++)
		if (measure_plan_has_symbol(data->pcs[i].name))
			put_pc(c, &data->pcs[i]);
	data->n = 0;
}

static void take_all(const struct measure_context *c)
{
	struct cupti_pc_get get = {
		.size = CUPTI_SIZE(cupti_pc_get, data), .context = c->context, .data = source.kept};
	for (unsigned i = 0; i < ROUNDS; i++) {
		if (measure.pc.cuptiPCSamplingGetData(&get) != CUPTI_OK)
			return;
		take_data(c, source.kept);
		if (source.kept->remaining == 0)
			return;
	}
}

/* What CUPTI has not handed out yet, it puts into the configured buffer when sampling ends. */
void measure_source_leave(struct measure_context *c)
{
	struct cupti_pc_context off = {.size = CUPTI_SIZE(cupti_pc_context, context),
				       .context = c->context};
	if (!c->profiler)
		return;
	if (!c->is_refused)
		take_all(c);
	if (measure.pc.cuptiPCSamplingDisable(&off) == CUPTI_OK && source.given)
		take_data(c, source.given);
	c->profiler = NULL;
}

void measure_source_module(const struct cupti_module *module)
{
	if (!module || !module->cubin || source.cubins >= MOST_CUBINS)
		return;
	for (uint32_t i = 0; i < measure.plan->n_targets; i++) {
		const char *symbol = measure_plan_text(measure_plan_target(i)->symbol);
		if (!memmem(module->cubin, module->bytes, symbol, strlen(symbol) + 1))
			continue;
		source.cubins++;
		measure_answer(KERNELS_ANSWER_CUBIN, 0, 0, module->id, module->cubin,
			       module->bytes);
		return;
	}
}

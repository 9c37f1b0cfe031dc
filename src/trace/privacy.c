/* SPDX-License-Identifier: Apache-2.0 */
/* privacy.c - see privacy.h. This file knows which fields of a trace hold which kind of text;
 * anonymous_text.c rewrites texts. */
#include "trace/privacy.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/secrets.h"
#include "trace/anonymous_text.h"

/* ---- replacing texts ------------------------------------------------------------------------- */

static bool is_text(const struct hwy_trace *trace, int64_t id)
{
	return id > 0 && id < trace->strings.n;
}

static void replace_text(struct hwy_trace *trace, int64_t id, const char *text, size_t length)
{
	trace->strings.texts[id] = (struct hwy_text){
		.at = hwy_arena_text(&trace->strings.arena, text, length),
		.length = (uint32_t)length,
	};
}

/* Forgets what was derived from the texts: where a text is found by its hash, and what names
 * mean. */
static void texts_changed(struct hwy_trace *trace)
{
	free(trace->strings.slots);
	trace->strings.slots = NULL;
	free(trace->roles);
	free(trace->comm);
	trace->roles = trace->comm = NULL;
}

/* ---- secrets --------------------------------------------------------------------------------- */

/* Masks a text; where 'name' is not NULL, as the value of this property. */
static bool mask_text(struct hwy_trace *trace, int64_t id, const char *name)
{
	struct hwy_bytes out = {0};
	if (!is_text(trace, id))
		return false;
	struct hwy_text text = trace->strings.texts[id];
	bool has = name ? secrets_mask_property(name, text.at, text.length, &out)
			: secrets_mask_text(text.at, text.length, &out);
	if (has)
		replace_text(trace, id, (const char *)out.bytes, out.n);
	hwy_bytes_free(&out);
	return has;
}

/* Arguments of spans and payloads are JSON. The texts say so themselves: columns, which may be
 * large, are not read. */
static bool mask_json_texts(struct hwy_trace *trace)
{
	bool any = false;
	for (uint32_t id = 1; id < trace->strings.n; id++) {
		struct hwy_text text = trace->strings.texts[id];
		bool is_list = *text.at == '[' && text.at[1] && strchr("\"{[", text.at[1]);
		if ((is_list || *text.at == '{') && secrets_possible(text.at, text.length))
			any |= mask_text(trace, id, NULL);
	}
	return any;
}

void hwy_privacy_mask(struct hwy_trace *trace)
{
	bool any = mask_json_texts(trace);
	for (uint32_t i = 0; i < trace->n_processes; i++) {
		any |= mask_text(trace, trace->processes[i].command, NULL);
		any |= mask_text(trace, trace->processes[i].name, NULL);
		any |= mask_text(trace, trace->processes[i].labels, NULL);
	}
	for (uint32_t i = 0; i < trace->n_threads; i++)
		any |= mask_text(trace, trace->threads[i].name, NULL);
	for (uint32_t i = 0; i < trace->n_groups; i++)
		any |= mask_text(trace, trace->groups[i].description, NULL);
	for (uint32_t i = 0; i < trace->n_properties; i++)
		any |= mask_text(trace, trace->properties[i].value,
				 hwy_str(trace, trace->properties[i].name));
	for (uint32_t i = 0; i < trace->n_diagnostics; i++)
		any |= mask_text(trace, trace->diagnostics[i].text, NULL);
	if (any)
		texts_changed(trace);
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* Keeps the base name of the first word of a command line, which may be quoted. */
static void keep_program(struct hwy_trace *trace, int64_t id)
{
	if (!is_text(trace, id))
		return;
	const char *line = trace->strings.texts[id].at;
	bool is_quoted = *line == '\'';
	line += is_quoted;
	size_t n = strcspn(line, is_quoted ? "'" : " \t\n");
	for (size_t i = 0; i + 1 < n; i++)
		if (line[i] == '/') {
			line += i + 1;
			n -= i + 1;
			i = (size_t)-1;
		}
	replace_text(trace, id, line, n);
}

void hwy_privacy_drop_arguments(struct hwy_trace *trace)
{
	/* Several fields may share a text: what is a program's name already stays as it is. */
	for (uint32_t i = 0; i < trace->n_processes; i++)
		keep_program(trace, trace->processes[i].command);
	for (uint32_t i = 0; i < trace->n_properties; i++)
		if (strcmp(hwy_str(trace, trace->properties[i].name), "command") == 0)
			keep_program(trace, trace->properties[i].value);
	texts_changed(trace);
}

/* ---- identity -------------------------------------------------------------------------------- */

static bool is_identifying(const char *property)
{
	static const char *const names[] = {"host",     "boot_id",  "user",        "source.session",
					    "trace.id", "job.node", "job.topology"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(property, names[i]) == 0)
			return true;
	return false;
}

static void blank_text(struct hwy_trace *trace, int64_t *field)
{
	if (is_text(trace, *field))
		replace_text(trace, *field, "", 0);
	*field = HWY_NONE;
}

static void learn_hosts(const struct hwy_trace *trace, const struct hwy_identity *who,
			struct anonymous *words)
{
	for (uint32_t i = 0; i < trace->n_hosts; i++)
		anonymous_learn(words, hwy_str(trace, trace->hosts[i].name), "host");
	for (uint32_t i = 0; i < trace->n_properties; i++)
		if (strcmp(hwy_str(trace, trace->properties[i].name), "host") == 0)
			anonymous_learn(words, hwy_str(trace, trace->properties[i].value), "host");
	anonymous_learn(words, who->host, "host");
	anonymous_learn(words, who->user, "user");
	anonymous_learn_home(words, who->home);
	for (uint32_t id = 1; id < trace->strings.n; id++)
		anonymous_learn_users(words, trace->strings.texts[id]);
}

static void drop_identity(struct hwy_trace *trace)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < trace->n_properties; i++) {
		struct hwy_property *property = &trace->properties[i];
		if (is_identifying(hwy_str(trace, property->name)))
			blank_text(trace, &property->value);
		else
			trace->properties[kept++] = *property;
	}
	trace->n_properties = kept;
	for (uint32_t i = 0; i < trace->n_hosts; i++) {
		blank_text(trace, &trace->hosts[i].name);
		blank_text(trace, &trace->hosts[i].boot_id);
	}
	for (uint32_t i = 0; i < trace->n_devices; i++)
		blank_text(trace, &trace->devices[i].uuid);
}

/* Yields by text id: 1 where the text is the name of a function or kernel, in which words stay, 2
 * where the text is a path as a whole. */
static uint8_t *kinds_of_texts(const struct hwy_trace *trace)
{
	uint8_t *kinds = hwy_zarray(trace->strings.n, 1);
	for (uint32_t i = 0; i < trace->n_symbols; i++) {
		const int64_t names[] = {trace->symbols[i].demangled, trace->symbols[i].shortname,
					 trace->symbols[i].mangled};
		for (size_t k = 0; k < sizeof names / sizeof *names; k++)
			if (is_text(trace, names[k]))
				kinds[names[k]] = ANONYMOUS_FUNCTION;
	}
	for (uint32_t i = 0; i < trace->n_frames; i++)
		if (is_text(trace, trace->frames[i].function))
			kinds[trace->frames[i].function] = ANONYMOUS_FUNCTION;
	for (uint32_t i = 0; i < trace->n_frames; i++) {
		const int64_t paths[] = {trace->frames[i].file, trace->frames[i].module};
		for (size_t k = 0; k < sizeof paths / sizeof *paths; k++)
			if (is_text(trace, paths[k]))
				kinds[paths[k]] = ANONYMOUS_PATH;
	}
	for (uint32_t i = 0; i < trace->n_modules; i++)
		if (is_text(trace, trace->modules[i].path))
			kinds[trace->modules[i].path] = ANONYMOUS_PATH;
	return kinds;
}

void hwy_privacy_anonymize(struct hwy_trace *trace, const struct hwy_identity *who)
{
	struct anonymous words = {0};
	anonymous_begin(&words);
	learn_hosts(trace, who, &words);
	hwy_privacy_drop_arguments(trace);
	drop_identity(trace);
	uint8_t *kinds = kinds_of_texts(trace);
	for (uint32_t id = 1; id < trace->strings.n; id++) {
		struct hwy_bytes out = {0};
		if (anonymous_rewrite(&words, trace->strings.texts[id], kinds[id], &out))
			replace_text(trace, id, (const char *)out.bytes, out.n);
		hwy_bytes_free(&out);
	}
	free(kinds);
	anonymous_end(&words);
	texts_changed(trace);
}

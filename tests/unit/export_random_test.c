/* SPDX-License-Identifier: Apache-2.0 */
/* Every export of random traces, whole and cut: any values the model allows, no crash, and what is written can
 * be read back.
 */
#include "make_trace.h"

#include <sys/stat.h>

#include "export/export.h"
#include "import/import.h"

static const struct export_type *type_of(const char *name)
{
	const struct export_type *type = export_types;
	while (strcmp(type->name, name) != 0)
		type++;
	return type;
}

static bool write_to(struct hwy_trace *trace, const char *name, const char *path,
		     const struct export_options *options, struct export_result *result)
{
	const struct export_type *type = type_of(name);
	struct hwy_err err;
	bool ok;
	if (type->target == EXPORT_STREAM) {
		FILE *out = fopen(path, "w");
		ok = type->stream(trace, out, false, options, NULL, result, &err);
		fclose(out);
	} else {
		ok = type->files(trace, path, options, NULL, result, &err);
	}
	if (!ok)
		fail_msg("%s: %s", name, err.text);
	return ok;
}

static void export_all(struct hwy_trace *trace, const char *folder)
{
	char path[256], command[300];
	struct export_result result;
	struct export_options options = {.from = INT64_MIN,
					 .to = INT64_MAX,
					 .kinds = UINT32_MAX,
					 .target = "it",
					 .render_stages = true};
	for (int cut = 0; cut < 2; cut++) {
		for (const struct export_type *type = export_types; type->name; type++) {
			snprintf(path, sizeof path, "%s/%s%d", folder, type->name, cut);
			if (type->target == EXPORT_FOLDER || type->target == EXPORT_TREE)
				mkdir(path, 0700);
			write_to(trace, type->name, path, &options, &result);
			if (cut == 0 && (strcmp(type->name, "chrome") == 0 ||
					 strcmp(type->name, "sqlite") == 0)) {
				struct hwy_err err;
				struct hwy_trace *back = hwy_open(path, NULL, &err);
				if (!back)
					fail_msg("%s is not read again: %s", type->name, err.text);
				hwy_trace_free(back);
			}
		}
		options.from = -1000;
		options.to = 1000;
	}
	snprintf(command, sizeof command, "rm -rf '%s'/*", folder);
	assert_int_equal(system(command), 0);
}

static void random_traces_go_out_in_every_format(void **state)
{
	char folder[] = "/tmp/export_random.XXXXXX";
	assert_non_null(mkdtemp(folder));
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct hwy_trace *trace = random_trace(seed, 30, 3000);
		export_all(trace, folder);
		hwy_trace_free(trace);
	}
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_traces_go_out_in_every_format),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

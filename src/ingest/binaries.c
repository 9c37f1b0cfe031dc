/* binaries.c - see binaries.h.
 *
 * Symbol tables are read by ourselves; libdw is asked where they know nothing, and for lines. To open a file's
 * debug information may take it a second (it unpacks all of it), so that is done once a file, and not before
 * somebody wants a line.
 */
#include "ingest/binaries.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/hash.h"
#include "base/mem.h"
#include "ingest/dw.h"
#include "ingest/elf_functions.h"

enum { MOST_IN_VAIN = 32 };
#define MOST_SPENT INT64_C(1000000000) /* ns looking for calls of inlined functions */

struct binary {
	char *path;
	struct symbols *symbols;
	bool looked, reported;
	Dwfl *dwfl; /* of this file alone, where its own numbers are the addresses */
	Dwfl_Module *module;
	uint32_t in_vain; /* libdw was asked for a name and had none; UINT32_MAX: it had one once */
};

struct binaries {
	const struct dw *dw;
	struct hwy_map of; /* hash of the path -> index in 'list' plus one */
	struct binary **list;
	uint32_t n, cap;
	int64_t spent; /* ns looking for calls */
};

struct binaries *binaries_open(void)
{
	struct binaries *binaries = hwy_zalloc(sizeof *binaries);
	binaries->dw = dw_open();
	return binaries;
}

void binaries_close(struct binaries *binaries)
{
	if (!binaries)
		return;
	for (uint32_t i = 0; i < binaries->n; i++) {
		struct binary *binary = binaries->list[i];
		if (binary->dwfl)
			binaries->dw->dwfl_end(binary->dwfl);
		symbols_close(binary->symbols);
		free(binary->path);
		free(binary);
	}
	free(binaries->list);
	hwy_map_free(&binaries->of);
	free(binaries);
}

struct binary *binaries_get(struct binaries *binaries, const char *path)
{
	uint32_t *at = hwy_map_put(&binaries->of, hwy_hash(path, strlen(path)), NULL);
	if (!*at) {
		struct binary *binary = hwy_zalloc(sizeof *binary);
		binary->path = hwy_copy(path, strlen(path) + 1);
		HWY_GROW(binaries->list, binaries->n, binaries->cap);
		binaries->list[binaries->n++] = binary;
		*at = binaries->n;
	}
	return binaries->list[*at - 1];
}

/* What the spool names may be anything by now; libdw would wait for a pipe's writer. */
static bool is_file(const char *path)
{
	struct stat about;
	return path[0] == '/' && stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

static Dwfl_Module *module_of(const struct binaries *binaries, struct binary *binary)
{
	const struct dw *dw = binaries->dw;
	if (binary->reported || !dw)
		return binary->module;
	binary->reported = true;
	binary->dwfl = is_file(binary->path) ? dw->dwfl_begin(&dw->callbacks) : NULL;
	if (!binary->dwfl)
		return NULL;
	dw->dwfl_report_begin(binary->dwfl);
	binary->module = dw->dwfl_report_elf(binary->dwfl, binary->path, binary->path, -1, 0, true);
	dw->dwfl_report_end(binary->dwfl, NULL, NULL);
	return binary->module;
}

const char *binaries_function(struct binaries *binaries, struct binary *binary, uint64_t at)
{
	if (!binary->looked)
		binary->symbols = symbols_open(binary->path);
	binary->looked = true;
	const char *name = binary->symbols ? symbols_at(binary->symbols, at) : NULL;
	/* It looks into files of debug information too, and is slow where there are none. */
	if (name || (binary->in_vain >= MOST_IN_VAIN && binary->in_vain != UINT32_MAX) ||
	    !module_of(binaries, binary))
		return name;
	name = binaries->dw->dwfl_module_addrname(binary->module, at);
	if (name)
		binary->in_vain = UINT32_MAX;
	else if (binary->in_vain != UINT32_MAX)
		binary->in_vain++;
	return name;
}

static int64_t cpu_time(void)
{
	struct timespec time;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* Headers of compilers and toolkits: what they inline is not where the program's author looks. */
static bool is_foreign(const char *file)
{
	return (strncmp(file, "/usr/", 5) == 0 || strncmp(file, "/opt/", 5) == 0 ||
		strstr(file, "cuda") || strstr(file, "conda")) &&
	       strstr(file, "/include/");
}

/* Where an inlined function is called; NULL: not known. */
static const char *binaries_call_of(const struct dw *dw, struct dw_die *unit,
				    struct dw_die *inlined, int *line)
{
	uint64_t number, file;
	struct dw_attribute attribute;
	Dwarf_Files *files;
	size_t n_files;
	if (dw->dwarf_formudata(dw->dwarf_attr(inlined, DW_CALL_LINE, &attribute), &number) != 0 ||
	    dw->dwarf_formudata(dw->dwarf_attr(inlined, DW_CALL_FILE, &attribute), &file) != 0 ||
	    dw->dwarf_getsrcfiles(unit, &files, &n_files) != 0 || file >= n_files ||
	    number > INT_MAX)
		return NULL;
	*line = (int)number;
	return dw->dwarf_filesrc(files, file, NULL, NULL);
}

/* The innermost call of a function that is inlined at an address, made in the program's own files; NULL: there is
 * none. */
static const char *find_call(const struct dw *dw, Dwfl_Module *module, uint64_t at, int *line)
{
	uint64_t bias = 0;
	struct dw_die *unit = dw->dwfl_module_addrdie(module, at, &bias), *scopes = NULL;
	int n = unit ? dw->dwarf_getscopes(unit, at - bias, &scopes) : 0;
	const char *found = NULL;
	for (int i = 0; i < n && !found; i++) {
		if (dw->dwarf_tag(&scopes[i]) != DW_INLINED)
			continue;
		found = binaries_call_of(dw, unit, &scopes[i], line);
		if (found && is_foreign(found))
			found = NULL;
	}
	free(scopes);
	return found;
}

const char *binaries_line(struct binaries *binaries, struct binary *binary, uint64_t at,
			  enum line_wanted wanted, int *line)
{
	*line = 0;
	if (!module_of(binaries, binary))
		return NULL;
	const struct dw *dw = binaries->dw;
	Dwfl_Line *source = dw->dwfl_module_getsrc(binary->module, at);
	const char *file = source ? dw->dwfl_lineinfo(source, NULL, line, NULL, NULL, NULL) : NULL;
	if (!file || wanted == LINE_PLAIN || (wanted == LINE_OWN && !is_foreign(file)) ||
	    binaries->spent > MOST_SPENT)
		return file;
	int called;
	int64_t from = cpu_time();
	const char *call = find_call(dw, binary->module, at, &called);
	binaries->spent += cpu_time() - from;
	if (call)
		*line = called;
	return call ? call : file;
}

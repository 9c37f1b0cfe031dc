/* SPDX-License-Identifier: Apache-2.0 */
/* binaries.c - see binaries.h.
 *
 * We read symbol tables ourselves (elf_functions.h); libdw is asked for functions that no symbol
 * table has, and for lines. Opening the debug information of a file may take libdw a second,
 * because it unpacks all of it, so a file is opened once, and not before somebody wants a line of
 * it.
 */
#include "ingest/binaries.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/index.h"
#include "ingest/dw.h"
#include "ingest/elf_functions.h"
#include "ingest/maps.h"

enum {
	/* MOST_FAILED_NAMES: libdw is not asked for more names in a file after it did not know
	 * so many names. */
	MOST_FAILED_NAMES = 32
};
/* ns of CPU time that may go into searching for the calls of inlined functions, in all files
 * together. */
#define MOST_CALL_SEARCH_NS INT64_C(1000000000)

/* What is read of a file. Files are told apart by device and inode. */
struct binary_file {
	const char *path; /* the path by which the file was first named */
	uint32_t number;
	bool is_regular;                 /* else libdw, and we, would wait for a pipe's writer */
	struct elf_functions *functions; /* NULL: the file is no ELF file, or was not read yet */
	bool is_read;                    /* elf_functions_open was called */
	bool is_reported;                /* the file was given to libdw */
	bool has_segments, segments_are_read;
	struct maps_segments segments;
	/* dwfl: libdw's session with this file alone, so that its addresses are those in the
	 * file. */
	Dwfl *dwfl;
	Dwfl_Module *module;
	/* failed_names: how often libdw knew no name in this file; UINT32_MAX: libdw knew a name
	 * once. */
	uint32_t failed_names;
};

struct binary {
	char *path;
	struct binary_file *file;
};

struct file_key { /* a key of binaries.by_identity, so it must have no padding */
	uint64_t device, inode;
};

struct binaries {
	const struct dw *dw;
	struct hwy_index by_path;     /* maps a path to an index into 'list' */
	struct hwy_index by_identity; /* maps a struct file_key to an index into 'files' */
	struct binary **list;
	struct binary_file **files;
	uint32_t n, cap, n_files, cap_files;
	/* call_search_ns: ns of CPU time that was spent on searching for calls of inlined
	 * functions. */
	int64_t call_search_ns;
};

struct binaries *binaries_open(const struct dw *dw)
{
	struct binaries *binaries = hwy_zalloc(sizeof *binaries);
	binaries->dw = dw;
	return binaries;
}

void binaries_close(struct binaries *binaries)
{
	if (!binaries)
		return;
	for (uint32_t i = 0; i < binaries->n_files; i++) {
		struct binary_file *file = binaries->files[i];
		if (file->dwfl)
			binaries->dw->dwfl_end(file->dwfl);
		elf_functions_close(file->functions);
		free(file->segments.list);
		free(file);
	}
	for (uint32_t i = 0; i < binaries->n; i++) {
		free(binaries->list[i]->path);
		free(binaries->list[i]);
	}
	free(binaries->files);
	free(binaries->list);
	hwy_index_free(&binaries->by_path);
	hwy_index_free(&binaries->by_identity);
	free(binaries);
}

static struct binary_file *add_binary_file(struct binaries *binaries, const char *path)
{
	struct binary_file *file = hwy_zalloc(sizeof *file);
	file->path = path;
	file->number = binaries->n_files;
	HWY_GROW(binaries->files, binaries->n_files, binaries->cap_files);
	binaries->files[binaries->n_files++] = file;
	return file;
}

/* The file that a path leads to now. A path that leads to no regular file has a file to itself, of
 * which nothing is known. */
static struct binary_file *binary_file_at(struct binaries *binaries, const char *path)
{
	struct stat about;
	if (path[0] != '/' || stat(path, &about) != 0 || !S_ISREG(about.st_mode))
		return add_binary_file(binaries, path);
	bool fresh;
	struct file_key key = {about.st_dev, about.st_ino};
	uint32_t *index = hwy_index_put(&binaries->by_identity, &key, sizeof key, &fresh);
	if (fresh) {
		*index = binaries->n_files;
		add_binary_file(binaries, path)->is_regular = true;
	}
	return binaries->files[*index];
}

struct binary *binaries_get(struct binaries *binaries, const char *path)
{
	bool fresh;
	uint32_t *index = hwy_index_put(&binaries->by_path, path, strlen(path), &fresh);
	if (fresh) {
		struct binary *binary = hwy_zalloc(sizeof *binary);
		binary->path = hwy_copy(path, strlen(path) + 1);
		binary->file = binary_file_at(binaries, binary->path);
		HWY_GROW(binaries->list, binaries->n, binaries->cap);
		*index = binaries->n;
		binaries->list[binaries->n++] = binary;
	}
	return binaries->list[*index];
}

const char *binaries_path(const struct binary *binary)
{
	return binary->path;
}

uint32_t binaries_file(const struct binary *binary)
{
	return binary->file->number;
}

const struct maps_segments *binaries_segments(struct binary *binary)
{
	struct binary_file *file = binary->file;
	if (!file->segments_are_read && file->is_regular)
		file->has_segments = maps_read(file->path, &file->segments);
	file->segments_are_read = true;
	return file->has_segments ? &file->segments : NULL;
}

static Dwfl_Module *module_of_file(const struct binaries *binaries, struct binary_file *file)
{
	const struct dw *dw = binaries->dw;
	if (file->is_reported || !dw)
		return file->module;
	file->is_reported = true;
	file->dwfl = file->is_regular ? dw->dwfl_begin(&dw->callbacks) : NULL;
	if (!file->dwfl)
		return NULL;
	dw->dwfl_report_begin(file->dwfl);
	file->module = dw->dwfl_report_elf(file->dwfl, file->path, file->path, -1, 0, true);
	dw->dwfl_report_end(file->dwfl, NULL, NULL);
	return file->module;
}

const char *binaries_function(struct binaries *binaries, struct binary *binary, uint64_t address)
{
	struct binary_file *file = binary->file;
	if (!file->is_read)
		file->functions = elf_functions_open(file->path);
	file->is_read = true;
	const char *name = file->functions ? elf_functions_find(file->functions, address) : NULL;
	/* libdw also searches the system for files with debug information, which is slow where
	 * there are none. */
	if (name || (file->failed_names >= MOST_FAILED_NAMES && file->failed_names != UINT32_MAX) ||
	    !module_of_file(binaries, file))
		return name;
	name = binaries->dw->dwfl_module_addrname(file->module, address);
	if (name)
		file->failed_names = UINT32_MAX;
	else if (file->failed_names != UINT32_MAX)
		file->failed_names++;
	return name;
}

static int64_t cpu_time(void)
{
	struct timespec time;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* Whether a file is a header of a compiler or toolkit: a line in it does not help the author of
 * the program. */
static bool is_foreign_header(const char *file)
{
	return (strncmp(file, "/usr/", 5) == 0 || strncmp(file, "/opt/", 5) == 0 ||
		strstr(file, "cuda") || strstr(file, "conda")) &&
	       strstr(file, "/include/");
}

/* The file and line in which an inlined function is called; NULL: the debug information does not
 * say. */
static const char *inlined_call_line(const struct dw *dw, struct dw_die *unit,
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

/* Of the functions that are inlined at an address, the innermost one that is called in a file of
 * the program itself: the file and line of that call; NULL: there is none. */
static const char *find_call(const struct dw *dw, Dwfl_Module *module, uint64_t address, int *line)
{
	uint64_t bias = 0;
	struct dw_die *unit = dw->dwfl_module_addrdie(module, address, &bias), *scopes = NULL;
	int n = unit ? dw->dwarf_getscopes(unit, address - bias, &scopes) : 0;
	const char *found = NULL;
	for (int i = 0; i < n && !found; i++) {
		if (dw->dwarf_tag(&scopes[i]) != DW_INLINED)
			continue;
		found = inlined_call_line(dw, unit, &scopes[i], line);
		if (found && is_foreign_header(found))
			found = NULL;
	}
	free(scopes);
	return found;
}

const char *binaries_line(struct binaries *binaries, struct binary *binary, uint64_t address,
			  enum line_wanted wanted, int *line)
{
	*line = 0;
	Dwfl_Module *module = module_of_file(binaries, binary->file);
	if (!module)
		return NULL;
	const struct dw *dw = binaries->dw;
	Dwfl_Line *source = dw->dwfl_module_getsrc(module, address);
	const char *file = source ? dw->dwfl_lineinfo(source, NULL, line, NULL, NULL, NULL) : NULL;
	if (!file || wanted == LINE_PLAIN || (wanted == LINE_OWN && !is_foreign_header(file)) ||
	    binaries->call_search_ns > MOST_CALL_SEARCH_NS)
		return file;
	int called;
	int64_t from = cpu_time();
	const char *call = find_call(dw, module, address, &called);
	binaries->call_search_ns += cpu_time() - from;
	if (call)
		*line = called;
	return call ? call : file;
}

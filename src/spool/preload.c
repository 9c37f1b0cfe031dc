/* SPDX-License-Identifier: Apache-2.0 */
/* preload.c - see preload.h.
 *
 * Three kinds of program would complain, give up or refuse to start: those of another C library,
 * those of another architecture, and those that link AddressSanitizer's runtime as a shared
 * library, which insists on being the first of all. A static program is not one of them:
 * preloading does nothing to it, and what it starts may want it. In a program that runs with
 * another's rights the loader leaves us out by itself; it is not told of the run either. System
 * calls only, as the collector makes them (collect/sys.h), and none that the loader would not
 * make as well in the program that is started, where rights are out of question: a seccomp
 * filter that allows the program allows them.
 */
#include "spool/preload.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "spool/control.h"
#include "spool/record.h"

enum {
	MOST_PARTS = 64,     /* how many program headers of an ELF file are read at most */
	MOST_ENTRIES = 1024, /* how many entries of the dynamic section are read at most */
	MOST_SCRIPTS = 2,    /* how many scripts in a row may name a script as their interpreter */
};

/* ---- what is preloaded ----------------------------------------------------------------------- */

const struct preload_sibling preload_siblings[] = {
	{REC_TRACE_OSRT | REC_TRACE_PYTHON, REC_TRACE_OSRT, "libheadway-osrt.so"},
	{REC_TRACE_OPENCL, REC_TRACE_OPENCL, "libheadway-opencl.so"},
	{REC_TRACE_MPI, REC_TRACE_MPI, "libheadway-mpi.so"},
	{REC_TRACE_CUFFT, REC_TRACE_CUFFT, "libheadway-cufft.so"},
	{REC_TRACE_CUBLAS_SHAPES, REC_TRACE_CUBLAS_SHAPES, "libheadway-cublas.so"},
	{0, 0, NULL},
};

static size_t folder_of(const char *library)
{
	const char *slash = strrchr(library, '/');
	return slash ? (size_t)(slash - library) + 1 : 0;
}

size_t preload_room(const char *library)
{
	size_t room = strlen(library) + 1;
	for (const struct preload_sibling *one = preload_siblings; one->trace; one++)
		room += folder_of(library) + strlen(one->file) + 1;
	return room;
}

size_t preload_write(char *into, const char *library, uint32_t traces)
{
	size_t folder = folder_of(library);
	char *at = into;
	for (const struct preload_sibling *one = preload_siblings; one->trace; one++) {
		if (!(traces & one->trace))
			continue;
		memcpy(at, library, folder);
		at = stpcpy(stpcpy(at + folder, one->file), ":");
	}
	return (size_t)(stpcpy(at, library) - into);
}

bool preload_is_ours(const char *path, size_t length, const char *library)
{
	if (length == strlen(library) && memcmp(path, library, length) == 0)
		return true;
	size_t folder = folder_of(library);
	for (const struct preload_sibling *one = preload_siblings; one->trace; one++)
		if (length == folder + strlen(one->file) && memcmp(path, library, folder) == 0 &&
		    memcmp(path + folder, one->file, length - folder) == 0)
			return true;
	return false;
}

bool preload_is_nccl_plugin(const char *path, const char *library)
{
	size_t folder = folder_of(library);
	return strncmp(path, library, folder) == 0 &&
	       strcmp(path + folder, PRELOAD_NCCL_PLUGIN) == 0;
}

static bool read_at(int fd, void *into, size_t size, uint64_t offset)
{
	return syscall(SYS_pread64, fd, into, size, (long)offset) == (long)size;
}

/* Reads a text of the file into scratch->text, cut to its size. */
static const char *read_text(int fd, struct preload_scratch *scratch, uint64_t offset)
{
	long size = syscall(SYS_pread64, fd, scratch->text, sizeof scratch->text - 1, (long)offset);
	scratch->text[size > 0 ? size : 0] = '\0';
	return scratch->text;
}

/* ---- what an ELF file asks for --------------------------------------------------------------- */

/* Reads program header number i into scratch->part. */
static bool read_part(int fd, struct preload_scratch *scratch, unsigned i)
{
	const Elf64_Ehdr *header = &scratch->head.header;
	return i < header->e_phnum && i < MOST_PARTS &&
	       read_at(fd, &scratch->part, sizeof scratch->part,
		       header->e_phoff + (uint64_t)i * sizeof scratch->part);
}

/* Yields the offset in the file of an address of the program; 0: the file does not hold the
 * address. Changes scratch->part. */
static uint64_t preload_offset_of(int fd, struct preload_scratch *scratch, uint64_t address)
{
	const Elf64_Phdr *part = &scratch->part;
	for (unsigned i = 0; read_part(fd, scratch, i); i++)
		if (part->p_type == PT_LOAD && address >= part->p_vaddr &&
		    address - part->p_vaddr < part->p_filesz)
			return address - part->p_vaddr + part->p_offset;
	return 0;
}

struct dynamic {
	uint64_t offset, count; /* where the dynamic section lies in the file, and its entries */
};

/* Searches the dynamic section from entry *from on for an entry with this tag; scratch->entry is
 * then the entry, and *from the index of the one behind it. */
static bool next_entry(int fd, struct preload_scratch *scratch, const struct dynamic *dynamic,
		       Elf64_Sxword tag, uint64_t *from)
{
	Elf64_Dyn *entry = &scratch->entry;
	while (*from < dynamic->count && *from < MOST_ENTRIES &&
	       read_at(fd, entry, sizeof *entry, dynamic->offset + *from * sizeof *entry) &&
	       entry->d_tag != DT_NULL) {
		++*from;
		if (entry->d_tag == tag)
			return true;
	}
	return false;
}

static bool is_address_sanitizer(const char *library)
{
	static const char gcc[] = "libasan.so", clang[] = "libclang_rt.asan";
	return strncmp(library, gcc, sizeof gcc - 1) == 0 ||
	       strncmp(library, clang, sizeof clang - 1) == 0;
}

/* Whether the program needs the library of AddressSanitizer: gcc's libasan.so.N, or clang's with
 * -shared-libasan. Changes scratch->part. */
static __attribute__((noinline)) bool needs_address_sanitizer(int fd,
							      struct preload_scratch *scratch)
{
	struct dynamic dynamic = {scratch->part.p_offset,
				  scratch->part.p_filesz / sizeof scratch->entry};
	uint64_t from = 0;
	if (!next_entry(fd, scratch, &dynamic, DT_STRTAB, &from))
		return false;
	uint64_t texts = preload_offset_of(fd, scratch, scratch->entry.d_un.d_val);
	from = 0;
	while (texts && next_entry(fd, scratch, &dynamic, DT_NEEDED, &from))
		if (is_address_sanitizer(read_text(fd, scratch, texts + scratch->entry.d_un.d_val)))
			return true;
	return false;
}

static bool is_our_machine(const Elf64_Ehdr *header)
{
#ifdef __x86_64__
	if (header->e_machine != EM_X86_64)
		return false;
#elif defined(__aarch64__)
	if (header->e_machine != EM_AARCH64)
		return false;
#endif
	return header->e_ident[EI_CLASS] == ELFCLASS64;
}

/* Whether the loader will find itself in a program with raised rights, and ignore LD_PRELOAD. */
static __attribute__((noinline)) bool is_raised(int fd, struct preload_scratch *scratch)
{
	const struct stat *about = &scratch->about;
	uid_t user = (uid_t)syscall(SYS_getuid);
	gid_t group = (gid_t)syscall(SYS_getgid);
	if (fstat(fd, &scratch->about) != 0)
		return false;
	return user != (uid_t)syscall(SYS_geteuid) || group != (gid_t)syscall(SYS_getegid) ||
	       ((about->st_mode & S_ISUID) && about->st_uid != user) ||
	       ((about->st_mode & S_ISGID) && about->st_gid != group) ||
	       (user != 0 && syscall(SYS_fgetxattr, fd, "security.capability", NULL, 0L) > 0);
}

static __attribute__((noinline)) enum preload_fit fit_of_elf(int fd,
							     struct preload_scratch *scratch)
{
	if (!is_our_machine(&scratch->head.header))
		return PRELOAD_FOREIGN;
	bool is_static = true, is_sanitized = false;
	for (unsigned i = 0; read_part(fd, scratch, i); i++) {
		uint32_t type = scratch->part.p_type;
		if (type == PT_INTERP)
			is_static = false;
		if (type == PT_INTERP &&
		    !strstr(read_text(fd, scratch, scratch->part.p_offset), "/ld-linux"))
			return PRELOAD_FOREIGN;
		if (type == PT_DYNAMIC)
			is_sanitized = needs_address_sanitizer(fd, scratch);
	}
	if (!scratch->is_never_raised && is_raised(fd, scratch))
		return PRELOAD_RAISED;
	return is_static ? PRELOAD_STATIC : is_sanitized ? PRELOAD_SANITIZED : PRELOAD_FITS;
}

/* ---- files and commands ---------------------------------------------------------------------- */

/* Whether the file is a script; scratch->path is then the path of its interpreter. */
static bool names_interpreter(struct preload_scratch *scratch)
{
	const char *text = scratch->head.text;
	if (text[0] != '#' || text[1] != '!')
		return false;
	text += 2 + strspn(text + 2, " \t");
	size_t length = strcspn(text, " \t\r\n");
	memcpy(scratch->path, text, length);
	scratch->path[length] = '\0';
	return true;
}

/* Looks at an open file; *is_script: at its first line only, and scratch->path says what to look
 * at next. */
static enum preload_fit fit_of_open(int fd, struct preload_scratch *scratch, bool *is_script)
{
	memset(&scratch->head, 0, sizeof scratch->head);
	long size = syscall(SYS_pread64, fd, scratch->head.text, sizeof scratch->head.text - 1, 0L);
	*is_script = size > 2 && names_interpreter(scratch);
	bool is_elf = size >= (long)sizeof scratch->head.header &&
		      memcmp(scratch->head.text, ELFMAG, SELFMAG) == 0;
	return is_elf ? fit_of_elf(fd, scratch) : PRELOAD_FITS;
}

enum preload_fit preload_fit_of_file(int folder, const char *path, struct preload_scratch *scratch)
{
	enum preload_fit fit = PRELOAD_FITS;
	bool is_script = true;
	for (int scripts = 0; is_script && scripts <= MOST_SCRIPTS; scripts++) {
		int fd = (int)syscall(SYS_openat, folder, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC,
				      0);
		if (fd < 0)
			return PRELOAD_FITS;
		fit = fit_of_open(fd, scratch, &is_script);
		syscall(SYS_close, fd);
		folder = AT_FDCWD;
		path = scratch->path;
	}
	return fit;
}

enum preload_fit preload_fit_of_descriptor(int fd, struct preload_scratch *scratch)
{
	bool is_script;
	enum preload_fit fit = fit_of_open(fd, scratch, &is_script);
	return is_script ? preload_fit_of_file(AT_FDCWD, scratch->path, scratch) : fit;
}

static bool is_executable(const char *path, struct preload_scratch *scratch)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	const struct stat *about = &scratch->about;
	bool yes = fstat(fd, &scratch->about) == 0 && S_ISREG(about->st_mode) &&
		   (about->st_mode & (S_IXUSR | S_IXGRP | S_IXOTH));
	syscall(SYS_close, fd);
	return yes;
}

enum preload_fit preload_fit_of_command(const char *name, struct preload_scratch *scratch)
{
	const char *path = getenv("PATH");
	if (strchr(name, '/'))
		return preload_fit_of_file(AT_FDCWD, name, scratch);
	size_t length = strlen(name);
	for (const char *part = path ? path : "/bin:/usr/bin", *end = part; *end; part = end + 1) {
		end = part + strcspn(part, ":");
		size_t folder = (size_t)(end - part);
		if (folder + length + 2 > sizeof scratch->path)
			continue;
		/* An empty part is the current folder. */
		char *at = mempcpy(scratch->path, part, folder);
		if (folder)
			*at++ = '/';
		memcpy(at, name, length + 1);
		if (is_executable(scratch->path, scratch))
			return preload_fit_of_file(AT_FDCWD, scratch->path, scratch);
	}
	return PRELOAD_FITS;
}

bool preload_fits_command(const char *name)
{
	struct preload_scratch scratch = {.is_never_raised = false};
	return preload_is_handed_on(preload_fit_of_command(name, &scratch));
}

const char *preload_refusal(const char *name)
{
	static const char *const reasons[] = {
		[PRELOAD_FITS] = NULL,
		[PRELOAD_STATIC] = "it is linked statically",
		[PRELOAD_RAISED] = "it runs with the rights of another user or group",
		[PRELOAD_FOREIGN] = "it is made for another machine or another C library",
		[PRELOAD_SANITIZED] =
			"it is built with AddressSanitizer, which must be loaded first",
	};
	struct preload_scratch scratch = {.is_never_raised = false};
	return reasons[preload_fit_of_command(name, &scratch)];
}

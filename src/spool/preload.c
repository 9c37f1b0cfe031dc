/* SPDX-License-Identifier: Apache-2.0 */
/* preload.c - see preload.h.
 *
 * Three kinds of program would complain, give up or refuse to start: those of another C library, those of another
 * architecture, and those that link AddressSanitizer's runtime as a shared library, which insists on being the
 * first of all. A static program is not one of them: preloading does nothing to it, and what it starts may want it.
 * (Nor is one that runs with another's rights: the loader leaves us out.) System calls only, as the collector makes
 * them (collect/sys.h).
 */
#include "spool/preload.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "spool/record.h"

enum {
	MOST_PATH = 4096,
	MOST_PARTS = 64,     /* how many program headers of an ELF file are read at most */
	MOST_ENTRIES = 1024, /* how many entries of the dynamic section are read at most */
	MOST_SCRIPTS = 2,    /* how many scripts in a row may name a script as their interpreter */
};

/* ---- what is preloaded -------------------------------------------------------------------------- */

const struct preload_sibling preload_siblings[] = {
	{REC_TRACE_OSRT, "libheadway-osrt.so"},
	{REC_TRACE_OPENCL, "libheadway-opencl.so"},
	{0, NULL},
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

static bool read_at(int fd, void *into, size_t size, uint64_t offset)
{
	return syscall(SYS_pread64, fd, into, size, (long)offset) == (long)size;
}

/* ---- what an ELF file asks for ------------------------------------------------------------------ */

static bool read_program_header(int fd, const Elf64_Ehdr *header, unsigned i, Elf64_Phdr *part)
{
	return i < header->e_phnum && i < MOST_PARTS &&
	       read_at(fd, part, sizeof *part, header->e_phoff + (uint64_t)i * sizeof *part);
}

/* Yields the offset in the file of an address of the program; 0: the file does not hold the
 * address. */
static uint64_t preload_offset_of(int fd, const Elf64_Ehdr *header, uint64_t address)
{
	Elf64_Phdr part;
	for (unsigned i = 0; read_program_header(fd, header, i, &part); i++)
		if (part.p_type == PT_LOAD && address >= part.p_vaddr &&
		    address - part.p_vaddr < part.p_filesz)
			return address - part.p_vaddr + part.p_offset;
	return 0;
}

/* Searches the dynamic section from entry *from on for an entry with this tag; yields its value
 * in *value, and in *from the index of the entry behind it. */
static bool next_entry(int fd, const Elf64_Phdr *dynamic, Elf64_Sxword tag, uint64_t *from,
		       uint64_t *value)
{
	Elf64_Dyn entry;
	uint64_t n = dynamic->p_filesz / sizeof entry;
	while (*from < n && *from < MOST_ENTRIES &&
	       read_at(fd, &entry, sizeof entry, dynamic->p_offset + *from * sizeof entry) &&
	       entry.d_tag != DT_NULL) {
		++*from;
		*value = entry.d_un.d_val;
		if (entry.d_tag == tag)
			return true;
	}
	return false;
}

/* Whether the program needs the library of AddressSanitizer: gcc's libasan.so.N, or clang's with
 * -shared-libasan. */
static bool needs_address_sanitizer(int fd, const Elf64_Ehdr *header, const Elf64_Phdr *dynamic)
{
	static const char *const runtimes[] = {"libasan.so", "libclang_rt.asan"};
	uint64_t from = 0, address, name;
	uint64_t texts = next_entry(fd, dynamic, DT_STRTAB, &from, &address)
				 ? preload_offset_of(fd, header, address)
				 : 0;
	from = 0;
	while (texts && next_entry(fd, dynamic, DT_NEEDED, &from, &name)) {
		char text[32] = {0};
		syscall(SYS_pread64, fd, text, sizeof text - 1, (long)(texts + name));
		for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
			if (strncmp(text, runtimes[i], strlen(runtimes[i])) == 0)
				return true;
	}
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

/* How a program file suits preloading: in the first three kinds the library does no harm. */
enum fit { FITS, STATIC, SETUID, FOREIGN, SANITIZED };

static bool has_others_rights(int fd)
{
	struct stat about;
	if (syscall(SYS_fstat, fd, &about) != 0)
		return false;
	return ((about.st_mode & S_ISUID) && about.st_uid != (uid_t)syscall(SYS_getuid)) ||
	       ((about.st_mode & S_ISGID) && about.st_gid != (gid_t)syscall(SYS_getgid));
}

static enum fit fit_of_elf(int fd, const Elf64_Ehdr *header)
{
	if (!is_our_machine(header))
		return FOREIGN;
	Elf64_Phdr part;
	bool is_static = true;
	for (unsigned i = 0; read_program_header(fd, header, i, &part); i++) {
		char loader[256] = {0};
		if (part.p_type == PT_DYNAMIC && needs_address_sanitizer(fd, header, &part))
			return SANITIZED;
		if (part.p_type != PT_INTERP)
			continue;
		is_static = false;
		syscall(SYS_pread64, fd, loader, sizeof loader - 1, (long)part.p_offset);
		if (!strstr(loader, "/ld-linux"))
			return FOREIGN;
	}
	return is_static ? STATIC : has_others_rights(fd) ? SETUID : FITS;
}

/* ---- files and commands ------------------------------------------------------------------------- */

static enum fit fit_of_file(const char *path, int scripts)
{
	union {
		Elf64_Ehdr header;
		char text[256];
	} head = {.text = ""};
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd < 0)
		return FITS;
	long size = syscall(SYS_read, fd, head.text, sizeof head.text - 1);
	bool is_elf = size >= (long)sizeof head.header && memcmp(head.text, ELFMAG, SELFMAG) == 0;
	enum fit fit = is_elf ? fit_of_elf(fd, &head.header) : FITS;
	syscall(SYS_close, fd);
	if (size > 2 && head.text[0] == '#' && head.text[1] == '!' && scripts > 0) {
		char *interpreter = head.text + 2 + strspn(head.text + 2, " \t");
		interpreter[strcspn(interpreter, " \t\r\n")] = '\0';
		fit = fit_of_file(interpreter, scripts - 1);
	}
	return fit;
}

static enum fit fit_of_command(const char *name)
{
	const char *path = getenv("PATH");
	if (strchr(name, '/') || !path)
		return fit_of_file(name, MOST_SCRIPTS);
	size_t length = strlen(name);
	for (const char *end; *path; path = *end ? end + 1 : end) {
		char full[MOST_PATH];
		end = path + strcspn(path, ":");
		size_t folder = (size_t)(end - path);
		if (folder == 0 || folder + length + 2 > sizeof full)
			continue;
		memcpy(full, path, folder);
		full[folder] = '/';
		memcpy(full + folder + 1, name, length + 1);
		if (syscall(SYS_faccessat, AT_FDCWD, full, X_OK) == 0)
			return fit_of_file(full, MOST_SCRIPTS);
	}
	return FITS;
}

bool preload_fits_file(const char *path)
{
	return fit_of_file(path, MOST_SCRIPTS) <= SETUID;
}

bool preload_fits_command(const char *name)
{
	return fit_of_command(name) <= SETUID;
}

const char *preload_refusal(const char *name)
{
	static const char *const reasons[] = {
		[FITS] = NULL,
		[STATIC] = "it is linked statically",
		[SETUID] = "it runs with the rights of another user or group",
		[FOREIGN] = "it is made for another machine or another C library",
		[SANITIZED] = "it is built with AddressSanitizer, which must be loaded first",
	};
	return reasons[fit_of_command(name)];
}

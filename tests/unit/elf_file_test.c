/* SPDX-License-Identifier: Apache-2.0 */
/* elf_file_test.c - symbols of ELF files: this program's own file, whole and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "spool/elf_file.h"

static char *read_self(size_t *size)
{
	FILE *file = fopen("/proc/self/exe", "re");
	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	*size = (size_t)ftell(file);
	rewind(file);
	char *bytes = malloc(*size);
	assert_int_equal(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

/* How many symbols of the file with these bytes are called 'name'. */
static unsigned count_symbols(const char *bytes, size_t size, const char *name)
{
	char path[] = "/tmp/elf_file_test-XXXXXX";
	int fd = mkstemp(path);
	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	close(fd);
	struct elf_file file;
	struct elf_symbols symbols;
	unsigned n = 0;
	bool opened = elf_file_open(&file, path);
	unlink(path);
	assert_true(opened);
	for (unsigned i = 0; i < file.n_sections; i++)
		for (uint64_t s = 0; elf_file_symbols(&file, i, &symbols) && s < symbols.n; s++) {
			const char *found = elf_file_symbol_name(&symbols, &symbols.list[s]);
			n += found && strcmp(found, name) == 0;
		}
	elf_file_close(&file);
	return n;
}

static void a_program_has_its_own_functions(void **state)
{
	(void)state;
	size_t size;
	char *bytes = read_self(&size);
	assert_true(count_symbols(bytes, size, "main") > 0);
	assert_int_equal(count_symbols(bytes, size, "no_such_function"), 0);
	free(bytes);
}

static void a_file_that_ends_early_has_no_symbols(void **state)
{
	(void)state;
	size_t size;
	char *bytes = read_self(&size);
	/* The table of sections is at the end of the file. */
	assert_int_equal(count_symbols(bytes, size - 1, "main"), 0);
	assert_int_equal(count_symbols(bytes, sizeof(Elf64_Ehdr) - 1, "main"), 0);
	free(bytes);
}

static void offsets_beyond_the_file_are_not_followed(void **state)
{
	(void)state;
	size_t size;
	char *bytes = read_self(&size);
	Elf64_Ehdr *head = (void *)bytes;
	Elf64_Shdr *sections = (void *)(bytes + head->e_shoff);
	for (unsigned i = 0; i < head->e_shnum; i++)
		if (sections[i].sh_type == SHT_STRTAB)
			sections[i].sh_offset = UINT64_MAX - 8;
	assert_int_equal(count_symbols(bytes, size, "main"), 0);
	head->e_shoff = UINT64_MAX - 7;
	assert_int_equal(count_symbols(bytes, size, "main"), 0);
	free(bytes);
}

static void a_file_without_the_magic_is_no_elf_file(void **state)
{
	(void)state;
	size_t size;
	char *bytes = read_self(&size);
	bytes[1] = 'x';
	assert_int_equal(count_symbols(bytes, size, "main"), 0);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_has_its_own_functions),
		cmocka_unit_test(a_file_that_ends_early_has_no_symbols),
		cmocka_unit_test(offsets_beyond_the_file_are_not_followed),
		cmocka_unit_test(a_file_without_the_magic_is_no_elf_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* nvml_open.c - see nvml_open.h. */
#include "run/counters/nvml_open.h"

#include <ctype.h>
#include <dlfcn.h>
#include <string.h>

const char *nvml_error(const struct abi_nvml *nvml, int error)
{
	const char *words = nvml->nvmlErrorString ? nvml->nvmlErrorString(error) : NULL;
	return words && *words ? words : "error";
}

bool nvml_open(struct abi_nvml *nvml, struct hwy_err *err)
{
	const char *missing = NULL;
	*nvml = (struct abi_nvml){0};
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return hwy_fail(err, "NVML, a library of NVIDIA's driver, is not there: %s",
				dlerror());
#define X(name, parameters, needed)                                                                \
	*(void **)&nvml->name = dlsym(library, #name);                                             \
	if ((needed) && !nvml->name)                                                               \
		missing = #name;
	ABI_NVML_FUNCTIONS(X)
#undef X
	*(void **)&nvml->nvmlErrorString = dlsym(library, "nvmlErrorString");
	if (missing)
		return hwy_fail(err, "the driver's NVML is too old: it has no %s", missing);
	int error = nvml->nvmlInit_v2();
	return error == ABI_NVML_SUCCESS ||
	       hwy_fail(err, "NVML cannot be used: %s (%d)", nvml_error(nvml, error), error);
}

static int hex_digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

bool nvml_read_uuid(const char *text, uint8_t uuid[16])
{
	unsigned n = 0;
	if (strncmp(text, "GPU-", 4) != 0)
		return false;
	for (text += 4; *text; text++) {
		if (*text == '-')
			continue;
		if (!isxdigit((unsigned char)*text) || n == 32)
			return false;
		uint8_t digit = (uint8_t)hex_digit(*text);
		uuid[n / 2] = (uint8_t)(n % 2 ? uuid[n / 2] << 4 | digit : digit);
		n++;
	}
	return n == 32;
}

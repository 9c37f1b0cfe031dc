/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_answers.c - reads what the processes of a run measured.
 *
 * The files come from inside the program: nothing in them is believed before it is checked, and
 * a process may have died while it wrote. An answer that is not whole ends its file.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/counters/cupti_host.h"
#include "run/kernels/kernels_internal.h"
#include "spool/control.h"

enum { MOST_NAME = 4096 };

void kernels_note(struct kernels_found *found, const char *format, ...)
{
	char text[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	hwy_sanitize(text, strlen(text));
	for (uint32_t i = 0; i < found->n_notes; i++)
		if (strcmp(found->notes[i], text) == 0)
			return;
	HWY_GROW(found->notes, found->n_notes, found->cap_notes);
	found->notes[found->n_notes++] = hwy_copy(text, strlen(text) + 1);
}

/* What permits counters to be read, where the driver keeps them for root. */
#define PERMIT                                                                                     \
	"; run as root, or permit them with: echo options nvidia "                                 \
	"NVreg_RestrictProfilingToAdminUsers=0 | sudo tee /etc/modprobe.d/headway.conf, and "      \
	"reboot"

static void answer_note(struct kernels_found *found, const struct kernels_answer *answer,
			const uint8_t *payload)
{
	int length = answer->bytes < 512 ? (int)answer->bytes : 512;
	const char *text = (const char *)payload;
	if (answer->value == 0)
		kernels_note(found, "%.*s", length, text);
	else
		kernels_note(found, "%.*s: %s (CUPTI error %u)%s", length, text,
			     cupti_result_text((int)answer->value), answer->value,
			     answer->value == ABI_CUPTI_INSUFFICIENT_PRIVILEGES ? PERMIT : "");
}

static void answer_image(struct kernels_answers *answers, const struct kernels_answer *answer,
			 const uint8_t *payload, uint32_t pid)
{
	HWY_GROW(answers->images, answers->n_images, answers->cap_images);
	answers->images[answers->n_images++] = (struct kernels_image){
		.target = answer->target,
		.device = answer->device,
		.rank = answer->rank,
		.pid = pid,
		.row = answer->value,
		.ordinal = answer->ordinal,
		.data = hwy_copy(payload, answer->bytes),
		.bytes = answer->bytes,
	};
}

static void answer_samples(struct kernels_answers *answers, const struct kernels_answer *answer,
			   const uint8_t *payload)
{
	struct kernels_pc pc;
	if (answer->bytes < sizeof pc.sample)
		return;
	memcpy(&pc.sample, payload, sizeof pc.sample);
	uint64_t reasons = (uint64_t)pc.sample.n_reasons * sizeof *pc.reasons;
	if (pc.sample.name_bytes > MOST_NAME ||
	    answer->bytes < sizeof pc.sample + reasons + pc.sample.name_bytes)
		return;
	payload += sizeof pc.sample;
	pc.reasons = hwy_copy(payload, reasons);
	pc.name = hwy_zalloc((size_t)pc.sample.name_bytes + 1);
	memcpy(pc.name, payload + reasons, pc.sample.name_bytes);
	HWY_GROW(answers->pcs, answers->n_pcs, answers->cap_pcs);
	answers->pcs[answers->n_pcs++] = pc;
}

static void answer_reason(struct kernels_answers *answers, const struct kernels_answer *answer,
			  const uint8_t *payload)
{
	enum { N = sizeof answers->reasons / sizeof *answers->reasons };
	if (answer->value >= N || answers->reasons[answer->value] || answer->bytes > MOST_NAME)
		return;
	char *name = hwy_zalloc(answer->bytes + 1);
	memcpy(name, payload, answer->bytes);
	answers->reasons[answer->value] = name;
}

static void answer_cubin(struct kernels_answers *answers, const struct kernels_answer *answer,
			 const uint8_t *payload)
{
	HWY_GROW(answers->cubins, answers->n_cubins, answers->cap_cubins);
	answers->cubins[answers->n_cubins++] = (struct kernels_cubin){
		.data = hwy_copy(payload, answer->bytes), .bytes = answer->bytes};
}

static void answers_take(struct kernels_answers *answers, struct kernels_found *found,
			 const uint8_t *bytes, uint64_t n, uint32_t pid)
{
	for (uint64_t at = 0; n - at >= sizeof(struct kernels_answer);) {
		struct kernels_answer answer;
		memcpy(&answer, bytes + at, sizeof answer);
		at += sizeof answer;
		if (answer.bytes > n - at)
			return;
		const uint8_t *payload = bytes + at;
		switch (answer.type) {
		case KERNELS_ANSWER_IMAGE: answer_image(answers, &answer, payload, pid); break;
		case KERNELS_ANSWER_NOTE: answer_note(found, &answer, payload); break;
		case KERNELS_ANSWER_SAMPLES: answer_samples(answers, &answer, payload); break;
		case KERNELS_ANSWER_CUBIN: answer_cubin(answers, &answer, payload); break;
		case KERNELS_ANSWER_REASON: answer_reason(answers, &answer, payload); break;
		default: return; /* not one of ours: what follows cannot be believed either */
		}
		uint64_t padded = (answer.bytes + 7) / 8 * 8;
		at = padded > n - at ? n : at + padded;
	}
}

static void answers_read_file(int folder, const char *name, struct kernels_answers *answers,
			      struct kernels_found *found)
{
	struct stat about;
	int fd = control_open(folder, name, O_RDONLY);
	if (fd < 0)
		return;
	uint32_t pid = (uint32_t)strtoul(name + strlen(KERNELS_ANSWER_PREFIX), NULL, 10);
	if (fstat(fd, &about) == 0 && about.st_size > 0) {
		size_t n = (size_t)about.st_size;
		uint8_t *bytes = hwy_alloc(n);
		size_t have = 0;
		for (ssize_t got = 1; have < n && got > 0; have += got > 0 ? (size_t)got : 0)
			got = read(fd, bytes + have, n - have);
		answers_take(answers, found, bytes, have, pid);
		free(bytes);
	}
	close(fd);
}

void kernels_answers_read(const char *directory, struct kernels_answers *answers,
			  struct kernels_found *found)
{
	DIR *listing = opendir(directory);
	for (const struct dirent *entry; listing && (entry = readdir(listing));)
		if (strncmp(entry->d_name, KERNELS_ANSWER_PREFIX, strlen(KERNELS_ANSWER_PREFIX)) ==
		    0)
			answers_read_file(dirfd(listing), entry->d_name, answers, found);
	if (listing)
		closedir(listing);
}

void kernels_answers_free(struct kernels_answers *answers)
{
	for (uint32_t i = 0; i < answers->n_images; i++)
		free(answers->images[i].data);
	for (uint32_t i = 0; i < answers->n_cubins; i++)
		free(answers->cubins[i].data);
	for (uint32_t i = 0; i < answers->n_pcs; i++) {
		free(answers->pcs[i].name);
		free(answers->pcs[i].reasons);
	}
	for (size_t i = 0; i < sizeof answers->reasons / sizeof *answers->reasons; i++)
		free(answers->reasons[i]);
	free(answers->images);
	free(answers->cubins);
	free(answers->pcs);
	*answers = (struct kernels_answers){0};
}

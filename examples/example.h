/* example.h - what the CUDA examples share: a clock, a check, a choice by name. */
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

static inline double now_ms()
{
	timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static inline void check(cudaError_t error)
{
	if (error != cudaSuccess) {
		fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
		exit(1);
	}
}

/* Argument i as a number, or what it is without. */
static inline int number(int argc, char **argv, int i, int otherwise)
{
	return argc > i ? atoi(argv[i]) : otherwise;
}

/* Exits with the usage unless the first argument is one of the choices. */
static inline const char *choice(int argc, char **argv, const char *const *choices,
				 const char *usage)
{
	for (; argc > 1 && *choices; choices++)
		if (strcmp(argv[1], *choices) == 0)
			return *choices;
	fprintf(stderr, "usage: %s %s\n", argv[0], usage);
	exit(2);
}
/* SPDX-License-Identifier: Apache-2.0 */

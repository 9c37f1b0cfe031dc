/* SPDX-License-Identifier: Apache-2.0 */
/* libraries.c - see libraries.h.
 *
 * Names of domains and variables are those of CUDA 13.0's libraries; older releases write some
 * of them in other cases.
 */
#include "spool/libraries.h"

#include <string.h>
#include <strings.h>

static const struct {
	const char *domain;
	uint32_t source;
	/* The calls of the domain that begin with 'function' are those of the library 'name';
	 * the first match counts. */
	const char *function, *name;
} domains[] = {
	{"cuBLAS", REC_TRACE_CUBLAS, "cublasLt", "cuBLASLt"},
	{"cuBLAS", REC_TRACE_CUBLAS, "cublasXt", "cuBLASXt"},
	{"cuBLAS", REC_TRACE_CUBLAS, "", "cuBLAS"},
	{"cuBLASLt", REC_TRACE_CUBLAS, "", "cuBLASLt"},
	{"cuBLASXt", REC_TRACE_CUBLAS, "", "cuBLASXt"},
	{"cuDNN", REC_TRACE_CUDNN, "", "cuDNN"},
	{"cuSPARSE", REC_TRACE_CUSPARSE, "", "cuSPARSE"},
	{"cuSOLVER", REC_TRACE_CUSOLVER, "", "cuSOLVER"},
	{"cusolverDn", REC_TRACE_CUSOLVER, "", "cuSOLVER"},
	{"cusolverSp", REC_TRACE_CUSOLVER, "", "cuSOLVER"},
	{"cusolverMg", REC_TRACE_CUSOLVER, "", "cuSOLVER"},
	{"NCCL", REC_TRACE_NCCL, "", "NCCL"},
	{"NVSHMEM", 0, "", "NVSHMEM"},
};
enum { DOMAINS = sizeof domains / sizeof *domains };

/* Level 1 leaves out the calls that do the work (cublasSgemm_v2, all of cuSPARSE); 3 has shown
 * no more than 2. */
#define LEVEL "2"
static const struct {
	const char *name;
	uint32_t source;
} variables[] = {
	{"CUBLAS_NVTX_LEVEL", REC_TRACE_CUBLAS},     {"CUBLASLT_NVTX_LEVEL", REC_TRACE_CUBLAS},
	{"CUBLASXT_NVTX_LEVEL", REC_TRACE_CUBLAS},   {"CUDNN_NVTX_LEVEL", REC_TRACE_CUDNN},
	{"CUSPARSE_NVTX_LEVEL", REC_TRACE_CUSPARSE}, {"CUSOLVERDN_NVTX_LEVEL", REC_TRACE_CUSOLVER},
};

static bool domain_is(size_t i, const char *domain, size_t length)
{
	return strlen(domains[i].domain) == length &&
	       strncasecmp(domains[i].domain, domain, length) == 0;
}

uint32_t libraries_source(const char *domain, size_t length)
{
	for (size_t i = 0; i < DOMAINS; i++)
		if (domain_is(i, domain, length))
			return domains[i].source;
	return 0;
}

const char *libraries_name(const char *domain, size_t length, const char *function)
{
	for (size_t i = 0; i < DOMAINS; i++)
		if (domain_is(i, domain, length) &&
		    strncmp(function, domains[i].function, strlen(domains[i].function)) == 0)
			return domains[i].name;
	return NULL;
}

const char *libraries_level(const char *variable, uint32_t traces)
{
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		if ((traces & variables[i].source) && strcmp(variable, variables[i].name) == 0)
			return LEVEL;
	return NULL;
}

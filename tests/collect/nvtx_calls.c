/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_calls.c - a program whose libraries tell of their calls through NVTX, if their variables say so, as CUDA's do.
 *
 * Prints the levels that the libraries were told, and whether the variables are in the environment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nvtx3/nvToolsExt.h>

extern char **environ;

static void push(nvtxDomainHandle_t domain, const char *name)
{
	nvtxEventAttributes_t event = {0};
	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	event.messageType = NVTX_MESSAGE_TYPE_ASCII;
	event.message.ascii = name;
	nvtxDomainRangePushEx(domain, &event);
}

static void call(const char *variable, const char *domain, const char *function, const char *inner)
{
	const char *level = getenv(variable);
	printf("%s=%s\n", variable, level ? level : "");
	if (!level || atoi(level) < 2)
		return;
	nvtxDomainHandle_t handle = nvtxDomainCreateA(domain);
	push(handle, function);
	if (inner) {
		push(handle, inner);
		nvtxDomainRangePop(handle);
	}
	nvtxDomainRangePop(handle);
}

int main(void)
{
	nvtxDomainHandle_t own = nvtxDomainCreateA("own");
	nvtxRangePushA("step");
	push(own, "part");
	call("CUBLAS_NVTX_LEVEL", "cuBLAS", "cublasSgemm_v2", "cublasLtMatmul");
	call("CUDNN_NVTX_LEVEL", "cuDNN", "cudnnConvolutionForward", NULL);
	call("CUSPARSE_NVTX_LEVEL", "CUSPARSE", "cusparseSpMV", NULL);
	call("CUSOLVERDN_NVTX_LEVEL", "cusolverDn", "cusolverDnSgetrf", NULL);
	nvtxDomainRangePop(own);
	nvtxRangePop();
	for (char **at = environ; *at; at++)
		if (strstr(*at, "_NVTX_LEVEL="))
			printf("in the environment: %s\n", *at);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* million.cu - very many launches: million PIDFILE [launches] */
#include <unistd.h>

#include "example.h"

__global__ void tiny(int *x)
{
	x[threadIdx.x]++;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (FILE *file =
		    fopen(argv[1], "w")) { /* so that the test can see when this process has gone */
		fprintf(file, "%d\n", (int)getpid());
		fclose(file);
	}
	int launches = number(argc, argv, 2, 1000000), *x;
	cudaStream_t stream;
	check(cudaStreamCreate(&stream));
	check(cudaMalloc(&x, 32 * sizeof *x));
	double start = now_ms();
	for (int i = 0; i < launches; i++) {
		tiny<<<1, 32, 0, stream>>>(x);
		if (i % 1000 == 999)
			check(cudaStreamSynchronize(stream));
	}
	check(cudaDeviceSynchronize());
	printf("million launches: %.6f ms/step (%d steps)\n", (now_ms() - start) / launches,
	       launches);
	return 0;
}

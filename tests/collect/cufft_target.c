/* SPDX-License-Identifier: Apache-2.0 */
/* cufft_target.c - makes and executes plans of a library that looks like cuFFT; its argument is a module that has another
 * release of it. Prints what it gets back.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

int cufftCreate(int *plan);
int cufftMakePlanMany(int plan, int rank, int *n, int *inembed, int istride, int idist,
		      int *onembed, int ostride, int odist, int type, int batch, size_t *work);
int cufftPlan2d(int *plan, int nx, int ny, int type);
int cufftExecC2C(int plan, void *in, void *out, int direction);
int cufftExecR2C(int plan, void *in, void *out);
int cufftDestroy(int plan);

int main(int argc, char **argv)
{
	int plan = 0, other = 0, sizes[] = {64, 128, 256}, none[] = {0};
	size_t work = 0;
	char a, b;
	errno = 77;
	printf("%d", cufftCreate(&plan));
	printf(" %d", cufftMakePlanMany(plan, 3, sizes, NULL, 1, 2, NULL, 3, 4, 0x29, 5, &work));
	printf(" %zu", work);
	printf(" %d", cufftExecC2C(plan, &a, &b, -1));
	printf(" %d", cufftExecC2C(plan, &a, &b, 1));
	printf(" %d", cufftExecC2C(plan, &a, &a, 1));
	printf(" %d", cufftPlan2d(&other, 0, 4, 0x2a));
	printf(" %d", cufftPlan2d(&other, 8, 4, 0x2a));
	printf(" %d", cufftExecR2C(other, &a, &b));
	printf(" %d", cufftMakePlanMany(other, 1, none, NULL, 0, 0, NULL, 0, 0, 0x29, 1, &work));
	printf(" %d", cufftDestroy(plan));
	printf(" %d", cufftExecC2C(plan, &a, &b, 1));
	printf(" %d %d %d", plan, other, errno);
	void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*transform)(void);
	*(void **)&transform = module ? dlsym(module, "module_transform") : NULL;
	for (int i = 0; transform && i < 2; i++)
		printf(" %d", transform());
	printf("\n");
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* cufft_module.c - a module that brings another release of cuFFT with it, as Python packages do. */
int cufftPlan2d(int *plan, int nx, int ny, int type);
int cufftExecR2C(int plan, void *in, void *out);

__attribute__((visibility("default"))) int module_transform(void);

/* 0: it has called its own release, and not the program's. */
int module_transform(void)
{
	int plan = 0;
	char a, b;
	return cufftPlan2d(&plan, 16, 32, 0x2a) || plan / 100 != 11 || cufftExecR2C(plan, &a, &b);
}

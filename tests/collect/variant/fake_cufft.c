/* SPDX-License-Identifier: Apache-2.0 */
/* fake_cufft.c - as much of cuFFT as a test needs, without a GPU. Built twice: the second one is another release, which tells
 * so (FAKE_VERSION), and whose plans begin with another number. */
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

static int plans = FAKE_VERSION * 100;

EXPORT int cufftGetVersion(int *version);
EXPORT int cufftGetVersion(int *version)
{
	*version = FAKE_VERSION;
	return 0;
}

EXPORT int cufftCreate(int *plan);
EXPORT int cufftCreate(int *plan)
{
	*plan = ++plans;
	return 0;
}

/* Fails for a size of 0, as cuFFT does. */
EXPORT int cufftMakePlanMany(int plan, int rank, int *n, int *inembed, int istride, int idist,
			     int *onembed, int ostride, int odist, int type, int batch,
			     size_t *work);
EXPORT int cufftMakePlanMany(int plan, int rank, int *n, int *inembed, int istride, int idist,
			     int *onembed, int ostride, int odist, int type, int batch,
			     size_t *work)
{
	*work = (size_t)(istride + idist + ostride + odist + (inembed != onembed) + type);
	return plan > 0 && rank > 0 && n[0] > 0 && batch > 0 ? 0 : 8;
}

EXPORT int cufftPlan2d(int *plan, int nx, int ny, int type);
EXPORT int cufftPlan2d(int *plan, int nx, int ny, int type)
{
	return nx > 0 && ny > 0 && type > 0 ? cufftCreate(plan) : 8;
}

EXPORT int cufftExecC2C(int plan, void *in, void *out, int direction);
EXPORT int cufftExecC2C(int plan, void *in, void *out, int direction)
{
	return in == out && direction ? plan : 0;
}

EXPORT int cufftExecR2C(int plan, void *in, void *out);
EXPORT int cufftExecR2C(int plan, void *in, void *out)
{
	return plan / 100 == FAKE_VERSION && in != out ? 0 : 1;
}

EXPORT int cufftDestroy(int plan);
EXPORT int cufftDestroy(int plan)
{
	return plan > 0 ? 0 : 1;
}

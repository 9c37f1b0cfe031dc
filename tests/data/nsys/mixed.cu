/* mixed.cu - a little of everything that a reader of nsys exports can get wrong: ranges of several domains
 * that overlap, ranges that start and end on different threads or never end, kernels with awkward names,
 * copies of every direction, cross-stream waits, a captured graph, and (u) managed memory or (p) two
 * processes on one device. Recorded for tests/compare_nsys:
 *   nvcc -std=c++17 -arch=sm_90 -o mix mixed.cu && nsys profile -t cuda,nvtx,osrt -s none ./mix [u|p]
 */
#include "nvtx3/nvToolsExt.h"
#include "nvtx3/nvToolsExtCudaRt.h"
#include <cstdio>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>
template <typename T, int N> __global__ void scale(T *x, T f, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		for (int k = 0; k < N; k++)
			x[i] = x[i] * f + T(1);
}
namespace
{
__global__ void anon(float *x)
{
	x[threadIdx.x] += 1;
}
struct F {
	__device__ float operator()(float a)
	{
		return a * 2;
	}
};
template <class G> __global__ void app(float *x, G g)
{
	x[threadIdx.x] = g(x[threadIdx.x]);
}
} // namespace
__global__ void spin(long c)
{
	long s = clock64();
	while (clock64() - s < c)
		;
}
static void worker(int id, float *d, nvtxDomainHandle_t dom, nvtxRangeId_t *ended)
{
	char nm[32];
	snprintf(nm, 32, "worker %d", id);
	nvtxNameOsThreadA((uint32_t)gettid(), nm);
	cudaStream_t s;
	int lo, hi;
	cudaDeviceGetStreamPriorityRange(&lo, &hi);
	cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, id % 2 ? hi : lo);
	nvtxNameCudaStreamA(s, nm);
	for (int i = 0; i < 20; i++) {
		nvtxEventAttributes_t a = {};
		a.version = NVTX_VERSION;
		a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
		a.messageType = NVTX_MESSAGE_TYPE_ASCII;
		snprintf(nm, 32, "it %d", i % 3);
		a.message.ascii = nm;
		a.category = id + 1;
		a.colorType = NVTX_COLOR_ARGB;
		a.color = 0xff000000u;
		a.payloadType = i % 2 ? NVTX_PAYLOAD_TYPE_INT64 : NVTX_PAYLOAD_TYPE_DOUBLE;
		if (i % 2)
			a.payload.llValue = -i;
		else
			a.payload.dValue = i * 0.5;
		nvtxRangePushEx(&a);
		nvtxDomainRangePushEx(dom, &a);
		scale<float, 50><<<256, 128, 0, s>>>(d + id * 100000, 1.5f, 32000);
		nvtxRangePushA("inner");
		scale<double, 5><<<dim3(8, 2, 1), dim3(32, 2, 1), 64, s>>>(
			(double *)(d + id * 100000), 1.5, 500);
		nvtxDomainRangePop(dom);
		nvtxMarkA("mark me");
		nvtxRangePop();
		if (i % 5 == 0)
			cudaStreamSynchronize(s);
		nvtxRangePop();
	}
	nvtxRangeEnd(ended[id]);
	nvtxRangePushA("never popped");
	cudaStreamDestroy(s);
}
int main(int argc, char **argv)
{
	bool um = argc > 1 && argv[1][0] == 'u', child = argc > 1 && argv[1][0] == 'c',
	     par = argc > 1 && argv[1][0] == 'p';
	if (par) {
		for (int i = 0; i < 2; i++)
			if (!fork()) {
				execl(argv[0], argv[0], "c", (char *)0);
			}
		while (wait(0) > 0)
			;
		return 0;
	}
	nvtxDomainHandle_t dom = nvtxDomainCreateA("My.Domain");
	nvtxStringHandle_t reg = nvtxDomainRegisterStringA(dom, "registered, \"quoted\"");
	nvtxNameCategoryA(1, "cat one");
	nvtxDomainNameCategoryA(dom, 2, "dom cat two");
	nvtxRangeId_t r0 = nvtxRangeStartA("whole");
	nvtxEventAttributes_t a = {};
	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = reg;
	nvtxRangeId_t r1 = nvtxDomainRangeStartEx(dom, &a);
	float *d;
	cudaMalloc(&d, 64 << 20);
	cudaMemset(d, 0, 64 << 20);
	float *h = (float *)malloc(16 << 20), *p;
	cudaMallocHost(&p, 16 << 20);
	nvtxRangePushA("copies");
	nvtxDomainRangePushEx(dom, &a);
	cudaMemcpy(d, h, 16 << 20, cudaMemcpyHostToDevice);
	cudaMemcpyAsync(d, p, 16 << 20, cudaMemcpyHostToDevice, 0);
	cudaMemcpy(h, d, 1 << 20, cudaMemcpyDeviceToHost);
	cudaMemcpyAsync(p, d, 333, cudaMemcpyDeviceToHost, 0);
	cudaMemcpy(d + 1000000, d, 1 << 20, cudaMemcpyDeviceToDevice);
	cudaMemcpy(h, p, 1 << 20, cudaMemcpyHostToHost);
	cudaMemsetAsync(d, 1, 12345, 0);
	nvtxDomainRangePop(dom);
	nvtxRangePop();
	if (um) {
		float *m;
		cudaMallocManaged(&m, 8 << 20);
		for (int r = 0; r < 3; r++) {
			for (int i = 0; i < (8 << 20) / 4; i += 256)
				m[i] = i;
			scale<float, 2><<<8192, 256>>>(m, 2.f, (8 << 20) / 4);
			cudaDeviceSynchronize();
			float s = 0;
			for (int i = 0; i < (8 << 20) / 4; i += 1024)
				s += m[i];
			printf("%g\n", s);
		}
		cudaMemLocation loc = {cudaMemLocationTypeDevice, 0};
		cudaMemPrefetchAsync(m, 8 << 20, loc, 0, 0);
		cudaDeviceSynchronize();
		cudaFree(m);
	}
	nvtxRangeId_t ended[3];
	for (int i = 0; i < 3; i++) {
		char nm[32];
		snprintf(nm, 32, "start %d", i);
		ended[i] = nvtxRangeStartA(i == 2 ? "start 0" : nm);
	}
	std::vector<std::thread> t;
	for (int i = 0; i < 3; i++)
		t.emplace_back(worker, i, d, dom, ended);
	for (auto &x : t)
		x.join();
	cudaStream_t s1, s2;
	cudaStreamCreate(&s1);
	cudaStreamCreate(&s2);
	cudaEvent_t e;
	cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
	for (int i = 0; i < 5; i++) {
		nvtxRangePushA("xs");
		spin<<<1, 1, 0, s1>>>(20000);
		cudaEventRecord(e, s1);
		cudaStreamWaitEvent(s2, e, 0);
		anon<<<1, 32, 0, s2>>>(d);
		app<<<1, 32, 0, s2>>>(d, F());
		cudaEventSynchronize(e);
		nvtxRangePop();
		cudaEventQuery(e);
	}
	cudaGraph_t g;
	cudaGraphExec_t ge;
	cudaStreamBeginCapture(s1, cudaStreamCaptureModeGlobal);
	for (int i = 0; i < 5; i++)
		scale<float, 1><<<4, 64, 0, s1>>>(d, 1.f, 100);
	cudaMemcpyAsync(p, d, 4096, cudaMemcpyDeviceToHost, s1);
	cudaMemsetAsync(d, 0, 256, s1);
	cudaStreamEndCapture(s1, &g);
	cudaGraphInstantiate(&ge, g, 0);
	nvtxRangePushA("graphs");
	for (int i = 0; i < 4; i++)
		cudaGraphLaunch(ge, s1);
	nvtxRangePop();
	cudaStreamSynchronize(s1);
	void *q;
	cudaMallocAsync(&q, 1 << 20, s1);
	cudaFreeAsync(q, s1);
	cudaLaunchHostFunc(
		s1, [](void *) { usleep(100); }, 0);
	void *args[] = {&d};
	cudaLaunchCooperativeKernel((void *)anon, dim3(1), dim3(32), args, 0, s1);
	nvtxRangePushA("outlives");
	spin<<<1, 1, 0, s1>>>(2000000);
	nvtxRangePop();
	cudaDeviceSynchronize();
	nvtxRangeEnd(r0);
	nvtxDomainRangeEnd(dom, r1);
	nvtxRangeStartA("never ended");
	cudaFree(d);
	printf("ok %s\n", cudaGetErrorString(cudaGetLastError()));
	return 0;
}

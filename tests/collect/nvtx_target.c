/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_target.c - everything NVTX has, once; through NVIDIA's headers where they are, else our own tables.
 *
 * nvtx_target all | capture N | loop N | fork. Exits with 1 if NVTX answers otherwise than it must.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

static int bad;

static void expect(int got, int want, const char *what)
{
	if (got != want) {
		printf("%s: %d, not %d\n", what, got, want);
		bad = 1;
	}
}

static nvtxEventAttributes_t ascii(const char *text)
{
	nvtxEventAttributes_t event = {0};
	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	event.messageType = NVTX_MESSAGE_TYPE_ASCII;
	event.message.ascii = text;
	return event;
}

static void all(int injected)
{
	int one = injected ? 1 : -2;
	expect(nvtxRangePushA("outer"), injected ? 0 : -2, "first push");
	expect(nvtxRangePushW(L"inner \u00fc\u20ac"), one, "second push");
	expect(nvtxRangePop(), one, "first pop");
	nvtxMarkA("a mark");

	nvtxEventAttributes_t event = ascii("decorated");
	event.category = 7;
	event.colorType = NVTX_COLOR_ARGB;
	event.color = 0xff00ff80;
	event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
	event.payload.dValue = 2.5;
	nvtxNameCategoryA(7, "the seventh");
	nvtxRangePushEx(&event);
	nvtxRangePop();
	expect(nvtxRangePop(), injected ? 0 : -2, "last pop");
	expect(nvtxRangePop(), injected ? -1 : -2, "a pop too many");

	nvtxRangeId_t first = nvtxRangeStartA("crossing one");
	nvtxRangeId_t second = nvtxRangeStartA("crossing two");
	expect(first != second, injected, "ids differ");
	nvtxRangeEnd(first);
	nvtxRangeEnd(second);

	nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
	expect(domain == nvtxDomainCreateW(L"library"), 1, "one domain by its name");
	nvtxStringHandle_t text = nvtxDomainRegisterStringA(domain, "registered");
	event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	event.message.registered = text;
	event.payloadType = NVTX_PAYLOAD_TYPE_INT32;
	event.payload.ullValue = 0;
	event.payload.iValue = -3;
	expect(nvtxDomainRangePushEx(domain, &event), injected ? 0 : -2,
	       "levels are a domain's own");
	expect(nvtxDomainRangePop(domain), injected ? 0 : -2, "pop in a domain");
	nvtxDomainNameCategoryA(domain, 7, "its own seventh");
	nvtxDomainMarkEx(domain, &event);
	nvtxRangeId_t id = nvtxDomainRangeStartEx(domain, &event);
	nvtxDomainRangeEnd(domain, id);
	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "the only one");
	nvtxDomainDestroy(domain);
}

/* Warm-up, then N times the range that is to be captured, with one inside. */
static void capture(int times)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("train");
	nvtxEventAttributes_t step = ascii("step");
	nvtxRangePushA("warm-up");
	nvtxRangePop();
	for (int i = 0; i < times; i++) {
		nvtxMarkA("before");
		nvtxDomainRangePushEx(domain, &step);
		nvtxRangePushA("work");
		nvtxRangePop();
		nvtxDomainRangePop(domain);
	}
	nvtxMarkA("after");
}

static void loop(int times)
{
	struct timespec a, b;
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (int i = 0; i < times; i++) {
		nvtxRangePushA("a range of the loop");
		nvtxRangePop();
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("%.1f ns a range\n",
	       ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / times);
}

/* Handles of the parent are good in the child. */
static void in_child(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
	nvtxEventAttributes_t event = ascii("");
	event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	event.message.registered = nvtxDomainRegisterStringA(domain, "registered before");
	if (fork() == 0) {
		nvtxDomainRangePushEx(domain, &event);
		nvtxDomainRangePop(domain);
		_exit(0);
	}
	wait(NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "all";
	int n = argc > 2 ? atoi(argv[2]) : 1;
	if (strcmp(what, "capture") == 0)
		capture(n);
	else if (strcmp(what, "loop") == 0)
		loop(n);
	else if (strcmp(what, "fork") == 0)
		in_child();
	else
		all(getenv("NVTX_INJECTION64_PATH") != NULL);
	return bad;
}

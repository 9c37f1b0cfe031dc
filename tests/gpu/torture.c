/* SPDX-License-Identifier: Apache-2.0 */
/* torture.c - a program that is rough with CUDA, and whose result depends on its seed alone.
 *
 *   torture SEED                 up to three threads (lanes) run acts, then the process ends in one of many ways
 *   torture --plan SEED          prints what the seed runs
 *   torture --image SEED         a process of its own: what a forked child becomes
 *
 * `tests/gpu/torture` compares each seed alone and under headway profile. Built with a C compiler and
 * dlopen only: libcuda.so.1 is opened, the kernel is PTX text. What tests/torture/torture.h says of
 * acts holds here too. A machine without a GPU says so, and exits with 77.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "../collect/nvtx_shim.h"
#include "../torture/torture.h"

typedef void *handle;
typedef unsigned long long address;

static struct {
	int (*init)(unsigned), (*device)(int *, int), (*context_create)(handle *, unsigned, int),
		(*context_destroy)(handle), (*context_set)(handle), (*context_sync)(void),
		(*retain)(handle *, int), (*release)(int), (*module_load)(handle *, const void *),
		(*module_unload)(handle), (*function)(handle *, handle, const char *),
		(*alloc)(address *, size_t), (*free)(address), (*fill)(address, unsigned, size_t),
		(*to_device)(address, const void *, size_t), (*to_host)(void *, address, size_t),
		(*to_host_async)(void *, address, size_t, handle),
		(*stream_create)(handle *, unsigned), (*stream_destroy)(handle),
		(*stream_sync)(handle), (*event_create)(handle *, unsigned),
		(*event_record)(handle, handle), (*event_sync)(handle), (*event_destroy)(handle),
		(*stream_wait)(handle, handle, unsigned), (*capture_begin)(handle, int),
		(*capture_end)(handle, handle *),
		(*instantiate)(handle *, handle, unsigned long long),
		(*graph_launch)(handle, handle), (*graph_exec_destroy)(handle),
		(*graph_destroy)(handle), (*host_function)(handle, void (*)(void *), void *),
		(*launch)(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
			  unsigned, handle, void **, void **);
} cuda;

static const struct {
	void *into;
	const char *name;
} wanted[] = {
	{&cuda.init, "cuInit"},
	{&cuda.device, "cuDeviceGet"},
	{&cuda.context_create, "cuCtxCreate_v2"},
	{&cuda.context_destroy, "cuCtxDestroy_v2"},
	{&cuda.context_set, "cuCtxSetCurrent"},
	{&cuda.context_sync, "cuCtxSynchronize"},
	{&cuda.retain, "cuDevicePrimaryCtxRetain"},
	{&cuda.release, "cuDevicePrimaryCtxRelease_v2"},
	{&cuda.module_load, "cuModuleLoadData"},
	{&cuda.module_unload, "cuModuleUnload"},
	{&cuda.function, "cuModuleGetFunction"},
	{&cuda.alloc, "cuMemAlloc_v2"},
	{&cuda.free, "cuMemFree_v2"},
	{&cuda.fill, "cuMemsetD32_v2"},
	{&cuda.to_device, "cuMemcpyHtoD_v2"},
	{&cuda.to_host, "cuMemcpyDtoH_v2"},
	{&cuda.to_host_async, "cuMemcpyDtoHAsync_v2"},
	{&cuda.stream_create, "cuStreamCreate"},
	{&cuda.stream_destroy, "cuStreamDestroy_v2"},
	{&cuda.stream_sync, "cuStreamSynchronize"},
	{&cuda.event_create, "cuEventCreate"},
	{&cuda.event_record, "cuEventRecord"},
	{&cuda.event_sync, "cuEventSynchronize"},
	{&cuda.event_destroy, "cuEventDestroy_v2"},
	{&cuda.stream_wait, "cuStreamWaitEvent"},
	{&cuda.capture_begin, "cuStreamBeginCapture_v2"},
	{&cuda.capture_end, "cuStreamEndCapture"},
	{&cuda.instantiate, "cuGraphInstantiateWithFlags"},
	{&cuda.graph_launch, "cuGraphLaunch"},
	{&cuda.graph_exec_destroy, "cuGraphExecDestroy"},
	{&cuda.graph_destroy, "cuGraphDestroy"},
	{&cuda.host_function, "cuLaunchHostFunc"},
	{&cuda.launch, "cuLaunchKernel"},
};
enum { WANTED = sizeof wanted / sizeof *wanted, NUMBERS = 4096, CAPTURE_OF_THREAD = 1 };

static const char kernel_text[] =
	".version 7.0\n.target sm_75\n.address_size 64\n"
	".visible .entry add_one(.param .u64 data, .param .u32 n)\n{\n"
	".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %d<5>;\n"
	"ld.param.u64 %d1, [data];\nld.param.u32 %r1, [n];\n"
	"mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"
	"mad.lo.s32 %r5, %r2, %r3, %r4;\nsetp.ge.u32 %p1, %r5, %r1;\n@%p1 bra DONE;\n"
	"cvta.to.global.u64 %d2, %d1;\nmul.wide.u32 %d3, %r5, 4;\nadd.s64 %d4, %d2, %d3;\n"
	"ld.global.u32 %r6, [%d4];\nadd.u32 %r7, %r6, 1;\nst.global.u32 [%d4], %r7;\n"
	"DONE:\nret;\n}\n";

const char *program_path;
static int device;

static void open_cuda(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	for (unsigned i = 0; library && i < WANTED; i++) {
		*(void **)wanted[i].into = dlsym(library, wanted[i].name);
		if (!*(void **)wanted[i].into) {
			fprintf(stderr, "torture: libcuda has no %s\n", wanted[i].name);
			exit(77);
		}
	}
	if (!library || cuda.init(0) != 0 || cuda.device(&device, 0) != 0) {
		fprintf(stderr, "torture: no GPU that CUDA can use\n");
		exit(77);
	}
}

/* ---- what acts work with: memory, a kernel and a stream in the context of the thread. */

struct work {
	handle module, kernel, stream;
	address data;
};

/* Ends the process where a call failed that never should: the status tells which kind of call. */
static void must(int result, int which)
{
	if (result != 0) {
		fprintf(stderr, "torture: CUDA error %d in step %d\n", result, which);
		_exit(90);
	}
}

static struct work begin_work(void)
{
	struct work work = {0};
	must(cuda.module_load(&work.module, kernel_text), 1);
	must(cuda.function(&work.kernel, work.module, "add_one"), 2);
	must(cuda.stream_create(&work.stream, 1), 3);
	must(cuda.alloc(&work.data, NUMBERS * sizeof(unsigned)), 4);
	must(cuda.fill(work.data, 0, NUMBERS), 5);
	must(cuda.context_sync(), 6);
	return work;
}

static void end_work(struct work *work)
{
	must(cuda.free(work->data), 7);
	must(cuda.stream_destroy(work->stream), 8);
	must(cuda.module_unload(work->module), 9);
}

static void add_one(const struct work *work, handle stream)
{
	unsigned n = NUMBERS;
	address data = work->data;
	void *arguments[] = {&data, &n};
	must(cuda.launch(work->kernel, NUMBERS / 128, 1, 1, 128, 1, 1, 0, stream, arguments, NULL),
	     10);
}

/* Says the sum of all numbers on the device. */
static void say_sum(const struct work *work)
{
	static __thread unsigned numbers[NUMBERS];
	unsigned long sum = 0;
	must(cuda.stream_sync(work->stream), 11);
	must(cuda.to_host(numbers, work->data, sizeof numbers), 12);
	for (unsigned i = 0; i < NUMBERS; i++)
		sum += numbers[i];
	say(" %lu", sum);
}

/* ---- acts; each begins with the lane's own context as the current one. */

static void act_launches(void)
{
	struct work work = begin_work();
	for (unsigned i = 0, n = 50 + chance(300); i < n; i++) {
		shim_push("launch");
		add_one(&work, work.stream);
		shim_pop();
	}
	say_sum(&work);
	end_work(&work);
}

/* Contexts that come and go, some with work in flight. */
static void act_contexts(void)
{
	for (unsigned i = 0, n = 1 + chance(3); i < n; i++) {
		handle context = NULL;
		must(cuda.context_create(&context, 0, device), 20);
		struct work work = begin_work();
		for (unsigned k = 0; k < 20; k++)
			add_one(&work, work.stream);
		if (chance(2)) {
			say_sum(&work);
			end_work(&work);
		}
		say(" %d", cuda.context_destroy(context));
	}
}

static void act_primary(void)
{
	for (unsigned i = 0; i < 2; i++) {
		handle primary = NULL;
		must(cuda.retain(&primary, device), 21);
		must(cuda.context_set(primary), 22);
		struct work work = begin_work();
		add_one(&work, work.stream);
		say_sum(&work);
		end_work(&work);
		say(" %d", cuda.release(device));
	}
}

static void act_modules(void)
{
	for (unsigned i = 0, n = 2 + chance(8); i < n; i++) {
		struct work work = begin_work();
		handle none;
		add_one(&work, work.stream);
		say(" %d", cuda.function(&none, work.module, "there_is_none"));
		say_sum(&work);
		end_work(&work);
	}
	handle module;
	say(" %d", cuda.module_load(&module, "this is no PTX") != 0);
}

static void act_graphs(void)
{
	struct work work = begin_work();
	for (unsigned i = 0, n = 1 + chance(4); i < n; i++) {
		handle graph, ready;
		must(cuda.capture_begin(work.stream, CAPTURE_OF_THREAD), 30);
		for (unsigned k = 0; k < 5 + i; k++)
			add_one(&work, work.stream);
		must(cuda.capture_end(work.stream, &graph), 31);
		must(cuda.instantiate(&ready, graph, 0), 32);
		for (unsigned k = 0; k < 4; k++)
			must(cuda.graph_launch(ready, work.stream), 33);
		if (chance(2))
			must(cuda.stream_sync(work.stream), 34);
		say(" %d %d", cuda.graph_exec_destroy(ready), cuda.graph_destroy(graph));
		say_sum(&work);
	}
	end_work(&work);
}

static void count_call(void *count)
{
	atomic_fetch_add((atomic_uint *)count, 1);
}

static void act_events(void)
{
	struct work work = begin_work();
	handle other, event;
	atomic_uint called = 0;
	must(cuda.stream_create(&other, 1), 40);
	must(cuda.event_create(&event, 0), 41);
	for (unsigned i = 0, n = 10 + chance(50); i < n; i++) {
		add_one(&work, work.stream);
		must(cuda.event_record(event, work.stream), 42);
		must(cuda.stream_wait(other, event, 0), 43);
		must(cuda.host_function(other, count_call, &called), 44);
		if (i % 7 == 0)
			must(cuda.event_sync(event), 45);
	}
	must(cuda.stream_sync(other), 46);
	say(" %u", called);
	must(cuda.event_destroy(event), 47);
	must(cuda.stream_destroy(other), 48);
	say_sum(&work);
	end_work(&work);
}

static void act_errors(void)
{
	struct work work = begin_work();
	address nothing = 0;
	void *arguments[] = {&nothing, &nothing};
	say(" %d", cuda.launch(work.kernel, 0, 1, 1, 128, 1, 1, 0, work.stream, arguments, NULL));
	say(" %d", cuda.launch(work.kernel, 1, 1, 1, 4096, 1, 1, 0, work.stream, arguments, NULL));
	say(" %d", cuda.alloc(&nothing, (size_t)1 << 50));
	say(" %d", cuda.to_device(work.data, NULL, 0));
	say_sum(&work);
	end_work(&work);
}

/* A child of a process that uses CUDA may leave or become another program, and no more. */
static void act_fork(void)
{
	struct work work = begin_work();
	add_one(&work, work.stream);
	for (unsigned i = 0, n = 1 + chance(4); i < n; i++) {
		bool becomes = chance(2);
		pid_t child = fork();
		if (child == 0) {
			if (becomes)
				execl("/bin/true", "true", (char *)NULL);
			_exit(31);
		}
		say(" %d", status_of(child));
	}
	say_sum(&work);
	end_work(&work);
}

static void act_image(void)
{
	char seed[24];
	snprintf(seed, sizeof seed, "%u", chance(1000000));
	pid_t child = chance(2) ? fork() : vfork();
	if (child == 0) {
		execl(program_path, program_path, "--image", seed, (char *)NULL);
		_exit(98);
	}
	say(" %d", status_of(child));
}

/* A library that uses the runtime comes and goes. */
static void act_runtime(void)
{
	static const char *const names[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so"};
	for (unsigned round = 0; round < 3; round++) {
		void *library = NULL, *memory = NULL;
		for (unsigned i = 0; i < 3 && !library; i++)
			library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
		if (!library) {
			say(" none");
			return;
		}
		int (*allocate)(void **, size_t), (*release)(void *), (*wait)(void);
		*(void **)&allocate = dlsym(library, "cudaMalloc");
		*(void **)&release = dlsym(library, "cudaFree");
		*(void **)&wait = dlsym(library, "cudaDeviceSynchronize");
		say(" %d", allocate(&memory, 4096));
		say(" %d", release(memory));
		say(" %d", wait());
		say(" %d", dlclose(library));
	}
}

static atomic_uint signals_seen;

static void on_signal(int number)
{
	(void)number;
	int saved = errno;
	signals_seen++;
	poll(NULL, 0, 1);
	errno = saved;
}

static void act_storm(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct itimerval often = {{0, 3000}, {0, 3000}}, never = {{0, 0}, {0, 0}};
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	act_launches();
	act_graphs();
	setitimer(ITIMER_REAL, &never, NULL);
}

static const struct act acts[] = {
	{"launches", act_launches, 0}, {"contexts", act_contexts, 0}, {"primary", act_primary, 0},
	{"modules", act_modules, 0},   {"graphs", act_graphs, 0},     {"events", act_events, 0},
	{"errors", act_errors, 0},     {"fork", act_fork, 0},         {"image", act_image, 0},
	{"runtime", act_runtime, 0},   {"storm", act_storm, 0},
};
enum { ACTS = sizeof acts / sizeof *acts };

/* ---- ends: others still launch when the process goes. */

static const char *const ends[] = {
	"return",          "exit", "_exit", "abort", "SIGKILL", "SIGTERM", "exit in a thread",
	"another program", "wait"};
enum { ENDS = sizeof ends / sizeof *ends, MOST_LANES = 3, MOST_ACTS = 3 };

struct launcher {
	handle context;
	struct work work;
};

/* CUDA is taken down while this thread is in it: errors are expected. */
static void *launch_for_ever(void *argument)
{
	struct launcher *launcher = argument;
	unsigned n = NUMBERS;
	void *arguments[] = {&launcher->work.data, &n};
	cuda.context_set(launcher->context);
	for (unsigned i = 0;; i++) {
		cuda.launch(launcher->work.kernel, 32, 1, 1, 128, 1, 1, 0, launcher->work.stream,
			    arguments, NULL);
		if (i % 64 == 0 && cuda.stream_sync(launcher->work.stream) != 0)
			for (;;)
				pause();
	}
	return NULL;
}

static void *exit_in_thread(void *unused)
{
	(void)unused;
	exit(42);
}

static int end_cuda_process(unsigned which, const struct result *said, unsigned microseconds)
{
	static struct launcher launcher;
	unsigned long thread;
	if (write(STDOUT_FILENO, said->text, said->size) != (long)said->size)
		_exit(97);
	must(cuda.context_create(&launcher.context, 0, device), 61);
	launcher.work = begin_work();
	start_thread(&thread, 0, launch_for_ever, &launcher);
	pass_us(microseconds);
	switch (which) {
	case 0: return 40;
	case 1: exit(41);
	case 2: _exit(43);
	case 3: abort();
	case 4: kill(getpid(), SIGKILL); break;
	case 5: raise(SIGTERM); break;
	case 6: start_thread(&thread, 0, exit_in_thread, NULL); break;
	case 7: execlp("echo", "echo", "another", "program", (char *)NULL); break;
	default: cuda.context_sync(); _exit(44);
	}
	for (;;)
		pause();
}

/* ---- lanes */

struct lane {
	unsigned long thread;
	const struct act *acts[MOST_ACTS];
	uint64_t seeds[MOST_ACTS];
	unsigned n;
	struct result said;
};

static void *run_lane(void *argument)
{
	struct lane *lane = argument;
	handle context = NULL;
	must(cuda.context_create(&context, 0, device), 62);
	for (unsigned i = 0; i < lane->n; i++) {
		must(cuda.context_set(context), 63);
		act_begin(&lane->said, lane->seeds[i], i);
		say("%s:", lane->acts[i]->name);
		lane->acts[i]->run();
		say("\n");
	}
	must(cuda.context_destroy(context), 64);
	return NULL;
}

static unsigned make_lanes(struct lane *lanes, uint64_t *random)
{
	unsigned n = 1 + (unsigned)(next_random(random) % MOST_LANES);
	bool storm = false;
	for (unsigned l = 0; l < n; l++) {
		lanes[l].n = 1 + (unsigned)(next_random(random) % MOST_ACTS);
		for (unsigned i = 0; i < lanes[l].n; i++) {
			const struct act *act = &acts[next_random(random) % ACTS];
			/* One storm a process: its timer belongs to the process. */
			if (act->run == act_storm && storm)
				act = &acts[0];
			storm |= act->run == act_storm;
			lanes[l].acts[i] = act;
			lanes[l].seeds[i] = next_random(random);
		}
	}
	return n;
}

static int run_image(uint64_t seed)
{
	static struct result said;
	open_cuda();
	handle context = NULL;
	must(cuda.context_create(&context, 0, device), 65);
	act_begin(&said, seed, 0);
	act_launches();
	return (int)chance(50);
}

int main(int argc, char **argv)
{
	static struct lane lanes[MOST_LANES];
	static struct result all;
	static char path[4096];
	if (readlink("/proc/self/exe", path, sizeof path - 1) < 0 || argc < 2)
		return 2;
	program_path = path;
	if (argc == 3 && strcmp(argv[1], "--image") == 0)
		return run_image(strtoull(argv[2], NULL, 10));
	bool plan = argc == 3 && strcmp(argv[1], "--plan") == 0;
	uint64_t random = strtoull(argv[argc - 1], NULL, 10) * 1000003;
	unsigned n = make_lanes(lanes, &random), end = (unsigned)(next_random(&random) % ENDS);
	unsigned microseconds = (unsigned)(next_random(&random) % 20000);
	if (plan) {
		for (unsigned l = 0; l < n; l++) {
			printf("lane %u:", l);
			for (unsigned i = 0; i < lanes[l].n; i++)
				printf(" %s", lanes[l].acts[i]->name);
			printf("\n");
		}
		printf("end: %s, %u us after the last thread began to launch\n", ends[end],
		       microseconds);
		return 0;
	}
	shim_begin();
	open_cuda();
	for (unsigned l = 0; l < n; l++)
		start_thread(&lanes[l].thread, 0, run_lane, &lanes[l]);
	act_begin(&all, random, 0);
	for (unsigned l = 0; l < n; l++) {
		end_thread(lanes[l].thread);
		say_bytes(lanes[l].said.text, lanes[l].said.size);
	}
	return end_cuda_process(end, &all, microseconds);
}

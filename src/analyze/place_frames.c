/* SPDX-License-Identifier: Apache-2.0 */
/* place_frames.c - which frame of a stack is the user's own.
 *
 * The stack is read from the innermost frame outwards; frames of Python come after the native
 * frames that they called. The best frame is the innermost Python frame outside of libraries,
 * then the innermost native frame outside of libraries. A stack with frames of libraries only
 * yields its innermost Python frame, else the frame through which the interpreter entered a
 * framework, else the innermost frame of a framework. Frames of the vendor's runtime, the C
 * library, the kernel and the recorder are never chosen.
 */
#include <string.h>

#include "analyze/place.h"
#include "base/path.h"
#include "base/ref.h"

static bool begins_with_any(const char *text, const char *const *starts)
{
	for (; *starts; starts++)
		if (strncmp(text, *starts, strlen(*starts)) == 0)
			return true;
	return false;
}

static bool is_in_packages(const char *path)
{
	return strstr(path, "/site-packages/") || strstr(path, "/dist-packages/");
}

/* Whether torch.compile wrote the file. */
static bool is_generated(const char *path)
{
	return strstr(path, "/torchinductor_") || strncmp(path, "<eval_with_key>", 15) == 0;
}

bool place_is_library(const char *file)
{
	/* Kineto writes file names without the folder that holds Python's packages. */
	static const char *const packages[] = {
		"torch/",      "torchvision/",  "torchaudio/",      "numpy/",
		"cupy/",       "cupyx/",        "scipy/",           "triton/",
		"functorch/",  "PIL/",          "numba/",           "jax/",
		"jaxlib/",     "tensorflow/",   "multiprocessing/", "asyncio/",
		"concurrent/", "importlib/",    "logging/",         "collections/",
		"json/",       "<frozen",       "<string>",         "<__array_",
		"<unknown",    "threading.py",  "contextlib.py",    "runpy.py",
		"queue.py",    "selectors.py",  "functools.py",     "weakref.py",
		"socket.py",   "subprocess.py", "enum.py",          "typing.py",
		"abc.py",      "copy.py",       "random.py",        "os.py",
		NULL};
	if (is_in_packages(file) || is_generated(file) || strstr(file, "/lib/python") ||
	    strstr(file, "/lib64/python"))
		return true;
	return *file == 0 || begins_with_any(file, packages);
}

/* How much a frame tells, from the least to the most. */
enum rank { NEVER, FRAMEWORK, INTERPRETER, PYTHON_LIBRARY, OWN, PYTHON_OWN };

static enum rank rank_of_native(const struct hwy_trace *trace, const struct hwy_frame *frame)
{
	static const char *const never[] = {
		"libcuda.",  "libcupti",   "libcudart",  "libnv",    "libToolsInjection",
		"libamdhip", "libhsa",     "libOpenCL",  "libpocl",  "libc.so",
		"libc-",     "ld-linux",   "libpthread", "[Unknown", "[vdso",
		"[kernel",   "libheadway", NULL};
	static const char *const interpreters[] = {"python2", "python3", "libpython", NULL};
	static const char *const frameworks[] = {
		"libtorch",   "libc10",      "libcu",     "libnccl", "librccl", "libMIOpen",
		"librocblas", "libhip",      "libmkl",    "libgomp", "libiomp", "libstdc++",
		"libm.so",    "libopenblas", "libtriton", NULL};
	const char *path = hwy_str(trace, frame->module), *module = hwy_basename(path);
	const char *function = hwy_str(trace, frame->function);
	bool marked =
		frame->flags > 0 && (frame->flags & (HWY_FRAME_KERNEL | HWY_FRAME_UNRESOLVED));
	/* A runtime that is linked statically has the program's own file as its module: only the
	 * name tells. */
	if (marked || begins_with_any(module, never) || strncmp(function, "cuda", 4) == 0 ||
	    strncmp(function, "__cuda", 6) == 0 || hwy_role_of_name(function) != HWY_ROLE_OTHER)
		return begins_with_any(module, interpreters) ? INTERPRETER : NEVER;
	if (begins_with_any(module, interpreters) || strcmp(module, "python") == 0)
		return INTERPRETER;
	return is_in_packages(path) || begins_with_any(module, frameworks) ? FRAMEWORK : OWN;
}

static enum rank rank_of_frame(const struct hwy_trace *trace, const struct hwy_frame *frame)
{
	if (frame->flags <= 0 || !(frame->flags & HWY_FRAME_PYTHON))
		return rank_of_native(trace, frame);
	if (frame->flags & HWY_FRAME_LAYER)
		return NEVER; /* it stands for a line of PyTorch */
	const char *file = hwy_str(trace, frame->file);
	return place_is_library(*file ? file : hwy_str(trace, frame->module)) ? PYTHON_LIBRARY
									      : PYTHON_OWN;
}

/* nvcc puts two functions between kernel<<<…>>>() and the runtime: a stub whose name ends with
 * the kernel's mangled name, and a function with the kernel's name that calls the stub. Both are
 * skipped: the place is their caller. */
#define STUB "__device_stub__"

static bool calls_stub(const char *function, const char *stub)
{
	char name[128];
	size_t n = strcspn(function, "(<");
	const char *from = function;
	for (const char *at = function; at < function + n; at++)
		if (*at == ':' || *at == ' ')
			from = at + 1;
	n -= (size_t)(from - function);
	if (n == 0 || n >= sizeof name)
		return false;
	memcpy(name, from, n);
	name[n] = '\0';
	return strstr(stub, name) != NULL;
}

const struct hwy_frame *place_frame(const struct hwy_trace *trace, int64_t stack)
{
	const struct hwy_frame *best = NULL, *inner = NULL, *entered = NULL, *last = NULL;
	enum rank best_rank = INTERPRETER;
	const char *stub = NULL;
	/* The number of steps is limited: a damaged file could have a circle of parents. */
	for (uint32_t steps = 0;
	     hwy_ref_is_set(stack) && stack <= trace->n_stacks && steps < trace->n_stacks;
	     steps++) {
		const struct hwy_stack *node = &trace->stacks[hwy_ref_index(stack)];
		stack = node->parent;
		if (node->frame < 0 || node->frame >= trace->n_frames)
			continue;
		const struct hwy_frame *frame = &trace->frames[node->frame];
		if (frame->flags > 0 && (frame->flags & HWY_FRAME_LAYER))
			continue; /* names a module of the model, and no line */
		const char *function = hwy_str(trace, frame->function);
		bool is_stub = strncmp(function, STUB, strlen(STUB)) == 0;
		if (is_stub || (stub && calls_stub(function, stub))) {
			stub = is_stub ? function : NULL;
			continue;
		}
		stub = NULL;
		enum rank rank = rank_of_frame(trace, frame);
		if (rank > best_rank) {
			best = frame;
			best_rank = rank;
		}
		if (rank == PYTHON_OWN)
			break;
		if (rank == FRAMEWORK) {
			last = frame;
			inner = inner ? inner : frame;
		} else if (rank == INTERPRETER && !entered) {
			entered = last;
		}
	}
	return best ? best : entered ? entered : inner;
}

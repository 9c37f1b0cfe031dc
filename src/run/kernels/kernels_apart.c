/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_apart.c - a child process for NVIDIA's code: what crashes there costs a sentence.
 *
 * The child has the memory of the parent as it is at the fork; what it finds goes back through
 * shared memory. It neither runs exit handlers nor flushes files of the parent.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/kernels/kernels_internal.h"

void *kernels_shared(size_t bytes)
{
	void *memory = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

void kernels_unshare(void *memory, size_t bytes)
{
	if (memory)
		munmap(memory, bytes ? bytes : 1);
}

bool kernels_apart(bool (*work)(void *argument, struct hwy_err *err), void *argument,
		   struct hwy_err *err)
{
	struct hwy_err *said = kernels_shared(sizeof *said);
	if (!said)
		return hwy_fail(err, "no memory for the counters: %s", hwy_strerror(errno));
	pid_t child = fork();
	if (child == 0)
		_exit(work(argument, said) ? 0 : 1);
	int status = 0;
	bool has_child = child > 0;
	while (has_child && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!has_child)
		hwy_fail(err, "no process for CUPTI: %s", hwy_strerror(errno));
	else if (WIFSIGNALED(status))
		hwy_fail(err, "CUPTI crashed while it planned or evaluated counters (signal %d)",
			 WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		*err = *said;
	bool done = has_child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
	kernels_unshare(said, sizeof *said);
	return done;
}

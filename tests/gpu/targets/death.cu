/* SPDX-License-Identifier: Apache-2.0 */
/* death.cu - works until it dies in the given way: death kill|abort|exit|crash|end|worker LOG [milliseconds]
 *
 * In every turn: an NVTX range with ten launches and a wait in it. LOG, mapped so that it outlives the process, gets one
 * entry a turn: the time, and what has been done by then. 'worker' starts itself as 'crash' (log LOG.worker)
 * and outlives it.
 */
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "example.h"

enum { LAUNCHES = 10, ENTRIES = 1 << 16 };
struct entry {
	long ns, launches, ranges;
};

__global__ void spin(long long cycles)
{
	long long start = clock64();
	while (clock64() - start < cycles)
		;
}

static struct entry *open_log(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, ENTRIES * sizeof(struct entry)) != 0)
		exit(2);
	void *at = mmap(NULL, ENTRIES * sizeof(struct entry), PROT_READ | PROT_WRITE, MAP_SHARED,
			fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		exit(2);
	return (struct entry *)at;
}

static pid_t start_worker(char **argv)
{
	std::string log = std::string(argv[2]) + ".worker";
	pid_t pid = fork();
	if (pid == 0) {
		execl("/proc/self/exe", argv[0], "crash", log.c_str(), "1000", (char *)NULL);
		_exit(127);
	}
	return pid;
}

static void die(const char *way)
{
	if (strcmp(way, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(way, "abort") == 0)
		abort();
	if (strcmp(way, "exit") == 0)
		_exit(3);
	if (strcmp(way, "crash") == 0) {
		volatile int *nowhere = NULL;
		*nowhere = 1;
	}
}

int main(int argc, char **argv)
{
	const char *const ways[] = {"kill", "abort", "exit", "crash", "end", "worker", NULL};
	const char *way =
		choice(argc, argv, ways, "kill|abort|exit|crash|end|worker LOG [milliseconds]");
	if (argc < 3)
		return 2;
	pid_t worker = strcmp(way, "worker") == 0 ? start_worker(argv) : 0;
	struct entry *log = open_log(argv[2]);
	cudaStream_t stream;
	check(cudaStreamCreate(&stream));
	double end = now_ms() + number(argc, argv, 3, 2000);
	for (long turn = 0; turn < ENTRIES && now_ms() < end; turn++) {
		nvtxRangePushA("turn");
		for (int i = 0; i < LAUNCHES; i++)
			spin<<<1, 1, 0, stream>>>(50000);
		check(cudaStreamSynchronize(stream));
		nvtxRangePop();
		log[turn].launches = LAUNCHES * (turn + 1);
		log[turn].ranges = turn + 1;
		log[turn].ns = (long)(1e6 * now_ms());
	}
	if (worker)
		waitpid(worker, NULL, 0);
	die(way);
	return 0;
}

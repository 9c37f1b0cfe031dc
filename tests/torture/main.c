/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - runs what a seed decides.
 *
 *   torture SEED [ACT,ACT…]      runs the seed; of its acts only those that are named
 *   torture --plan SEED          prints what it would run
 *   torture --list               prints the names of all acts, and which need root
 *   torture --image ACT SEED HOW one act in a process of its own (images.c)
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "torture.h"

enum { MOST_LANES = 4, MOST_ACTS = 5, SHORTEST_MS = 300 };

static const struct act *const tables[] = {thread_acts, lock_acts,   process_acts, loader_acts,
					   signal_acts, stack_acts,  sandbox_acts, rights_acts,
					   file_acts,   source_acts, odd_acts};
enum { TABLES = sizeof tables / sizeof *tables };

struct lane {
	unsigned long thread;
	const struct act *acts[MOST_ACTS];
	uint64_t seeds[MOST_ACTS];
	unsigned n, number;
	bool storm;
	struct result said;
};

struct plan {
	struct lane lanes[MOST_LANES];
	unsigned n_lanes, ending;
	bool storm, disturbances[DISTURBANCES];
};

static const struct act *find_act(const char *name)
{
	for (unsigned t = 0; t < TABLES; t++)
		for (const struct act *act = tables[t]; act->name; act++)
			if (strcmp(act->name, name) == 0)
				return act;
	fprintf(stderr, "torture: no act is called %s\n", name);
	exit(2);
}

static const struct act *choose_act(uint64_t *random)
{
	for (;;) {
		const struct act *table = tables[next_random(random) % TABLES];
		unsigned n = 0;
		while (table[n].name)
			n++;
		const struct act *act = &table[next_random(random) % n];
		bool again = (act->needs & IS_SLOW) && next_random(random) % 10 != 0;
		if (!again && !((act->needs & NEEDS_ROOT) && geteuid() != 0))
			return act;
	}
}

static void make_plan(struct plan *plan, uint64_t seed)
{
	uint64_t random = seed * 1000003;
	plan->n_lanes = 1 + (unsigned)(next_random(&random) % MOST_LANES);
	plan->storm = next_random(&random) % 2 == 0;
	for (unsigned i = 0; i < DISTURBANCES; i++)
		plan->disturbances[i] = next_random(&random) % 3 == 0;
	plan->ending = (unsigned)(next_random(&random) % endings_count());
	for (unsigned l = 0; l < plan->n_lanes; l++) {
		struct lane *lane = &plan->lanes[l];
		lane->number = l;
		lane->storm = plan->storm;
		lane->n = 2 + (unsigned)(next_random(&random) % (MOST_ACTS - 1));
		for (unsigned i = 0; i < lane->n; i++) {
			lane->acts[i] = choose_act(&random);
			lane->seeds[i] = next_random(&random);
		}
	}
}

static void print_plan(const struct plan *plan)
{
	printf("beside: %s", plan->storm ? "storm" : "-");
	for (unsigned i = 0; i < DISTURBANCES; i++)
		if (plan->disturbances[i])
			printf(" %s", disturbance_names[i]);
	for (unsigned l = 0; l < plan->n_lanes; l++) {
		printf("\nlane %u:", l);
		for (unsigned i = 0; i < plan->lanes[l].n; i++)
			printf(" %s", plan->lanes[l].acts[i]->name);
	}
	printf("\nend: %s\n", ending_names[plan->ending]);
}

/* Leaves only acts whose name is in the list of names with commas between them. */
static void keep_acts(struct plan *plan, const char *names)
{
	char *copy = strdup(names), *rest = copy;
	const struct act *wanted[64];
	unsigned n = 0;
	for (char *name; n < 64 && (name = strsep(&rest, ","));)
		wanted[n++] = find_act(name);
	for (unsigned l = 0; l < plan->n_lanes; l++) {
		struct lane *lane = &plan->lanes[l];
		unsigned kept = 0;
		for (unsigned i = 0; i < lane->n; i++)
			for (unsigned w = 0; w < n; w++)
				if (lane->acts[i] == wanted[w]) {
					lane->acts[kept] = lane->acts[i];
					lane->seeds[kept++] = lane->seeds[i];
					break;
				}
		lane->n = kept;
	}
	free(copy);
}

static void *run_lane(void *argument)
{
	struct lane *lane = argument;
	act_begin(&lane->said, lane->number, 0);
	if (lane->storm)
		storm_join();
	for (unsigned i = 0; i < lane->n; i++) {
		act_begin(&lane->said, lane->seeds[i], lane->number * 10 + i);
		say("%s:", lane->acts[i]->name);
		if (lane->acts[i]->needs & NEEDS_IMAGE) {
			image_run(lane->acts[i], lane->storm);
		} else {
			lane->acts[i]->run();
			say("\n");
		}
	}
	storm_leave();
	return NULL;
}

static long now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static _Noreturn void run_plan(struct plan *plan)
{
	static struct result all;
	long begin = now_ms();
	act_begin(&all, 0, 100);
	nvtx_init();
	storm_init();
	for (unsigned i = 0; i < DISTURBANCES; i++)
		if (plan->disturbances[i])
			disturb_start(i, plan->storm);
	for (unsigned l = 0; l < plan->n_lanes; l++)
		start_thread(&plan->lanes[l].thread, 0, run_lane, &plan->lanes[l]);
	for (unsigned l = 0; l < plan->n_lanes; l++)
		end_thread(plan->lanes[l].thread);
	/* What goes on beside the lanes has some time to fail. */
	long left = SHORTEST_MS - (now_ms() - begin);
	if (left > 0)
		pass_us((unsigned)left * 1000);
	disturb_stop();
	for (unsigned l = 0; l < plan->n_lanes; l++)
		say_bytes(plan->lanes[l].said.text ? plan->lanes[l].said.text : "",
			  plan->lanes[l].said.size);
	if (storm_wrong())
		say("in a handler %s failed\n", storm_wrong());
	end_process(plan->ending, &all);
}

/* The image of one act: what it says goes to stdout when it is over. */
static int run_image(const char *name, const char *seed, const char *how)
{
	static struct result said;
	const struct act *act = find_act(name);
	bool storm = strcmp(how, "storm") == 0;
	act_begin(&said, strtoull(seed, NULL, 10),
		  (unsigned)(strtoull(seed, NULL, 10) % 1000000007));
	nvtx_init();
	if (storm) {
		storm_init();
		storm_join();
	}
	act->run();
	storm_leave();
	if (storm_wrong())
		say(" in a handler %s failed", storm_wrong());
	size_t written = 0;
	while (written < said.size) {
		long n = STEADILY(write(STDOUT_FILENO, said.text + written, said.size - written));
		if (n <= 0)
			return 97;
		written += (size_t)n;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct plan plan;
	static char path[4096];
	if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
		give_up("/proc/self/exe");
	program_path = path;
	if (argc == 5 && strcmp(argv[1], "--image") == 0)
		return run_image(argv[2], argv[3], argv[4]);
	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		for (unsigned t = 0; t < TABLES; t++)
			for (const struct act *act = tables[t]; act->name; act++)
				printf("%s%s\n", act->name, act->needs & NEEDS_ROOT ? " root" : "");
		return 0;
	}
	if (argc == 3 && strcmp(argv[1], "--plan") == 0) {
		make_plan(&plan, strtoull(argv[2], NULL, 10));
		print_plan(&plan);
		return 0;
	}
	if (argc < 2 || argc > 3 || argv[1][0] == '-') {
		fprintf(stderr, "usage: torture SEED [ACT,ACT...] | --plan SEED | --list\n");
		return 2;
	}
	make_plan(&plan, strtoull(argv[1], NULL, 10));
	if (argc == 3)
		keep_acts(&plan, argv[2]);
	run_plan(&plan);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* job_launchers_test.c - where the program begins in a launcher's command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "run/job_launchers.h"

enum { MOST_WORDS = 64 };

/* Splits a command line at spaces; the words live until the next call. */
static char **words_of(const char *line)
{
	static char text[1024], *words[MOST_WORDS + 1];
	uint32_t n = 0;
	snprintf(text, sizeof text, "%s", line);
	for (char *word = strtok(text, " "); word && n < MOST_WORDS; word = strtok(NULL, " "))
		words[n++] = word;
	words[n] = NULL;
	return words;
}

/* The programs that are found, joined by a space; "?WORD" where they cannot be told because of WORD. */
static const char *programs_of(const char *line)
{
	static char result[256];
	char **words = words_of(line);
	struct launcher_found found = launchers_look(words);
	if (found.kind != LAUNCHER_RANKS)
		return found.kind == LAUNCHER_TREE ? "tree" : "none";
	snprintf(result, sizeof result, "%s%s", found.doubt ? "?" : "",
		 found.doubt ? found.doubt : "");
	for (uint32_t i = 0; i < found.n_programs && !found.doubt; i++)
		snprintf(result + strlen(result), sizeof result - strlen(result), "%s%s",
			 i ? " " : "", words[found.programs[i]]);
	return result;
}

#define FINDS(line, programs) assert_string_equal(programs_of(line), programs)

static void the_program_of_open_mpi_stands_behind_its_options(void **state)
{
	(void)state;
	FINDS("mpirun.openmpi -n 4 ./app -n 8", "./app");
	FINDS("orterun --allow-run-as-root --oversubscribe -np 2 app", "app");
	FINDS("orterun -mca btl self,tcp --mca pml ob1 -x PATH -x A=B ./app", "./app");
	FINDS("orterun --map-by ppr:2:node --bind-to none -H a:2,b:2 -wdir /x ./app", "./app");
	FINDS("orterun -n 2 -- -odd", "-odd");
	FINDS("prterun --map-by=slot -n 2 ./app", "./app");
}

static void the_program_of_hydra_stands_behind_its_options(void **state)
{
	(void)state;
	FINDS("mpiexec.hydra -n 4 ./app", "./app");
	FINDS("mpiexec.mpich -genv A 1 -env B 2 -ppn 2 -hosts a,b ./app 3", "./app");
	FINDS("mpiexec.hydra -genv A=1 -n 2 ./app", "./app");
	FINDS("mpiexec.hydra -prepend-rank -bind-to core -n 2 ./app", "./app");
}

static void the_program_of_srun_stands_behind_its_options(void **state)
{
	(void)state;
	FINDS("srun -n4 ./app", "./app");
	FINDS("srun -n 4 -N 2 --mpi=pmi2 ./app -n 1", "./app");
	FINDS("srun -lun 4 --exclusive --gpus-per-task 1 --cpu-bind none ./app", "./app");
	FINDS("srun -K0 -I --export ALL,A=B app", "app");
	FINDS("srun --unknown=7 ./app", "./app");
}

static void other_launchers_are_known(void **state)
{
	(void)state;
	FINDS("flux run -N2 -n 8 -g 1 -o cpu-affinity=per-task ./app", "./app");
	FINDS("aprun -n 8 -N 4 -cc depth ./app", "./app");
	FINDS("jsrun -n 2 -a 4 -g 4 --smpiargs -gpu ./app", "./app");
	FINDS("ibrun -n 4 -o 0 ./app", "./app");
	FINDS("env A=1 srun -n 2 ./app", "./app");
	FINDS("nohup mpirun.openmpi -n 2 ./app", "./app");
}

static void commands_that_only_prepare_may_stand_in_front(void **state)
{
	(void)state;
	FINDS("timeout 60 srun -n 2 ./app", "./app");
	FINDS("timeout -k 5 --signal=INT 1h srun -n 2 ./app", "./app");
	FINDS("env -u A B=1 C=2 nice -n 5 /usr/bin/time -v srun -n 2 ./app", "./app");
	FINDS("nohup env -i taskset -c 0-3 stdbuf -oL srun -n 2 ./app", "./app");
	FINDS("numactl --cpunodebind 0 -m 0 setsid -w srun -n 2 ./app", "./app");
	FINDS("env -- A=1 srun ./app", "./app");
	FINDS("timeout 60 uv run torchrun train.py", "tree");
	/* what is not understood is no launcher, and the command is recorded as it is */
	FINDS("timeout --brand-new 60 srun ./app", "none");
	FINDS("taskset -p 17 srun", "none");
	FINDS("timeout 60", "none");
	FINDS("timeout", "none");
	FINDS("env srun=1 ./app", "none");
}

static void each_program_of_a_job_with_several_is_found(void **state)
{
	(void)state;
	FINDS("orterun -n 1 ./a x : -n 3 ./b y", "./a ./b");
	FINDS("mpiexec.hydra -n 1 ./a : -n 1 -env A 1 ./b : ./c", "./a ./b ./c");
	FINDS("srun -n1 ./a : -n2 ./b", "./a ./b");
}

static void a_program_whose_place_cannot_be_told_is_not_guessed(void **state)
{
	(void)state;
	FINDS("orterun --brand-new 4 ./app", "?--brand-new");
	FINDS("orterun --app file", "?--app");
	FINDS("mpiexec.hydra -configfile file", "?-configfile");
	FINDS("srun --multi-prog file", "?--multi-prog");
	FINDS("srun -n2 -y 3 ./app", "?-y");
	FINDS("orterun -n 2", "?orterun");
	FINDS("srun --help", "?--help");
	FINDS("orterun -n 1 ./a : --brand-new 3 ./b", "?--brand-new");
}

static void an_mpirun_of_unknown_make_takes_what_all_makes_agree_on(void **state)
{
	(void)state;
	FINDS("/nowhere/mpirun -n 4 ./app", "./app");
	FINDS("/nowhere/mpirun -mca a b -x C ./app", "./app");
	FINDS("/nowhere/mpiexec -genv A 1 -ppn 2 ./app", "./app");
	/* a flag of one, an option with a value of another */
	FINDS("/nowhere/mpirun -d 4 ./app", "?-d");
	FINDS("/nowhere/mpirun -s all ./app", "?-s");
}

static void launchers_of_trees_are_told_from_programs(void **state)
{
	(void)state;
	FINDS("torchrun --nproc_per_node 2 train.py", "tree");
	FINDS("/opt/bin/torchrun --standalone train.py", "tree");
	FINDS("python3 -m torch.distributed.run --nproc_per_node=2 train.py", "tree");
	FINDS("python3.11 -u -X dev -m torch.distributed.launch train.py", "tree");
	FINDS("accelerate launch train.py", "tree");
	FINDS("deepspeed train.py", "tree");
	FINDS("uv run torchrun train.py", "tree");
	FINDS("accelerate config", "none");
	FINDS("python3 train.py -m torch.distributed.run", "none");
	FINDS("./mpirunner -n 4 ./app", "none");
	FINDS("flux jobs", "none");
}

/* Whatever the words are, a place that is told is one of a word. */
static void any_words_are_survived(void **state)
{
	(void)state;
	static const char *const pieces[] = {"srun", "mpirun", "-n",  "4",      "--",
					     ":",    "-",      "-x=", "--=",    "-l",
					     "-q",   "--mca",  "app", "orterun"};
	uint32_t seed = 7;
	for (uint32_t run = 0; run < 20000; run++) {
		char *words[12];
		uint32_t n = 0;
		for (uint32_t i = 0; i < 1 + run % 11; i++) {
			seed = seed * 1664525 + 1013904223;
			words[n++] =
				(char *)pieces[(seed >> 16) % (sizeof pieces / sizeof *pieces)];
		}
		words[n] = NULL;
		struct launcher_found found = launchers_look(words);
		for (uint32_t i = 0; i < found.n_programs; i++)
			assert_true(found.programs[i] > 0 && found.programs[i] < n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_program_of_open_mpi_stands_behind_its_options),
		cmocka_unit_test(the_program_of_hydra_stands_behind_its_options),
		cmocka_unit_test(the_program_of_srun_stands_behind_its_options),
		cmocka_unit_test(other_launchers_are_known),
		cmocka_unit_test(commands_that_only_prepare_may_stand_in_front),
		cmocka_unit_test(each_program_of_a_job_with_several_is_found),
		cmocka_unit_test(a_program_whose_place_cannot_be_told_is_not_guessed),
		cmocka_unit_test(an_mpirun_of_unknown_make_takes_what_all_makes_agree_on),
		cmocka_unit_test(launchers_of_trees_are_told_from_programs),
		cmocka_unit_test(any_words_are_survived),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

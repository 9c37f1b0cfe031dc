/* SPDX-License-Identifier: Apache-2.0 */
/* rank_variables_test.c - which rank a process is, and which job it belongs to, by the variables of its launcher. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "run/job_identity.h"
#include "spool/rank_variables.h"

/* Sets the environment to these "NAME=value", NULL at the end, and nothing else. */
static int set_only(const char *const *variables)
{
	clearenv();
	for (; *variables; variables++)
		assert_int_equal(putenv((char *)*variables), 0);
	return 0;
}
#define ONLY(...) set_only((const char *const[]){__VA_ARGS__, NULL})

#define EXPECT(who, number, local, size)                                                           \
	do {                                                                                       \
		struct ranks found = ranks_of_environment();                                       \
		assert_string_equal(found.launcher, who);                                          \
		assert_int_equal(found.rank, number);                                              \
		assert_int_equal(found.local_rank, local);                                         \
		assert_int_equal(found.world, size);                                               \
	} while (0)

#define SLURM(step)                                                                                \
	"SLURM_JOB_ID=12", "SLURM_STEP_ID=" step, "SLURM_PROCID=3", "SLURM_LOCALID=1",             \
		"SLURM_STEP_NUM_TASKS=4", "SLURM_NTASKS=8"

static void each_launcher_is_understood(void **state)
{
	(void)state;
	ONLY("OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_LOCAL_RANK=0", "OMPI_COMM_WORLD_SIZE=4");
	EXPECT("Open MPI", 2, 0, 4);
	ONLY("PMI_RANK=1", "MPI_LOCALRANKID=1", "PMI_SIZE=6", "MPI_LOCALNRANKS=3");
	EXPECT("PMI", 1, 1, 6);
	ONLY(SLURM("0"));
	EXPECT("Slurm", 3, 1, 4);
	ONLY("FLUX_TASK_RANK=5", "FLUX_TASK_LOCAL_ID=1", "FLUX_JOB_SIZE=8");
	EXPECT("Flux", 5, 1, 8);
	ONLY("PALS_RANKID=5", "PALS_LOCAL_RANKID=1", "PMI_SIZE=8", "PMI_RANK=5");
	EXPECT("PALS", 5, 1, 8);
	ONLY("JSM_NAMESPACE_RANK=5", "JSM_NAMESPACE_LOCAL_RANK=1", "JSM_NAMESPACE_SIZE=8");
	EXPECT("JSM", 5, 1, 8);
	ONLY("RANK=5", "LOCAL_RANK=1", "WORLD_SIZE=8");
	EXPECT("torchrun", 5, 1, 8);
}

static void the_innermost_launcher_counts(void **state)
{
	(void)state;
	ONLY(SLURM("0"), "RANK=7", "LOCAL_RANK=3", "WORLD_SIZE=16");
	EXPECT("torchrun", 7, 3, 16);
	ONLY(SLURM("0"), "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2");
	EXPECT("Open MPI", 0, 1, 2);
	ONLY(SLURM("0"), "PMIX_RANK=3");
	EXPECT("PMIx", 3, 1, 4);
}

static void texts_that_are_no_numbers_are_passed_over(void **state)
{
	(void)state;
	ONLY("RANK=x", "PMI_RANK=-1", "OMPI_COMM_WORLD_RANK=99999999999", "SLURM_PROCID=5");
	EXPECT("Slurm", 5, -1, -1);
	ONLY("A=B");
	EXPECT("", -1, -1, -1);
}

static const char *identity(void)
{
	static char text[JOB_IDENTITY_BYTES];
	struct ranks ranks = ranks_of_environment();
	job_identity(&ranks, text);
	return text;
}

static void a_step_of_slurm_is_a_job(void **state)
{
	(void)state;
	ONLY(SLURM("2"));
	assert_string_equal(identity(), "12.2");
	ONLY(SLURM("2"), "SLURM_RESTART_COUNT=1");
	assert_string_equal(identity(), "12.2-1");
	struct ranks ranks = ranks_of_environment();
	assert_true(job_is_rank(&ranks));
}

static void a_batch_script_or_a_shell_is_no_rank(void **state)
{
	(void)state;
	ONLY("SLURM_JOB_ID=12", "SLURM_PROCID=0", "SLURM_NTASKS=4");
	struct ranks ranks = ranks_of_environment();
	assert_false(job_is_rank(&ranks));
	ONLY(SLURM("4294967290"));
	ranks = ranks_of_environment();
	assert_false(job_is_rank(&ranks));
	ONLY("OMPI_COMM_WORLD_RANK=3"); /* of how many is not known */
	ranks = ranks_of_environment();
	assert_false(job_is_rank(&ranks));
	ONLY("PMI_RANK=0", "PMI_SIZE=1");
	ranks = ranks_of_environment();
	assert_false(job_is_rank(&ranks));
}

static void ranks_of_one_job_have_one_identity_and_others_another(void **state)
{
	(void)state;
	char first[JOB_IDENTITY_BYTES];
	ONLY("OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2", "PMIX_NAMESPACE=prterun-a/b-7@1");
	strcpy(first, identity());
	assert_string_equal(first, "prterun-a-b-7-1"); /* fit for a file's name */
	ONLY("OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2", "PMIX_NAMESPACE=prterun-a/b-7@1");
	assert_string_equal(identity(), first);
	ONLY("OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2", "PMIX_NAMESPACE=prterun-a/b-8@1");
	assert_string_not_equal(identity(), first);
	ONLY("RANK=1", "WORLD_SIZE=4", "LOCAL_WORLD_SIZE=2", "TORCHELASTIC_RUN_ID=none",
	     "MASTER_ADDR=n1", "MASTER_PORT=29500");
	assert_string_equal(identity(), "n1-29500");
}

static void a_launcher_on_several_hosts_names_its_job(void **state)
{
	(void)state;
	char text[JOB_IDENTITY_BYTES];
	char *one[] = {"torchrun", "--nnodes=1", "--rdzv-id=7", "a.py", NULL};
	char *two[] = {"torchrun", "--nnodes", "2", "--rdzv_id", "7", "--rdzv-endpoint=n1:29400",
		       "a.py",     NULL};
	char *fixed[] = {"torchrun", "--nnodes=2", "--master_addr", "n1", "--master-port=7", NULL};
	char *silent[] = {"torchrun", "--nnodes=2", "a.py", NULL};
	char *cut[] = {"torchrun", "--nnodes", NULL};
	assert_false(job_identity_of_tree(one, text));
	assert_true(job_identity_of_tree(two, text));
	assert_string_equal(text, "7-n1-29400");
	assert_true(job_identity_of_tree(fixed, text));
	assert_string_equal(text, "n1-7");
	assert_false(job_identity_of_tree(silent, text));
	assert_false(job_identity_of_tree(cut, text));
}

static void without_a_word_of_the_launcher_the_starter_is_the_identity(void **state)
{
	(void)state;
	char first[JOB_IDENTITY_BYTES];
	ONLY("PMI_RANK=0", "PMI_SIZE=2");
	strcpy(first, identity());
	ONLY("PMI_RANK=1", "PMI_SIZE=2");
	assert_string_equal(identity(), first);
	assert_true(strlen(first) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_launcher_is_understood),
		cmocka_unit_test(the_innermost_launcher_counts),
		cmocka_unit_test(texts_that_are_no_numbers_are_passed_over),
		cmocka_unit_test(a_step_of_slurm_is_a_job),
		cmocka_unit_test(a_batch_script_or_a_shell_is_no_rank),
		cmocka_unit_test(ranks_of_one_job_have_one_identity_and_others_another),
		cmocka_unit_test(a_launcher_on_several_hosts_names_its_job),
		cmocka_unit_test(without_a_word_of_the_launcher_the_starter_is_the_identity),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* comparison.c - see comparison.h. */
#include "serve/comparison.h"

void comparison_init(struct comparison *comparison, char *const *argv)
{
	*comparison = (struct comparison){.argv = argv};
	pthread_mutex_init(&comparison->lock, NULL);
}

struct worker *comparison_worker(struct comparison *comparison, struct hwy_err *err)
{
	pthread_mutex_lock(&comparison->lock);
	if (!comparison->is_started)
		comparison->is_started = worker_start(&comparison->worker, comparison->argv, err);
	bool is_started = comparison->is_started;
	pthread_mutex_unlock(&comparison->lock);
	return is_started ? &comparison->worker : NULL;
}

void comparison_stop(struct comparison *comparison)
{
	if (comparison->is_started)
		worker_stop(&comparison->worker);
}

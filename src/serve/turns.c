/* SPDX-License-Identifier: Apache-2.0 */
/* turns.c - see turns.h. */
#include "serve/turns.h"

#include <time.h>
#include <unistd.h>

enum { SLEEP_MS = 20, NS_PER_MS = 1000000 };

static int64_t turns_read_clock(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Yields the CPU time of this thread, ns: time in which other programs had the CPU does not
 * count against a request. */
static int64_t turns_cpu(void)
{
	return turns_read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static int64_t turns_now(void)
{
	return turns_read_clock(CLOCK_MONOTONIC);
}

static void turns_take(struct turns *turns, struct turn *turn)
{
	pthread_mutex_lock(&turns->lock);
	for (uint64_t mine = turns->next++; turns->served != mine;)
		pthread_cond_wait(&turns->changed, &turns->lock);
	turns->holder = turn;
	pthread_mutex_unlock(&turns->lock);
	turn->since_ns = turns_now();
}

void turns_init(struct turns *turns)
{
	*turns = (struct turns){0};
	pthread_mutex_init(&turns->lock, NULL);
	pthread_cond_init(&turns->changed, NULL);
}

static bool turn_is_wanted(const struct turn *turn, struct hwy_err *err)
{
	return !turn->is_abandoned || !turn->is_abandoned(turn->from) ||
	       hwy_fail(err, "nobody waits for the answer");
}

static bool turn_is_within_limit(const struct turn *turn, struct hwy_err *err)
{
	return turn->is_unlimited ||
	       turns_cpu() - turn->cpu_ns <= TURNS_MOST_S * INT64_C(1000) * NS_PER_MS ||
	       hwy_fail(err, "the answer takes more than %d s of CPU time; ask for less",
			TURNS_MOST_S);
}

bool turns_begin(struct turns *turns, struct turn *turn, struct hwy_err *err)
{
	turn->cpu_ns = turns_cpu();
	turns_take(turns, turn);
	if (turn_is_wanted(turn, err))
		return true;
	turns_end(turns);
	return false;
}

void turns_end(struct turns *turns)
{
	pthread_mutex_lock(&turns->lock);
	turns->holder = NULL;
	turns->served++;
	pthread_cond_broadcast(&turns->changed);
	pthread_mutex_unlock(&turns->lock);
}

static bool somebody_waits(struct turns *turns)
{
	pthread_mutex_lock(&turns->lock);
	bool waits = turns->next - turns->served > 1;
	pthread_mutex_unlock(&turns->lock);
	return waits;
}

bool turns_pause(struct turns *turns, struct hwy_err *err)
{
	struct turn *mine = turns->holder;
	int64_t now = turns_now();
	if (now - mine->since_ns < TURNS_SLICE_MS * NS_PER_MS)
		return true;
	mine->since_ns = now;
	mine->is_ended = !turn_is_wanted(mine, err) || !turn_is_within_limit(mine, err);
	if (!mine->is_ended && somebody_waits(turns)) {
		turns_end(turns);
		turns_take(turns, mine);
	}
	return !mine->is_ended;
}

bool turns_sleep(struct turns *turns, struct hwy_err *err)
{
	struct turn *mine = turns->holder;
	turns_end(turns);
	usleep(SLEEP_MS * 1000);
	turns_take(turns, mine);
	mine->is_ended = !turn_is_wanted(mine, err);
	return !mine->is_ended;
}

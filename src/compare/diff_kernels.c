/* diff_kernels.c - kernels that came, went, changed their time or their number.
 *
 * Kernels are the same by folded name. Those left over are matched by their place in the step: a kernel of the
 * same number of launches at the same place, or a sibling by name, is the old one renamed or re-tiled.
 * A launch's time has changed when its change exceeds what the launches' own spread and the noise from run to
 * run can explain: Welch's t over the runs where there are enough of them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/diff.h"
#include "compare/names.h"

const char *const kernel_change_names[] = {"same",    "slower", "faster", "added",
					   "removed", "more",   "fewer"};

static const struct compare_kernel *kernel_named(const struct compare_phase *phase,
						 const char *name)
{
	for (uint32_t i = 0; i < phase->n_kernels; i++)
		if (strcmp(phase->kernels[i].name, name) == 0)
			return &phase->kernels[i];
	return NULL;
}

/* Means of a side: runs that lack the kernel count as none of it. */
struct seen {
	double ns, count;   /* a step */
	double mean, error; /* of a launch; its squared standard error within a run */
	double means[64];
	uint32_t n;
};

static struct seen look(const struct compare_side *side, const char *name)
{
	struct seen seen = {0};
	for (uint32_t i = 0; name && i < side->n; i++) {
		const struct compare_phase *phase = side->phases[i];
		const struct compare_kernel *kernel = kernel_named(phase, name);
		if (!kernel)
			continue;
		double mean = (double)kernel->ns / (double)kernel->count;
		seen.ns += (double)kernel->ns / phase->n_steady / side->n;
		seen.count += (double)kernel->count / phase->n_steady / side->n;
		seen.mean += mean;
		seen.error += kernel->deviation * kernel->deviation / (double)kernel->count;
		if (seen.n < 64)
			seen.means[seen.n++] = mean;
	}
	if (seen.n) {
		seen.mean /= seen.n;
		seen.error /= (double)seen.n * seen.n;
	}
	return seen;
}

static enum kernel_change judge(const struct seen *before, const struct seen *after,
				double run_noise)
{
	double change = after->mean - before->mean, half;
	if (fabs(after->count - before->count) > 0.01 * before->count + 0.01)
		return after->count > before->count ? KERNEL_MORE : KERNEL_FEWER;
	if (before->n >= STATISTICS_RUNS && after->n >= STATISTICS_RUNS) {
		struct difference d =
			statistics_welch(before->means, before->n, after->means, after->n);
		half = (d.high - d.low) / 2;
	} else {
		half = 1.96 * sqrt(before->error + after->error) +
		       run_noise * sqrt(before->mean * before->mean / before->n +
					after->mean * after->mean / after->n);
	}
	/* A clock's tick or two is no news of a short kernel. */
	if (fabs(change) <= half || fabs(change) < 0.01 * before->mean || fabs(change) < 50)
		return KERNEL_SAME;
	return change > 0 ? KERNEL_SLOWER : KERNEL_FASTER;
}

static void add(struct compare_diff *diff, const char *before, const char *after, double run_noise)
{
	struct seen a = look(diff->before, before), b = look(diff->after, after);
	struct diff_kernel *kernel = &diff->kernels[diff->n_kernels];
	*kernel = (struct diff_kernel){
		.before = before,
		.after = after,
		.is_renamed = before && after && strcmp(before, after) != 0,
		.ns_before = (int64_t)a.ns,
		.ns_after = (int64_t)b.ns,
		.count_before = a.count,
		.count_after = b.count,
		.mean_before = a.mean,
		.mean_after = b.mean,
	};
	kernel->change = !before  ? KERNEL_ADDED
			 : !after ? KERNEL_REMOVED
				  : judge(&a, &b, run_noise);
	if (kernel->change != KERNEL_SAME || kernel->is_renamed)
		diff->n_kernels++;
}

/* The unmatched kernel of the other side that stands where this one stood. */
static uint32_t find_renamed(const struct compare_kernel *kernel, const struct compare_phase *phase,
			     double launches, const bool *matched)
{
	uint32_t best = UINT32_MAX;
	double nearest = 0.25;
	for (uint32_t i = 0; i < phase->n_kernels; i++) {
		const struct compare_kernel *one = &phase->kernels[i];
		double count = (double)one->count / phase->n_steady;
		bool sibling = name_is_sibling(kernel->name, one->name);
		double distance = fabs(one->place - kernel->place);
		if (matched[i] || (!sibling && fabs(count - launches) > 0.01 * launches))
			continue;
		if (!sibling && distance > 0.1)
			continue;
		distance -= sibling ? 0.1 : 0;
		if (distance < nearest) {
			nearest = distance;
			best = i;
		}
	}
	return best;
}

/* A list that was cut tells nothing of kernels smaller than its last, and one without the kernels of graphs
 * nothing of any. */
static bool may_be_cut(const struct compare_phase *phase, double ns_a_step)
{
	if (phase->counts[COUNT_HIDDEN] > 0)
		return true;
	return phase->kernels_left_out > 0 && phase->n_kernels > 0 &&
	       ns_a_step <= (double)phase->kernels[phase->n_kernels - 1].ns / phase->n_steady;
}

static int compare_changes(const void *a, const void *b)
{
	const struct diff_kernel *x = a, *y = b;
	int64_t p = llabs(x->ns_after - x->ns_before), q = llabs(y->ns_after - y->ns_before);
	if (p != q)
		return p < q ? 1 : -1;
	return strcmp(x->before ? x->before : x->after, y->before ? y->before : y->after);
}

void diff_kernels(struct compare_diff *diff, double run_noise)
{
	const struct compare_phase *a = side_phase(diff->before), *b = side_phase(diff->after);
	bool *matched = hwy_zalloc(b->n_kernels + 1u);
	diff->kernels = hwy_arena_alloc(&diff->arena,
					(a->n_kernels + b->n_kernels + 1u) * sizeof *diff->kernels);
	for (uint32_t i = 0; i < b->n_kernels; i++)
		matched[i] = kernel_named(a, b->kernels[i].name) != NULL;
	for (uint32_t i = 0; i < a->n_kernels; i++) {
		const struct compare_kernel *kernel = &a->kernels[i];
		double launches = (double)kernel->count / a->n_steady;
		uint32_t other = kernel_named(b, kernel->name)
					 ? UINT32_MAX
					 : find_renamed(kernel, b, launches, matched);
		if (kernel_named(b, kernel->name)) {
			add(diff, kernel->name, kernel->name, run_noise);
		} else if (other != UINT32_MAX) {
			matched[other] = true;
			add(diff, kernel->name, b->kernels[other].name, run_noise);
		} else if (!may_be_cut(b, (double)kernel->ns / a->n_steady)) {
			add(diff, kernel->name, NULL, run_noise);
		}
	}
	for (uint32_t i = 0; i < b->n_kernels; i++)
		if (!matched[i] && !may_be_cut(a, (double)b->kernels[i].ns / b->n_steady))
			add(diff, NULL, b->kernels[i].name, run_noise);
	free(matched);
	if (diff->n_kernels)
		qsort(diff->kernels, diff->n_kernels, sizeof *diff->kernels, compare_changes);
}

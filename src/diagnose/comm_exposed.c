/* comm_exposed.c - communication that no computation covers.
 *
 * Cost: the exposed time of communication kernels. From one rank alone it cannot be told how much of it is
 * waiting for others; rank-straggler looks at that.
 */
#include "diagnose/case.h"
#include "diagnose/findings.h"
#include "diagnose/words.h"

static const struct advice fix = {
	.any = "Start communication as soon as its data is ready, on a stream of its own, and compute meanwhile; send fewer "
	       "bytes (fp16 or bf16 gradients).\n"
	       "  ncclAllReduce(…, comm_stream);   // after cudaStreamWaitEvent(comm_stream, bucket_ready, 0)",
	.of = {[HWY_PYTORCH] =
		       "Let gradients travel while the backward pass still runs: smaller buckets, gradient_as_bucket_view, "
		       "no_sync() while accumulating, bf16 compression; FSDP: backward prefetch.\n"
		       "  DistributedDataParallel(model, bucket_cap_mb=10, gradient_as_bucket_view=True)"},
};

static void look(struct hwy_case *c)
{
	struct claim claim = {0};
	int64_t all = 0;
	uint64_t n = 0;
	for (uint32_t i = 0; i < c->n_transfers; i++) {
		const struct case_transfer *one = &c->transfers[i];
		const struct flow_op *op = &c->flow->ops[one->op];
		if (!one->is_comm)
			continue;
		n++;
		all += op->end - op->start;
		claim_transfer(c, &claim, i, CLAIM_ALL, op->span);
	}
	if (claim_is_worth(c, &claim))
		hwy_accuse(c, &claim, HWY_MEDIUM,
			   words_format(&c->diagnosis->arena,
					"%s a step, %s in all; for %s of it nothing is computed.",
					words_many(case_each(c, n), "collective", "collectives").at,
					words_time(case_per_step(c, all)).at,
					words_time(case_per_step(c, claim.total)).at),
			   case_advice(c, &fix));
	claim_drop(c, &claim);
}

const struct hwy_finding_kind finding_comm_exposed = {
	.id = "comm-exposed",
	.title = "communication that no computation hides",
	.edit = "overlap-comm",
	.look = look,
};

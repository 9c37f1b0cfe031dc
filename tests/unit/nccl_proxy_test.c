/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_proxy_test.c - what NCCL's proxies wait for, on a clock made by hand: every moment counts once, at most. */
#include "make_trace.h"

#include "collect/nccl/nccl_proxy.c"

/* ---- a collector that keeps the last record --------------------------------------------------------- */

static int64_t now;
static bool is_off, is_sealed;
static uint64_t drops;
static union {
	struct rec_nccl_proxy proxy;
	struct rec_nccl_channel channel;
} last;
static unsigned records;
const bool *sibling_is_sealed = &is_sealed;
struct rec_control *collect_control;

int64_t collect_now(void)
{
	return now;
}
bool collect_is_on(uint32_t traces)
{
	(void)traces;
	return !is_off;
}
void *collect_reserve(enum rec_type type, unsigned n)
{
	memset(&last, 0, sizeof last);
	last.proxy.head = (struct rec_head){.type = (uint8_t)type, .slots = (uint16_t)n};
	return &last;
}
void collect_publish(void *record)
{
	(void)record;
	records++;
}
void collect_drop(const char *reason, uint64_t count)
{
	(void)reason;
	drops += count;
}

static void *start(bool is_send)
{
	return nccl_start_proxy((void *)(uintptr_t)(7 << NCCL_HANDLE_BITS | NCCL_IS_ID),
				&(struct abi_nccl_proxy_op){
					.pid = 40, .channel = 3, .peer = 1, .is_send = is_send});
}
static void at(int64_t time, void *handle, int state)
{
	now = time;
	nccl_proxy_state(handle, state, 0);
}
static void stop_at(int64_t time, void *handle)
{
	now = time;
	nccl_proxy_stop(handle);
}
static void assert_waits(int64_t gpu, int64_t peer, int64_t network)
{
	assert_int_equal(last.proxy.wait_gpu, gpu);
	assert_int_equal(last.proxy.wait_peer, peer);
	assert_int_equal(last.proxy.wait_network, network);
}

/* ---- */

static void a_send_waits_for_the_gpu_then_for_credit_then_for_the_network(void **s)
{
	(void)s;
	now = 1000;
	void *proxy = start(true), *step = nccl_start_step(proxy);
	at(1000, step, ABI_NCCL_STEP_SEND_GPU_WAIT);
	at(1100, step, ABI_NCCL_STEP_SEND_PEER_WAIT);
	at(1130, step, ABI_NCCL_STEP_SEND_WAIT);
	stop_at(1300, step);
	stop_at(1310, proxy);
	assert_waits(100, 30, 170);
	assert_int_equal(last.proxy.start, 1000);
	assert_int_equal(last.proxy.duration, 310);
	assert_int_equal(last.proxy.operation, 7);
	assert_int_equal(last.proxy.channel, 3);
	assert_int_equal(last.proxy.steps, 1);
}

static void while_a_step_is_under_way_the_others_do_not_count(void **s)
{
	(void)s;
	now = 0;
	void *proxy = start(true), *a = nccl_start_step(proxy), *b = nccl_start_step(proxy);
	at(0, a, ABI_NCCL_STEP_SEND_GPU_WAIT);
	at(0, b, ABI_NCCL_STEP_SEND_GPU_WAIT);
	at(10, a, ABI_NCCL_STEP_SEND_WAIT); /* b still waits for the GPU */
	stop_at(50, a);
	at(70, b, ABI_NCCL_STEP_SEND_WAIT);
	stop_at(100, b);
	stop_at(100, proxy);
	assert_waits(10 + 20, 0, 40 + 30);
}

static void until_the_first_piece_comes_a_receive_waits_for_its_peer(void **s)
{
	(void)s;
	now = 0;
	void *proxy = start(false), *a = nccl_start_step(proxy), *b = nccl_start_step(proxy);
	at(0, a, ABI_NCCL_STEP_RECV_WAIT);
	at(0, b, ABI_NCCL_STEP_RECV_WAIT);
	at(500, a, ABI_NCCL_STEP_RECV_FLUSH_WAIT);
	at(510, a, ABI_NCCL_STEP_RECV_GPU_WAIT);
	at(560, b, ABI_NCCL_STEP_RECV_GPU_WAIT);
	stop_at(600, a);
	stop_at(600, b);
	stop_at(600, proxy);
	assert_waits(40, 500, 60);
}

static void below_version_4_the_operation_itself_waits_for_credit(void **s)
{
	(void)s;
	now = 0;
	void *proxy = start(true), *step = nccl_start_step(proxy);
	at(0, step, ABI_NCCL_STEP_SEND_GPU_WAIT);
	at(20, proxy, ABI_NCCL_OP_SEND_REMOTE_WAIT);
	at(50, proxy, ABI_NCCL_OP_SEND_TRANSMITTED);
	at(50, step, ABI_NCCL_STEP_SEND_WAIT);
	stop_at(90, step);
	stop_at(90, proxy);
	assert_waits(20, 30, 40);
}

static void the_handle_of_an_earlier_use_does_nothing(void **s)
{
	(void)s;
	now = 0;
	void *old = start(true), *old_step = nccl_start_step(old);
	stop_at(10, old);
	now = 20;
	void *again = start(true); /* in the same slot */
	unsigned before = records;
	assert_ptr_not_equal(old, again);
	at(30, old_step, ABI_NCCL_STEP_SEND_WAIT);
	stop_at(40, old_step);
	stop_at(40, old_step);
	stop_at(40, old);
	assert_null(nccl_start_step(old));
	assert_int_equal(records, before);
	stop_at(50, again);
	assert_int_equal(records, before + 1);
	assert_waits(0, 0, 0);
}

static void what_finds_no_slot_is_counted_and_slots_come_back(void **s)
{
	(void)s;
	static void *handles[SLOTS + 10];
	for (int round = 0; round < 3; round++) {
		uint64_t before = drops;
		for (int i = 0; i < SLOTS + 10; i++)
			handles[i] = start(true);
		assert_int_equal(drops - before, 10);
		for (int i = 0; i < SLOTS + 10; i++)
			nccl_proxy_stop(handles[i]);
	}
}

static void nothing_is_kept_while_nothing_is_recorded(void **s)
{
	(void)s;
	is_off = true;
	assert_null(start(true));
	is_off = false;
	is_sealed = true;
	assert_null(start(true));
	is_sealed = false;
}

/* Any sequence of states: the waits are not negative, and together at most the time that the operation took. */
static void waits_never_add_up_to_more_than_the_operation_took(void **s)
{
	(void)s;
	uint32_t dice = 12345;
#define ROLL(n) (int)((dice = dice * 1664525 + 1013904223) >> 8) % (n)
	for (int round = 0; round < 2000; round++) {
		void *steps[8] = {0};
		int64_t began = now;
		void *proxy = start(ROLL(2));
		for (int i = 0; i < 60; i++) {
			int which = ROLL(8);
			now += ROLL(100);
			if (!steps[which])
				steps[which] = nccl_start_step(proxy);
			else if (ROLL(5) == 0) {
				nccl_proxy_stop(steps[which]);
				steps[which] = NULL;
			} else
				nccl_proxy_state(steps[which], ROLL(24), 0);
			if (ROLL(10) == 0)
				nccl_proxy_state(proxy, ROLL(24), 0);
		}
		nccl_proxy_stop(proxy);
		assert_int_equal(last.proxy.duration, now - began);
		assert_true(last.proxy.wait_gpu >= 0 && last.proxy.wait_peer >= 0 &&
			    last.proxy.wait_network >= 0);
		assert_true(last.proxy.wait_gpu + last.proxy.wait_peer + last.proxy.wait_network <=
			    last.proxy.duration);
		for (int i = 0; i < 8; i++) /* ends that come after the operation's */
			nccl_proxy_stop(steps[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_send_waits_for_the_gpu_then_for_credit_then_for_the_network),
		cmocka_unit_test(while_a_step_is_under_way_the_others_do_not_count),
		cmocka_unit_test(until_the_first_piece_comes_a_receive_waits_for_its_peer),
		cmocka_unit_test(below_version_4_the_operation_itself_waits_for_credit),
		cmocka_unit_test(the_handle_of_an_earlier_use_does_nothing),
		cmocka_unit_test(what_finds_no_slot_is_counted_and_slots_come_back),
		cmocka_unit_test(nothing_is_kept_while_nothing_is_recorded),
		cmocka_unit_test(waits_never_add_up_to_more_than_the_operation_took),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

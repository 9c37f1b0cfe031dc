/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate_kernels.h - the calibration helper's kernels, as PTX text that any driver compiles.
 *
 *   empty()                          does nothing
 *   stamp(to)                        writes the device's time
 *   spin(flag, limit)                ends when the flag is set, or after 'limit' ns
 *   pong(from, to, rounds, limit)    answers the numbers 1, 2, ... at 'from' by its time, whose last five bits
 *                                    are those of the number (HELPER_STAMP_LOW): one store says both
 *
 * A time is read behind the branch that depends on what was loaded: a load alone does not delay
 * reading the time. Every loop ends by itself: by the device's clock and, should that stand
 * still, by counting.
 */
#ifndef HWY_RUN_CALIBRATE_CALIBRATE_KERNELS_H
#define HWY_RUN_CALIBRATE_CALIBRATE_KERNELS_H

static const char kernels_text[] =
	".version 5.0\n"
	".target sm_50\n"
	".address_size 64\n"
	".visible .entry empty()\n"
	"{\n"
	"ret;\n"
	"}\n"
	".visible .entry stamp(.param .u64 to)\n"
	"{\n"
	".reg .u64 %a, %t;\n"
	"ld.param.u64 %a, [to];\n"
	"cvta.to.global.u64 %a, %a;\n"
	"mov.u64 %t, %globaltimer;\n"
	"st.volatile.global.u64 [%a], %t;\n"
	"ret;\n"
	"}\n"
	".visible .entry spin(.param .u64 flag, .param .u64 limit)\n"
	"{\n"
	".reg .u64 %a, %t, %end;\n"
	".reg .u32 %v, %turns;\n"
	".reg .pred %p;\n"
	"ld.param.u64 %a, [flag];\n"
	"ld.param.u64 %end, [limit];\n"
	"cvta.to.global.u64 %a, %a;\n"
	"mov.u64 %t, %globaltimer;\n"
	"add.u64 %end, %end, %t;\n"
	"mov.u32 %turns, 0;\n"
	"again:\n"
	"ld.volatile.global.u32 %v, [%a];\n"
	"setp.ne.u32 %p, %v, 0;\n"
	"@%p bra done;\n"
	"add.u32 %turns, %turns, 1;\n"
	"setp.gt.u32 %p, %turns, 4000000;\n"
	"@%p bra done;\n"
	"mov.u64 %t, %globaltimer;\n"
	"setp.lt.u64 %p, %t, %end;\n"
	"@%p bra again;\n"
	"done:\n"
	"ret;\n"
	"}\n"
	".visible .entry pong(.param .u64 from, .param .u64 to, .param .u32 rounds, .param .u64 limit)\n"
	"{\n"
	".reg .u64 %a, %b, %t, %end;\n"
	".reg .u64 %low;\n"
	".reg .u32 %v, %i, %n, %turns;\n"
	".reg .pred %p;\n"
	"ld.param.u64 %a, [from];\n"
	"ld.param.u64 %b, [to];\n"
	"ld.param.u32 %n, [rounds];\n"
	"ld.param.u64 %end, [limit];\n"
	"cvta.to.global.u64 %a, %a;\n"
	"cvta.to.global.u64 %b, %b;\n"
	"mov.u64 %t, %globaltimer;\n"
	"add.u64 %end, %end, %t;\n"
	"mov.u32 %turns, 0;\n"
	"mov.u32 %i, 1;\n"
	"wait:\n"
	"ld.volatile.global.u32 %v, [%a];\n"
	"setp.eq.u32 %p, %v, %i;\n"
	"@%p bra answer;\n"
	"add.u32 %turns, %turns, 1;\n"
	"setp.gt.u32 %p, %turns, 4000000;\n"
	"@%p bra done;\n"
	"mov.u64 %t, %globaltimer;\n"
	"setp.lt.u64 %p, %t, %end;\n"
	"@%p bra wait;\n"
	"bra done;\n"
	"answer:\n"
	"mov.u64 %t, %globaltimer;\n"
	"cvt.u64.u32 %low, %i;\n"
	"and.b64 %low, %low, 31;\n"
	"and.b64 %t, %t, -32;\n"
	"or.b64 %t, %t, %low;\n"
	"st.volatile.global.u64 [%b], %t;\n"
	"add.u32 %i, %i, 1;\n"
	"setp.le.u32 %p, %i, %n;\n"
	"@%p bra wait;\n"
	"done:\n"
	"ret;\n"
	"}\n";

#endif

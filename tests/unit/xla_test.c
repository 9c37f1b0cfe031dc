/* SPDX-License-Identifier: Apache-2.0 */
/* xla_test.c - what XLA's annotations and the names of its kernels say. The names are from a recording of a JAX program on an H200, or follow its pattern. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "analyze/xla.h"

static struct hwy_text text(const char *s)
{
	return (struct hwy_text){s, (uint32_t)strlen(s)};
}

static void assert_text(struct hwy_text found, const char *expected)
{
	char buffer[512];
	assert_true(found.length < sizeof buffer);
	memcpy(buffer, found.at, found.length);
	buffer[found.length] = 0;
	assert_string_equal(buffer, expected);
}

static void ranges_are_told_apart_by_their_fields(void **state)
{
	static const struct {
		const char *name;
		enum xla_kind kind;
		const char *module, *op, *path;
		int64_t program;
	} rows[] = {
		{"XlaModule:#hlo_module=jit_update,program_id=5303#", XLA_EXECUTION, "jit_update",
		 "", "", 5303},
		{"XlaModule:#prefix=jit(subtract)/sub,hlo_module=jit_subtract,program_id=22508#",
		 XLA_EXECUTION, "jit_subtract", "", "jit(subtract)/sub", 22508},
		{"XlaModule:#hlo_module=cudnn-conv.5#", XLA_TRIAL, "cudnn-conv.5", "", "", -1},
		{"XlaModule:#hlo_module=jit_f#", XLA_EXECUTION, "jit_f", "", "", -1},
		{"Thunk:#name=jit(update)/jvp()/jit(relu)/max,hlo_op=loop_pad_fusion,"
		 "unique_hlo_op_id=4294967298#",
		 XLA_THUNK, "", "loop_pad_fusion", "jit(update)/jvp()/jit(relu)/max", -1},
		{"Thunk:#hlo_op=command_buffer_1#", XLA_THUNK, "", "command_buffer_1", "", -1},
		{"Thunk:#name=jit(f)/reduce_sum[axes=(0, 1),name=x],hlo_op=input_reduce_fusion#",
		 XLA_THUNK, "", "input_reduce_fusion", "jit(f)/reduce_sum[axes=(0, 1)", -1},
		{"Thunk:#name=jit(f)/reduce_sum[axes=(0, 1)],hlo_op=input_reduce_fusion#",
		 XLA_THUNK, "", "input_reduce_fusion", "jit(f)/reduce_sum[axes=(0, 1)]", -1},
		{"XlaCompile:#module=jit_tanh#", XLA_COMPILE, "jit_tanh", "", "", -1},
		{"XlaPass:#name=config-assigner,module=jit_update,program_id=5303#",
		 XLA_COMPILE_PART, "jit_update", "", "", 5303},
		{"XlaCompileGpuAsm:#module=gemm_fusion_dot_general.3#", XLA_COMPILE_PART,
		 "gemm_fusion_dot_general.3", "", "", -1},
		{"XlaEmitGpuAsm:#module=LLVMDialectModule#", XLA_COMPILE_PART, "LLVMDialectModule",
		 "", "", -1},
		{"XlaModule:#hlo_module=jit_f,program_id=99999999999999999999#", XLA_EXECUTION,
		 "jit_f", "", "", -1},
		{"XlaModule:", XLA_NONE, "", "", "", -1},
		{"XlaModule:#", XLA_TRIAL, "", "", "", -1},
		{"Thunk", XLA_NONE, "", "", "", -1},
		{"Xylophone:#name=a#", XLA_NONE, "", "", "", -1},
		{"step_7", XLA_NONE, "", "", "", -1},
		{"", XLA_NONE, "", "", "", -1},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct xla_range range = xla_parse(text(rows[i].name));
		if (range.kind != rows[i].kind)
			fail_msg("\"%s\" is of kind %d", rows[i].name, (int)range.kind);
		assert_text(range.module, rows[i].module);
		assert_text(range.op, rows[i].op);
		assert_text(range.path, rows[i].path);
		assert_int_equal(range.program, rows[i].program);
		assert_int_equal(xla_is_range(text(rows[i].name)), rows[i].kind != XLA_NONE);
	}
}

static void a_label_names_the_function_as_jax_does(void **state)
{
	static const char *const rows[][2] = {
		{"XlaModule:#hlo_module=jit_update,program_id=5303#", "jit(update)"},
		{"XlaModule:#hlo_module=jit__lambda_,program_id=1#", "jit(<lambda>)"},
		{"XlaModule:#hlo_module=jit__normal,program_id=1#", "jit(_normal)"},
		{"XlaModule:#hlo_module=pmap_step,program_id=1#", "pmap(step)"},
		{"XlaModule:#hlo_module=cluster_0__XlaCompiled,program_id=1#",
		 "cluster_0__XlaCompiled"},
		{"XlaModule:#hlo_module=cudnn-conv.5#", "tune cudnn-conv.5"},
		{"XlaCompile:#module=jit_tanh#", "compile jit(tanh)"},
		{"XlaPass:#name=fusion,module=jit_tanh,program_id=7#", "compile jit(tanh)"},
		{"Thunk:#name=jit(f)/add,hlo_op=wrapped_add,unique_hlo_op_id=1#", "wrapped_add"},
		{"Thunk:#name=jit(f)/pure_callback,hlo_op=custom-call.3,unique_hlo_op_id=1#",
		 "custom-call.3 (callback)"},
		{"Thunk:#name=jit(f)/io_callback[ordered=False],hlo_op=custom-call.4#",
		 "custom-call.4 (callback)"},
		{"Thunk:#name=params['w'],hlo_op=copy.1,unique_hlo_op_id=1#", "copy.1 (argument)"},
		{"Thunk:#name=params['w'],hlo_op=wrapped_transpose#", "wrapped_transpose"},
		{"Thunk:#name=jit(f),hlo_op=copy.2#", "copy.2"},
		{"Thunk:#hlo_op=copy.3#", "copy.3"},
		{"Thunk:#name=jit(f)/my_pure_callback/add,hlo_op=wrapped_add#", "wrapped_add"},
		{"step_7", ""},
	};
	char label[64];
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		xla_label(text(rows[i][0]), label, sizeof label);
		assert_string_equal(label, rows[i][1]);
	}
	xla_label(text(rows[0][0]), label, 6);
	assert_string_equal(label, "jit(u");
}

static void a_path_names_the_module_and_the_pass(void **state)
{
	static const struct {
		const char *path, *scope;
		bool is_backward;
	} rows[] = {
		{"jit(step)/jvp(MLP)/Dense_0/dot_general", "MLP.Dense_0", false},
		{"jit(step)/transpose(jvp(MLP))/Dense_0/dot_general", "MLP.Dense_0", true},
		{"jit(update)/jvp()/jit(relu)/max", "", false},
		{"jit(f)/while/body/closed_call/layer/attn/mul", "layer.attn", false},
		{"jit(f)/vmap(jvp(Net))/reduce_sum[axes=(0/1)]", "Net", false},
		{"jit(update)", "", false},
		{"params['conv2']", "", false},
		{"jit(f)/transpose()/b/c", "b", false},
		{"//", "", false},
		{"jit(f", "", false},
		{"", "", false},
	};
	char scope[64];
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		xla_scope(text(rows[i].path), scope, sizeof scope);
		if (strcmp(scope, rows[i].scope) != 0)
			fail_msg("\"%s\" is in scope \"%s\"", rows[i].path, scope);
		assert_int_equal(xla_is_backward(text(rows[i].path)), rows[i].is_backward);
	}
	xla_scope(text(rows[0].path), scope, 6);
	assert_string_equal(scope, "MLP.D");
}

static void kernels_of_xla_are_told_by_their_names(void **state)
{
	static const char *const own[] = {"loop_add_fusion",
					  "loop_multiply_tanh_fusion_3",
					  "gemm_fusion_dot",
					  "gemm_fusion_dot_general_1",
					  "input_reduce_fusion",
					  "wrapped_transpose",
					  "fusion_12"};
	static const char *const others[] = {"triton_poi_fused_add_0",
					     "void fusion::kernel<float>()",
					     "confusion_matrix",
					     "my_fusion_kernel",
					     "diffusion",
					     "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n",
					     "at::native::vectorized_elementwise_kernel",
					     ""};
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (!xla_is_kernel(own[i]))
			fail_msg("%s is not taken for a kernel of XLA's", own[i]);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (xla_is_kernel(others[i]))
			fail_msg("%s is taken for a kernel of XLA's", others[i]);
	assert_true(xla_is_tuning_kernel(
		"stream_executor::gpu::RedzoneAllocatorKernelImpl(unsigned char*, unsigned char)"));
	assert_true(xla_is_tuning_kernel("stream_executor::gpu::(anonymous namespace)::DelayKernel("
					 "stream_executor::GpuSemaphoreState volatile*)"));
	assert_false(xla_is_tuning_kernel("loop_add_fusion"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_are_told_apart_by_their_fields),
		cmocka_unit_test(a_label_names_the_function_as_jax_does),
		cmocka_unit_test(a_path_names_the_module_and_the_pass),
		cmocka_unit_test(kernels_of_xla_are_told_by_their_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* abi_cupti_profiler.c - holds src/collect/abi/cupti_profiler.h and src/run/abi/cupti_source.h against NVIDIA's headers:
 * compiling it is the test. Where there are no headers, or older ones, the program says so and exits with 77.
 */
#include <stdio.h>

#if __has_include(<cupti.h>)
#include <cupti.h>
#endif

#if defined(CUPTI_API_VERSION) && CUPTI_API_VERSION >= 130000
#include <assert.h>
#include <cupti_pcsampling.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include "collect/abi/cupti_profiler.h"
#include "run/abi/cupti_source.h"

#define VALUE(ours, theirs) static_assert((int)ours == (int)theirs, #ours)
#define FIELD(ours, field, theirs, their_field)                                                    \
	static_assert(offsetof(struct ours, field) == offsetof(theirs, their_field),               \
		      #ours "." #field " against " #theirs)
/* The size that is given to CUPTI, up to the last field. */
#define SIZE(ours, last, theirs)                                                                   \
	static_assert(CUPTI_SIZE(ours, last) == theirs##_STRUCT_SIZE, "size of " #ours)
#define PC_SIZE(ours, last, theirs)                                                                \
	static_assert(CUPTI_SIZE(ours, last) == theirs##Size, "size of " #ours)

VALUE(CUPTI_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
VALUE(CUPTI_RANGE_AUTO, CUPTI_AutoRange);
VALUE(CUPTI_RANGE_USER, CUPTI_UserRange);
VALUE(CUPTI_REPLAY_APPLICATION, CUPTI_ApplicationReplay);
VALUE(CUPTI_REPLAY_KERNEL, CUPTI_KernelReplay);
VALUE(CUPTI_REPLAY_USER, CUPTI_UserReplay);
VALUE(CUPTI_CONTEXT_DESTROY, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
VALUE(CUPTI_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_LOADED);
VALUE(CUPTI_LAUNCH_KERNEL, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
VALUE(CUPTI_LAUNCH_KERNEL_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz);
VALUE(CUPTI_LAUNCH_COOPERATIVE, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel);
VALUE(CUPTI_LAUNCH_COOPERATIVE_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz);
VALUE(CUPTI_LAUNCH_EX, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx);
VALUE(CUPTI_LAUNCH_EX_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz);

SIZE(cupti_profiler_initialize, reserved, CUpti_Profiler_Initialize_Params);
SIZE(cupti_chip_name, name, CUpti_Device_GetChipName_Params);
FIELD(cupti_chip_name, device, CUpti_Device_GetChipName_Params, deviceIndex);
SIZE(cupti_range_enable, profiler, CUpti_RangeProfiler_Enable_Params);
FIELD(cupti_range_enable, context, CUpti_RangeProfiler_Enable_Params, ctx);
SIZE(cupti_range_object, profiler, CUpti_RangeProfiler_Disable_Params);
SIZE(cupti_range_object, profiler, CUpti_RangeProfiler_Start_Params);
SIZE(cupti_range_config, target_nesting, CUpti_RangeProfiler_SetConfig_Params);
FIELD(cupti_range_config, config_bytes, CUpti_RangeProfiler_SetConfig_Params, configSize);
FIELD(cupti_range_config, config, CUpti_RangeProfiler_SetConfig_Params, pConfig);
FIELD(cupti_range_config, image_bytes, CUpti_RangeProfiler_SetConfig_Params, counterDataImageSize);
FIELD(cupti_range_config, image, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage);
FIELD(cupti_range_config, range, CUpti_RangeProfiler_SetConfig_Params, range);
FIELD(cupti_range_config, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode);
FIELD(cupti_range_config, most_ranges, CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass);
FIELD(cupti_range_config, nesting_levels, CUpti_RangeProfiler_SetConfig_Params, numNestingLevels);
FIELD(cupti_range_config, least_nesting, CUpti_RangeProfiler_SetConfig_Params, minNestingLevel);
FIELD(cupti_range_config, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex);
SIZE(cupti_range_stop, is_all_submitted, CUpti_RangeProfiler_Stop_Params);
FIELD(cupti_range_stop, pass, CUpti_RangeProfiler_Stop_Params, passIndex);
SIZE(cupti_range_decode, dropped, CUpti_RangeProfiler_DecodeData_Params);
SIZE(cupti_range_image_size, bytes, CUpti_RangeProfiler_GetCounterDataSize_Params);
FIELD(cupti_range_image_size, metrics, CUpti_RangeProfiler_GetCounterDataSize_Params, pMetricNames);
FIELD(cupti_range_image_size, n_metrics, CUpti_RangeProfiler_GetCounterDataSize_Params, numMetrics);
FIELD(cupti_range_image_size, most_ranges, CUpti_RangeProfiler_GetCounterDataSize_Params,
      maxNumOfRanges);
FIELD(cupti_range_image_size, most_nodes, CUpti_RangeProfiler_GetCounterDataSize_Params,
      maxNumRangeTreeNodes);
SIZE(cupti_range_image, image, CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
FIELD(cupti_range_image, bytes, CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
      counterDataSize);
SIZE(cupti_range_info, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params);
FIELD(cupti_range_info, bytes, CUpti_RangeProfiler_GetCounterDataInfo_Params, counterDataImageSize);

VALUE(CUPTI_PC_PERIOD, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD);
VALUE(CUPTI_PC_HARDWARE_BUFFER, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE);
VALUE(CUPTI_PC_MODE, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE);
VALUE(CUPTI_PC_START_STOP, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL);
VALUE(CUPTI_PC_DATA, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER);
VALUE(CUPTI_PC_CONTINUOUS, CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS);
VALUE(CUPTI_PC_SERIALIZED, CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED);
VALUE(CUPTI_PC_REASON_BYTES, CUPTI_STALL_REASON_STRING_SIZE);
static_assert(sizeof(struct cupti_pc_reason) == sizeof(CUpti_PCSamplingStallReason), "size");
static_assert(sizeof(struct cupti_pc) == sizeof(CUpti_PCSamplingPCData), "size");
FIELD(cupti_pc, crc, CUpti_PCSamplingPCData, cubinCrc);
FIELD(cupti_pc, offset, CUpti_PCSamplingPCData, pcOffset);
FIELD(cupti_pc, name, CUpti_PCSamplingPCData, functionName);
FIELD(cupti_pc, n_reasons, CUpti_PCSamplingPCData, stallReasonCount);
FIELD(cupti_pc, reasons, CUpti_PCSamplingPCData, stallReason);
static_assert(sizeof(struct cupti_pc_data) == sizeof(CUpti_PCSamplingData), "size");
FIELD(cupti_pc_data, most, CUpti_PCSamplingData, collectNumPcs);
FIELD(cupti_pc_data, n, CUpti_PCSamplingData, totalNumPcs);
FIELD(cupti_pc_data, remaining, CUpti_PCSamplingData, remainingNumPcs);
FIELD(cupti_pc_data, pcs, CUpti_PCSamplingData, pPcData);
FIELD(cupti_pc_data, is_full, CUpti_PCSamplingData, hardwareBufferFull);
static_assert(sizeof(struct cupti_pc_attribute) == sizeof(CUpti_PCSamplingConfigurationInfo),
	      "size");
FIELD(cupti_pc_attribute, words, CUpti_PCSamplingConfigurationInfo, attributeData);
PC_SIZE(cupti_pc_config, attributes, CUpti_PCSamplingConfigurationInfoParams);
FIELD(cupti_pc_config, n, CUpti_PCSamplingConfigurationInfoParams, numAttributes);
PC_SIZE(cupti_pc_context, context, CUpti_PCSamplingEnableParams);
PC_SIZE(cupti_pc_context, context, CUpti_PCSamplingDisableParams);
PC_SIZE(cupti_pc_get, data, CUpti_PCSamplingGetDataParams);
PC_SIZE(cupti_pc_count, n, CUpti_PCSamplingGetNumStallReasonsParams);
PC_SIZE(cupti_pc_names, names, CUpti_PCSamplingGetStallReasonsParams);
FIELD(cupti_pc_names, indexes, CUpti_PCSamplingGetStallReasonsParams, stallReasonIndex);

FIELD(cupti_module, bytes, CUpti_ModuleResourceData, cubinSize);
FIELD(cupti_module, cubin, CUpti_ModuleResourceData, pCubin);
FIELD(cupti_launch_kernel, grid, cuLaunchKernel_params, gridDimX);
FIELD(cupti_launch_kernel, block, cuLaunchKernel_params, blockDimX);
FIELD(cupti_launch_kernel, shared, cuLaunchKernel_params, sharedMemBytes);
FIELD(cupti_launch_kernel, stream, cuLaunchKernel_params, hStream);
FIELD(cupti_launch_kernel, grid, cuLaunchCooperativeKernel_params, gridDimX);
FIELD(cupti_launch_kernel, stream, cuLaunchCooperativeKernel_params, hStream);
FIELD(cupti_launch_ex, config, cuLaunchKernelEx_params, config);
FIELD(cupti_launch_config, grid, CUlaunchConfig, gridDimX);
FIELD(cupti_launch_config, shared, CUlaunchConfig, sharedMemBytes);
FIELD(cupti_launch_config, stream, CUlaunchConfig, hStream);

PC_SIZE(abi_cupti_cubin_crc, crc, CUpti_GetCubinCrcParams);
FIELD(abi_cupti_cubin_crc, cubin, CUpti_GetCubinCrcParams, cubin);
PC_SIZE(abi_cupti_line, folder, CUpti_GetSassToSourceCorrelationParams);
FIELD(abi_cupti_line, function, CUpti_GetSassToSourceCorrelationParams, functionName);
FIELD(abi_cupti_line, line, CUpti_GetSassToSourceCorrelationParams, lineNumber);
FIELD(abi_cupti_line, pc, CUpti_GetSassToSourceCorrelationParams, pcOffset);
FIELD(abi_cupti_line, file, CUpti_GetSassToSourceCorrelationParams, fileName);

int main(void)
{
	printf("the declarations agree with CUPTI %d\n", CUPTI_API_VERSION);
	return 0;
}

#else

int main(void)
{
	printf("SKIP: no CUPTI headers of CUDA 13.0 or later\n");
	return 77;
}

#endif

# SPDX-License-Identifier: Apache-2.0
# mock.cmake - a libcupti for machines without a GPU, and the check of our own declarations of it.

# A libcupti without a GPU, as CUDA 13 and as CUDA 11.8 have it; found through HEADWAY_CUPTI.
foreach(version 13 11.8)
	add_library(mock_cupti_${version} MODULE ${CMAKE_CURRENT_SOURCE_DIR}/mock/cupti.c)
	set_target_properties(mock_cupti_${version} PROPERTIES
		PREFIX "" OUTPUT_NAME libcupti.so.${version} SUFFIX ""
		LIBRARY_OUTPUT_DIRECTORY ${collect_folder}/mock)
	target_include_directories(mock_cupti_${version} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/mock)
	target_link_libraries(mock_cupti_${version} PRIVATE headway_plain Threads::Threads)
	target_link_options(mock_cupti_${version} PRIVATE -Wl,-soname,libcupti.so.${version})
endforeach()
target_compile_definitions(mock_cupti_11.8 PRIVATE MOCK_OLD)
# Counters came with CUDA 12.6; planning and evaluating them takes a libnvperf_host beside libcupti.
target_sources(mock_cupti_13 PRIVATE
	${CMAKE_CURRENT_SOURCE_DIR}/mock/cupti_host.c ${CMAKE_CURRENT_SOURCE_DIR}/mock/cupti_pm.c)
add_library(mock_nvperf MODULE ${CMAKE_CURRENT_SOURCE_DIR}/mock/nvperf.c)
set_target_properties(mock_nvperf PROPERTIES
	PREFIX "" OUTPUT_NAME libnvperf_host SUFFIX ".so"
	LIBRARY_OUTPUT_DIRECTORY ${collect_folder}/mock)
target_link_libraries(mock_nvperf PRIVATE headway_plain)
target_link_options(mock_nvperf PRIVATE -Wl,-soname,libnvperf_host.so)

# The same with the range profiler, PC sampling and the host side, in a folder of its own: libnvperf_host must lie beside.
add_library(mock_profiler MODULE ${CMAKE_CURRENT_SOURCE_DIR}/mock/cupti.c
	${CMAKE_CURRENT_SOURCE_DIR}/mock/cupti_profiler.c)
add_library(mock_nvperf_beside MODULE ${CMAKE_CURRENT_SOURCE_DIR}/mock/nvperf.c)
foreach(pair mock_profiler:libcupti.so.13 mock_nvperf_beside:libnvperf_host.so)
	string(REPLACE ":" ";" pair ${pair})
	list(GET pair 0 target)
	list(GET pair 1 file)
	set_target_properties(${target} PROPERTIES
		PREFIX "" OUTPUT_NAME ${file} SUFFIX ""
		LIBRARY_OUTPUT_DIRECTORY ${collect_folder}/mock/profiler)
	target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/mock)
	target_link_libraries(${target} PRIVATE headway_plain Threads::Threads)
	target_link_options(${target} PRIVATE -Wl,-soname,${file})
endforeach()

# NVIDIA's own headers, where they are: abi_cupti compares ours with them.
find_path(CUPTI_INCLUDE_DIR cupti.h
	PATHS /usr/local/cuda/include /usr/local/cuda/extras/CUPTI/include)
mark_as_advanced(CUPTI_INCLUDE_DIR)
if(CUPTI_INCLUDE_DIR)
	target_include_directories(collect_abi_cupti SYSTEM PRIVATE ${CUPTI_INCLUDE_DIR})
	target_include_directories(collect_abi_cupti_profiler SYSTEM PRIVATE ${CUPTI_INCLUDE_DIR})
	target_include_directories(collect_abi_cupti_host SYSTEM PRIVATE
		${CMAKE_CURRENT_SOURCE_DIR}/mock/include ${CUPTI_INCLUDE_DIR})
endif()

# A libcuda.so.1 in a folder of its own: what finds it there believes in a GPU.
add_library(mock_cuda MODULE ${CMAKE_CURRENT_SOURCE_DIR}/mock/cuda.c)
set_target_properties(mock_cuda PROPERTIES
	PREFIX "" OUTPUT_NAME libcuda.so.1 SUFFIX ""
	LIBRARY_OUTPUT_DIRECTORY ${collect_folder}/mock/driver)
target_link_libraries(mock_cuda PRIVATE headway_plain Threads::Threads)
target_link_options(mock_cuda PRIVATE -Wl,-soname,libcuda.so.1)

# A libnvidia-ml.so.1 in a folder of its own.
add_library(mock_nvml MODULE ${CMAKE_CURRENT_SOURCE_DIR}/mock/nvml.c)
set_target_properties(mock_nvml PROPERTIES
	PREFIX "" OUTPUT_NAME libnvidia-ml.so.1 SUFFIX ""
	LIBRARY_OUTPUT_DIRECTORY ${collect_folder}/mock/nvml)
target_link_libraries(mock_nvml PRIVATE headway_plain)
target_link_options(mock_nvml PRIVATE -Wl,-soname,libnvidia-ml.so.1)

# A libtorch as PyTorch 2.11 has it, as far as observers of operators see it.
add_library(mock_torch MODULE ${CMAKE_CURRENT_SOURCE_DIR}/mock/libtorch.c)
set_target_properties(mock_torch PROPERTIES
	PREFIX "" OUTPUT_NAME libmock-torch SUFFIX ".so"
	LIBRARY_OUTPUT_DIRECTORY ${collect_folder}/mock)
target_link_libraries(mock_torch PRIVATE headway_plain)

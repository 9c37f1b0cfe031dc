# SPDX-License-Identifier: Apache-2.0
# collect.cmake - programs for the tests of the collector: what it is loaded into, and what reads its spools.
#
# Each collect/*.c is a program of that name in the folder COLLECT; none of them is sanitized, since a
# preloaded library cannot come before a sanitizer.

set(collect_folder ${CMAKE_CURRENT_BINARY_DIR}/collect)
find_path(NVTX_INCLUDE_DIR nvtx3/nvToolsExt.h
	PATHS /usr/local/cuda/include $ENV{CUDA_HOME}/include)
mark_as_advanced(NVTX_INCLUDE_DIR)
if(NOT NVTX_INCLUDE_DIR)
	summary_line("NVTX tests" "left out: nvtx3/nvToolsExt.h not found (a CUDA toolkit has it)")
endif()

find_path(OPENCL_INCLUDE_DIR CL/cl.h)
find_library(OPENCL_LIBRARY OpenCL)
mark_as_advanced(OPENCL_INCLUDE_DIR OPENCL_LIBRARY)
if(NOT OPENCL_INCLUDE_DIR OR NOT OPENCL_LIBRARY)
	summary_line("OpenCL tests" "left out: CL/cl.h or libOpenCL not found (opencl-headers, ocl-icd-opencl-dev)")
endif()

# A library that looks like cuFFT, in two releases, and a module that is linked with the other one.
foreach(release 12 11)
	add_library(collect_cufft${release} SHARED collect/variant/fake_cufft.c)
	set_target_properties(collect_cufft${release} PROPERTIES
		OUTPUT_NAME fake-cufft${release} LIBRARY_OUTPUT_DIRECTORY ${collect_folder})
	target_compile_definitions(collect_cufft${release} PRIVATE FAKE_VERSION=${release})
	target_link_libraries(collect_cufft${release} PRIVATE headway_plain)
	# As cuFFT's, symbols have the release as their version.
	target_link_options(collect_cufft${release} PRIVATE -Wl,--default-symver)
endforeach()
add_library(collect_cufft_module MODULE collect/variant/cufft_module.c)
set_target_properties(collect_cufft_module PROPERTIES
	OUTPUT_NAME cufft-module LIBRARY_OUTPUT_DIRECTORY ${collect_folder})
target_link_libraries(collect_cufft_module PRIVATE headway_plain collect_cufft11)

file(GLOB collect_programs CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/collect/*.c)
foreach(source IN LISTS collect_programs)
	get_filename_component(name ${source} NAME_WE)
	if(name MATCHES "^nvtx" AND NOT NVTX_INCLUDE_DIR)
		continue()
	endif()
	if(name MATCHES "^opencl" AND (NOT OPENCL_INCLUDE_DIR OR NOT OPENCL_LIBRARY))
		continue()
	endif()
	add_executable(collect_${name} ${source})
	set_target_properties(collect_${name} PROPERTIES
		OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${collect_folder})
	if(NVTX_INCLUDE_DIR)
		target_include_directories(collect_${name} SYSTEM PRIVATE ${NVTX_INCLUDE_DIR})
	endif()
	target_link_libraries(collect_${name} PRIVATE headway_plain Threads::Threads)
	if(name STREQUAL "cufft_target")
		target_link_libraries(collect_${name} PRIVATE collect_cufft12)
	endif()
	if(name STREQUAL "opencl_target")
		target_link_libraries(collect_${name} PRIVATE ${OPENCL_LIBRARY})
	endif()
endforeach()

# What samples are taken of: lines are wanted, frame pointers are not. Once more as a static program, which
# the collector cannot be loaded into.
add_executable(collect_burn_static collect/burn.c)
set_target_properties(collect_burn_static PROPERTIES
	OUTPUT_NAME burn_static RUNTIME_OUTPUT_DIRECTORY ${collect_folder})
target_link_options(collect_burn_static PRIVATE -static)
target_link_libraries(collect_burn_static PRIVATE headway_plain Threads::Threads)
foreach(name collect_burn collect_burn_static)
	target_compile_options(${name} PRIVATE -O2 -g -fomit-frame-pointer)
endforeach()

list(APPEND test_environment
	"COLLECT=${collect_folder}"
	"COLLECT_LIBRARY=$<TARGET_FILE:headway_collect>")

# The collector with something that takes stacks on demand.
add_library(collect_stacks MODULE collect/variant/stack_trigger.c ${collect_sources})
set_target_properties(collect_stacks PROPERTIES
	OUTPUT_NAME headway-collect-stacks LIBRARY_OUTPUT_DIRECTORY ${collect_folder})
target_link_libraries(collect_stacks PRIVATE headway_plain)

# A library that loader_target opens.
add_library(collect_late_library MODULE collect/variant/late_library.c)
set_target_properties(collect_late_library PROPERTIES
	OUTPUT_NAME late-library LIBRARY_OUTPUT_DIRECTORY ${collect_folder})
target_link_libraries(collect_late_library PRIVATE headway_plain)

if(NVTX_INCLUDE_DIR)
	add_library(collect_nvtx_library MODULE collect/variant/nvtx_library.c)
	set_target_properties(collect_nvtx_library PROPERTIES
		OUTPUT_NAME nvtx-library LIBRARY_OUTPUT_DIRECTORY ${collect_folder})
	target_include_directories(collect_nvtx_library SYSTEM PRIVATE ${NVTX_INCLUDE_DIR})
	target_link_libraries(collect_nvtx_library PRIVATE headway_plain)
endif()
if(OPENCL_INCLUDE_DIR AND OPENCL_LIBRARY)
	# Another layer, and the target as a library that is opened.
	add_library(collect_opencl_layer MODULE collect/variant/opencl_layer.c)
	add_library(collect_opencl_plugin MODULE collect/opencl_target.c)
	target_compile_definitions(collect_opencl_plugin PRIVATE main=plugin_main)
	target_link_libraries(collect_opencl_plugin PRIVATE ${OPENCL_LIBRARY} Threads::Threads)
	set_target_properties(collect_opencl_plugin PROPERTIES C_VISIBILITY_PRESET default)
	foreach(name layer plugin)
		set_target_properties(collect_opencl_${name} PROPERTIES
			OUTPUT_NAME opencl-${name} LIBRARY_OUTPUT_DIRECTORY ${collect_folder})
		target_link_libraries(collect_opencl_${name} PRIVATE headway_plain)
	endforeach()
endif()
include(mock.cmake)
include(torture/torture.cmake)

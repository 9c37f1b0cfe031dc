# SPDX-License-Identifier: Apache-2.0
# demo.cmake - what `headway demo` needs where Headway is installed: its script, the programs that it records, and two recordings.
#
# The OpenCL program is linked with a library of ours that has OpenCL's names and nothing behind them: where it runs the loader takes the
# real one, and what is built does not depend on which one is installed here. It needs OpenCL's headers; without them it is left out.

set(demo_folder ${CMAKE_INSTALL_DATADIR}/headway/demo)
install(PROGRAMS scripts/demo DESTINATION ${demo_folder})
install(FILES examples/mlp.py examples/mlp_cl.c examples/example_cl.h tests/data/nsys/mlp_sync.hwy tests/data/nsys/mlp_async.hwy DESTINATION ${demo_folder})

# The headers are the same for every processor, so that a cross build may take those of this machine.
find_path(OPENCL_HEADERS CL/cl.h NO_CMAKE_FIND_ROOT_PATH)
mark_as_advanced(OPENCL_HEADERS)
if(NOT OPENCL_HEADERS OR HEADWAY_SANITIZE OR HEADWAY_FUZZERS)
	summary_line("demo" "without its OpenCL program: no CL/cl.h (opencl-headers)")
	return()
endif()
set(demo_build ${PROJECT_BINARY_DIR}/demo-opencl)
file(COPY ${OPENCL_HEADERS}/CL DESTINATION ${demo_build})

set(demo_names "")
foreach(source mlp_cl.c example_cl.h)
	file(READ ${PROJECT_SOURCE_DIR}/examples/${source} text)
	string(REGEX MATCHALL "cl[A-Z][A-Za-z]+\\(" calls "${text}")
	list(APPEND demo_names ${calls})
endforeach()
list(REMOVE_DUPLICATES demo_names)
list(SORT demo_names)
set(text "")
foreach(call IN LISTS demo_names)
	string(REPLACE "(" "" name ${call})
	string(APPEND text "__attribute__((visibility(\"default\"))) void ${name}(void);\nvoid ${name}(void)\n{\n}\n")
endforeach()
file(CONFIGURE OUTPUT ${demo_build}/names.c CONTENT "@text@" @ONLY)

add_library(demo_opencl_names SHARED ${demo_build}/names.c)
set_target_properties(demo_opencl_names PROPERTIES
	OUTPUT_NAME OpenCL SOVERSION 1 LIBRARY_OUTPUT_DIRECTORY ${demo_build})
add_executable(demo_mlp_cl examples/mlp_cl.c)
set_target_properties(demo_mlp_cl PROPERTIES
	OUTPUT_NAME demo-mlp_cl C_EXTENSIONS ON SKIP_BUILD_RPATH ON)
# -g: the demo names the line that waits.
target_compile_options(demo_mlp_cl PRIVATE -g -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
target_include_directories(demo_mlp_cl SYSTEM PRIVATE ${demo_build})
target_link_libraries(demo_mlp_cl PRIVATE demo_opencl_names)
install(PROGRAMS $<TARGET_FILE:demo_mlp_cl> DESTINATION ${CMAKE_INSTALL_LIBDIR}/headway)

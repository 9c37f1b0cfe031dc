# SPDX-License-Identifier: Apache-2.0
# faults.cmake - the recorder where its calls fail: a part in `make test`, all of it by `make faults`.
#
# Not under a sanitizer, whose runtime wants to come before every preloaded library.

if(NOT TARGET headway OR NOT prefix STREQUAL "")
	return()
endif()

add_library(headway_inject MODULE faults/inject.c)
set_target_properties(headway_inject PROPERTIES OUTPUT_NAME headway-inject)
# The compiler may not turn a stand-in of calloc into a call of calloc.
target_compile_options(headway_inject PRIVATE -fno-builtin)
target_link_libraries(headway_inject PRIVATE headway_plain)
list(APPEND test_environment "INJECT=$<TARGET_FILE:headway_inject>")

test_add(faults 300 ${CMAKE_CURRENT_SOURCE_DIR}/faults/run --every 25)

# SPDX-License-Identifier: Apache-2.0
# torture.cmake - the program of tests/torture and its plugin; `run` beside it compares seeds.
#
# Nothing in the program is bound lazily: resolving a symbol takes more stack than its acts leave.

file(GLOB torture_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/torture/*.c)
list(FILTER torture_sources EXCLUDE REGEX "/plugin\\.c$")
add_executable(torture ${torture_sources})
target_compile_options(torture PRIVATE -O1 -g -Wno-unused-result)
target_link_libraries(torture PRIVATE headway_plain Threads::Threads ${CMAKE_DL_LIBS} util rt)
target_link_options(torture PRIVATE -Wl,-z,now)
set_target_properties(torture PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/torture)

add_library(torture_plugin MODULE torture/plugin.c)
target_link_libraries(torture_plugin PRIVATE headway_plain Threads::Threads)
set_target_properties(torture_plugin PROPERTIES PREFIX "" OUTPUT_NAME torture-plugin
	LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/torture)

list(APPEND test_environment "TORTURE=$<TARGET_FILE:torture>")

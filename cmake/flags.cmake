# SPDX-License-Identifier: Apache-2.0
# flags.cmake - headway_flags: how every file of the project is compiled and linked.

# -O2: the hot loops are written for it, and -O3 only grows the binary.
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG "-Og -g3")
if(HEADWAY_FUZZERS)
	# As many inputs a second as possible, with asserts.
	set(CMAKE_C_FLAGS_DEBUG "-O2 -g1")
elseif(HEADWAY_SANITIZE)
	# What sanitizers print has files and lines: what debuggers want beyond that takes a fifth of this build's time.
	set(CMAKE_C_FLAGS_DEBUG "-Og -g1")
endif()

# headway_plain: without sanitizers, for what runs inside programs that have none.
add_library(headway_plain INTERFACE)
target_include_directories(headway_plain INTERFACE
	${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(headway_plain INTERFACE
	_GNU_SOURCE HEADWAY_VERSION="${PROJECT_VERSION}")
target_compile_options(headway_plain INTERFACE
	-Wall -Wextra -Wshadow -Wconversion
	# Messages and asserts name files as the repository does, wherever it was built.
	-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(HEADWAY_WERROR)
	target_compile_options(headway_plain INTERFACE -Werror)
endif()

add_library(headway_flags INTERFACE)
target_link_libraries(headway_flags INTERFACE headway_plain)
if(HEADWAY_SANITIZE)
	target_compile_options(headway_flags INTERFACE
		-fsanitize=${HEADWAY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
	string(REPLACE "fuzzer-no-link," "" link_sanitize "${HEADWAY_SANITIZE}")
	target_link_options(headway_flags INTERFACE -fsanitize=${link_sanitize})
	# Tests start sanitized programs thousands of times. At a place that is fixed when they are linked, 500,000 addresses
	# need not be written at each start, which is two fifths of a short run's time.
	if(NOT HEADWAY_FUZZERS)
		target_link_options(headway_flags INTERFACE
			$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
	endif()
	summary_line("sanitizers" "${HEADWAY_SANITIZE}")
endif()

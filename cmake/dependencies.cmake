# SPDX-License-Identifier: Apache-2.0
# dependencies.cmake - headway_deps: zstd, sqlite3 and zlib, static where possible.
#
# The release binary must start on a machine that has glibc and nothing else, so the archive is
# taken before the shared library. A shared fallback is said in the summary.

add_library(headway_deps INTERFACE)
set(HEADWAY_DEPS_ARE_STATIC ON)

function(dependency_add name header package)
	find_path(${name}_INCLUDE_DIR ${header})
	if(HEADWAY_STATIC_DEPS)
		find_library(${name}_ARCHIVE lib${name}.a)
	endif()
	find_library(${name}_LIBRARY ${name})
	mark_as_advanced(${name}_INCLUDE_DIR ${name}_ARCHIVE ${name}_LIBRARY)

	if(NOT ${name}_INCLUDE_DIR OR NOT (${name}_ARCHIVE OR ${name}_LIBRARY))
		message(FATAL_ERROR "${name} not found: run scripts/setup, or install ${package}")
	endif()
	if(HEADWAY_STATIC_DEPS AND ${name}_ARCHIVE)
		target_link_libraries(headway_deps INTERFACE ${${name}_ARCHIVE})
		summary_line("${name}" "static")
	else()
		target_link_libraries(headway_deps INTERFACE ${${name}_LIBRARY})
		summary_line("${name}" "shared: the binary needs lib${name}.so where it runs")
		set(HEADWAY_DEPS_ARE_STATIC OFF PARENT_SCOPE)
	endif()
	target_include_directories(headway_deps SYSTEM INTERFACE ${${name}_INCLUDE_DIR})
endfunction()

dependency_add(zstd zstd.h libzstd-dev)
dependency_add(sqlite3 sqlite3.h libsqlite3-dev)
dependency_add(z zlib.h zlib1g-dev)

# sqlite3's archive asks for these three; with glibc 2.34 all but libm are part of libc.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
target_link_libraries(headway_deps INTERFACE m ${CMAKE_DL_LIBS} Threads::Threads)

# SPDX-License-Identifier: Apache-2.0
# cli.cmake - tests that drive the binary: each cli/*.sh is one, and so are the checks beside them.
#
# A test finds its inputs in HEADWAY (the binary), DATA (tests/data) and SHARED (a folder of larger
# recordings beside the checkout, empty where there is none).

if(NOT TARGET headway)
	return()
endif()

# What the scripts use to look into reports.
foreach(name stacks_of os_of samples_of messages_of digests_of ranks_of)
	add_executable(${name} cli/${name}.c)
	target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/unit)
	target_link_libraries(${name} PRIVATE headway_flags headway_static)
	string(TOUPPER ${name} variable)
	list(APPEND test_environment "${variable}=$<TARGET_FILE:${name}>")
endforeach()
add_executable(parquet_of cli/parquet_of.c)
target_include_directories(parquet_of PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/unit)
target_link_libraries(parquet_of PRIVATE headway_flags headway_static)
list(APPEND test_environment "PARQUET_OF=$<TARGET_FILE:parquet_of>")

# Under the sanitizers these are the long set (label "long", `make test-all`): what is sanitized, headway itself, runs the same
# code in another test, and what only they try is not sanitized.
# - unchanged: what recorded programs notice; headway's part is that of profile and parent.
# - mpi_languages: how Fortran, Python and opened libraries reach MPI; what they send is read as in mpi and mpi_waits.
# - job_clocks: the clocks of real ranks; the arithmetic is unit.job_clock_test, and job, job_answers read jobs.
# - jobs_slurm: ranks that srun starts; jobs_launch has ranks that mpirun starts, unit.job_launchers_test the words of both.
# - recipes_answers: shell scripts around digests and Parquet; the commands are those of digest and parquet.
set(long_when_sanitized "unchanged|mpi_languages|job_clocks|jobs_slurm|recipes_answers")

file(GLOB cli_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cli/*.sh)
foreach(script IN LISTS cli_tests)
	get_filename_component(name ${script} NAME_WE)
	# What these try is scripts, lines of the documentation, what another program reads, and what the recorded program notices, in which
	# nothing is sanitized: once is enough, and a cluster is dear.
	if(name MATCHES "^(recipes_(slurm|dask)|ci|ci_lines|coming_from|demo|export_perfetto|mpi_odd|osrt_unchanged)$" AND NOT prefix STREQUAL "")
		continue()
	endif()
	# The exports are tried on every recording and every public trace there is.
	set(limit 300)
	if(name MATCHES "^export")
		set(limit 900)
	endif()
	test_add(cli.${name} ${limit} bash ${script})
	if(HEADWAY_SANITIZE AND name MATCHES "^(${long_when_sanitized})$")
		set_tests_properties(${prefix}cli.${name} PROPERTIES LABELS long)
	endif()
endforeach()

# Once is enough for these.
if(NOT prefix STREQUAL "")
	return()
endif()
foreach(name check_binary check_collect check_examples check_findings check_lang check_npm check_package check_promises check_protocol check_siblings check_rooms check_house check_zh compare_nsys)
	file(GLOB script CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name})
	if(script)
		test_add(${name} 600 ${script})
	endif()
endforeach()
# Skipped where build-aarch64/ or qemu-user is not there; all recordings by `make aarch64-test`.
test_add(aarch64 300 ${CMAKE_CURRENT_SOURCE_DIR}/aarch64 gpu/mlp_sync breakdown)

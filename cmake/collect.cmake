# SPDX-License-Identifier: Apache-2.0
# collect.cmake - libheadway-collect.so: what is loaded into the program that is profiled.
#
# It is somebody else's process: libc only, nothing of ours visible but the entry points that the loader,
# the CUDA driver and NVTX look for, and never unloaded (its exit handlers and thread keys stay behind).

# The folders of src/collect/ that are libraries of their own (sibling(), below) are not part of this one.
set(collect_room ${PROJECT_SOURCE_DIR}/src/collect)
file(GLOB collect_sources CONFIGURE_DEPENDS
	${collect_room}/*.c ${collect_room}/cuda/*.c ${collect_room}/kernels/*.c ${collect_room}/nvtx/*.c
	${collect_room}/python/*.c ${collect_room}/torch/*.c ${PROJECT_SOURCE_DIR}/src/spool/*.c)
# The parent's side of the spool: it maps files, which the collector must not.
list(FILTER collect_sources EXCLUDE REGEX "/spool/elf_file\\.c$")
set(collect_exports ${PROJECT_SOURCE_DIR}/cmake/libheadway-collect.map)

add_library(headway_collect MODULE ${collect_sources})
set_target_properties(headway_collect PROPERTIES
	OUTPUT_NAME headway-collect
	LINK_DEPENDS ${collect_exports})
target_link_libraries(headway_collect PRIVATE headway_plain)
target_compile_options(headway_collect PRIVATE -ftls-model=initial-exec)
target_link_options(headway_collect PRIVATE
	-Wl,--version-script=${collect_exports} -Wl,--no-undefined -Wl,--as-needed
	-Wl,-z,nodelete -Wl,-z,now)

# sibling(NAME): libheadway-NAME.so from src/collect/NAME/, with sibling.c instead of a spool of its own. It
# interposes on symbols, and is preloaded only when its source is asked for.
function(sibling name)
	file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/collect/${name}/*.c)
	if(NOT sources)
		return()
	endif()
	set(exports ${PROJECT_SOURCE_DIR}/cmake/libheadway-${name}.map)
	add_library(headway_${name} MODULE ${sources}
		${PROJECT_SOURCE_DIR}/src/collect/sibling/sibling.c)
	set_target_properties(headway_${name} PROPERTIES
		OUTPUT_NAME headway-${name}
		LINK_DEPENDS ${exports})
	target_link_libraries(headway_${name} PRIVATE headway_plain)
	target_compile_options(headway_${name} PRIVATE -ftls-model=initial-exec)
	target_link_options(headway_${name} PRIVATE
		-Wl,--version-script=${exports} -Wl,--no-undefined -Wl,--as-needed
		-Wl,-z,nodelete -Wl,-z,now)
endfunction()
sibling(osrt)
sibling(opencl)
sibling(nccl)
sibling(mpi)
sibling(cufft)
sibling(cublas)

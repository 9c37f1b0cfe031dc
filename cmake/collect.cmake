# collect.cmake - libheadway-collect.so: what is loaded into the program that is profiled.
#
# It is somebody else's process: libc only, nothing of ours visible but the entry points that the loader,
# the CUDA driver and NVTX look for, and never unloaded (its exit handlers and thread keys stay behind).

file(GLOB collect_sources CONFIGURE_DEPENDS
	${PROJECT_SOURCE_DIR}/src/collect/*.c ${PROJECT_SOURCE_DIR}/src/record/*.c)
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

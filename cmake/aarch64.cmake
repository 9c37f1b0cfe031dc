# SPDX-License-Identifier: Apache-2.0
# aarch64.cmake - the toolchain of the preset `aarch64`: Debian's cross compiler, and the libraries in build-aarch64/sysroot, which
# scripts/sysroot-aarch64 makes.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build-aarch64/sysroot)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
# Only the man pages and the completion of words are made by running what was built.
find_program(QEMU_AARCH64 NAMES qemu-aarch64-static qemu-aarch64)
mark_as_advanced(QEMU_AARCH64)
if(QEMU_AARCH64)
	set(CMAKE_CROSSCOMPILING_EMULATOR "${QEMU_AARCH64};-L;${CMAKE_SYSROOT}")
endif()

/* SPDX-License-Identifier: Apache-2.0 */
/* wheel_folders.h - where packages of the Pythons at hand lie, found without starting one.
 *
 * A machine without a CUDA toolkit often has NVIDIA's libraries as wheels of a Python on PATH.
 * The doctor asks each Python; that takes too long for every recording. Here the usual folders
 * beside each folder of PATH are looked at.
 */
#ifndef HWY_RUN_COUNTERS_WHEEL_FOLDERS_H
#define HWY_RUN_COUNTERS_WHEEL_FOLDERS_H

/* Yields the folders, those of the first Python on PATH first, NULL at the end; to be freed by
 * wheel_folders_free. */
char **wheel_folders_find(const char *path, const char *home);
void wheel_folders_free(char **folders);

#endif

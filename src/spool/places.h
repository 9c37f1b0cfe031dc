/* SPDX-License-Identifier: Apache-2.0 */
/* places.h - where the vendor's libraries are looked for, and which interpreters are known: one
 * list for the collector that opens them and for the parent that tells whether they are there. */
#ifndef HWY_SPOOL_PLACES_H
#define HWY_SPOOL_PLACES_H

/* Each of the lists of names and folders below ends with NULL. */
extern const char *const places_cupti_names[]; /* file names of CUPTI, the best one first */
/* Folders of the CUDA toolkit that may hold CUPTI. */
extern const char *const places_cupti_folders[];
/* Folders below a site-packages that may hold CUPTI. */
extern const char *const places_cupti_wheels[];

/* Minor versions of CPython 3 whose stacks spool/python_layout.c can read. */
enum { PLACES_PYTHON_OLDEST = 10, PLACES_PYTHON_NEWEST = 14 };

#endif

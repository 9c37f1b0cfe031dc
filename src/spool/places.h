/* places.h - where the vendor's libraries are looked for, and which interpreters are known: one list for the
 * collector that opens them and for the parent that tells whether they are there. */
#ifndef HWY_SPOOL_PLACES_H
#define HWY_SPOOL_PLACES_H

/* Each list ends with NULL. */
extern const char *const places_cupti_names[];   /* file names, the best first */
extern const char *const places_cupti_folders[]; /* folders of the CUDA toolkit */
extern const char *const places_cupti_wheels[];  /* folders below a site-packages */

/* Minor versions of CPython 3 whose stacks spool/python_layout.c can read. */
enum { PLACES_PYTHON_OLDEST = 10, PLACES_PYTHON_NEWEST = 14 };

#endif

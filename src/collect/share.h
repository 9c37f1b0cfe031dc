/* share.h - what libheadway-collect.so offers to its siblings.
 *
 * Sources that interpose on symbols of their own (OS calls, OpenCL) are libraries of their own, preloaded
 * only when asked for, each from src/collect/NAME/. They have no spool: they find the table below in the
 * collect library, which is always preloaded with them, and sibling.c makes collect.h's functions of it.
 * The libraries are built together; 'size' tells an old one apart all the same.
 */
#ifndef HWY_COLLECT_SHARE_H
#define HWY_COLLECT_SHARE_H

#include "collect/collect.h"

struct collect_share {
	uint64_t size;
	struct rec_control *(*control)(void); /* NULL: nothing is recorded in this process */
	bool (*is_on)(uint32_t traces);
	uint32_t (*tid)(void);
	void *(*reserve)(enum rec_type type, unsigned slots);
	void (*publish)(void);
	void (*abandon)(void); /* what was reserved was left by longjmp: it is not published */
	uint32_t (*string)(const char *text, size_t length);
	void (*note)(int severity, const char *text);
	void (*drop)(const char *reason, uint64_t count);
	void (*property)(const char *name, const char *value);
	void (*stack)(enum rec_why why, int64_t start, uint32_t correlation);
	/* Looks which shared objects came and went, under a lock of the loader's. */
	void (*look_at_modules)(void);
	/* True while this thread is inside the collector: its own calls are not recorded. */
	bool (*is_inside)(void);
	/* True once the program has restricted its own system calls: a sibling is silent then. */
	const bool *is_sealed;
	const char *from,
		*to; /* where the collect library lies: its locks and threads are not the program's */
};

/* Exported by libheadway-collect.so; a sibling finds it by dlsym. */
const struct collect_share *headway_collect_share(void);

/* In a sibling: false when there is no collect library in this process. */
bool sibling_connect(void);
bool sibling_is_inside(void);
extern const bool *sibling_is_sealed; /* after sibling_connect */
bool sibling_has(uint64_t address);   /* whether that is in the collect library */
void sibling_look_at_modules(void);
void sibling_abandon(void);

#endif

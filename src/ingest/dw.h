/* SPDX-License-Identifier: Apache-2.0 */
/* dw.h - our own declarations of the part of libdw (elfutils) that we call; the library is opened
 * at run time.
 *
 * libdw has kept this ABI since 0.158 (2014): its functions are versioned, and the structs below,
 * which the caller allocates, have not grown. tests/collect/abi_dw.c compares this file with the
 * headers of elfutils.
 */
#ifndef HWY_INGEST_DW_H
#define HWY_INGEST_DW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct Dwfl Dwfl;
typedef struct Dwfl_Module Dwfl_Module;
typedef struct Dwfl_Thread Dwfl_Thread;
typedef struct Dwfl_Frame Dwfl_Frame;
typedef struct Dwfl_Line Dwfl_Line;
typedef struct Dwarf_Files_s Dwarf_Files;
typedef struct Elf Elf;

struct dw_die { /* the layout of Dwarf_Die, an entry of the debug information */
	void *address, *unit, *abbreviation;
	long padding;
};
struct dw_attribute { /* the layout of Dwarf_Attribute */
	unsigned code, form;
	void *value, *unit;
};
/* DWARF's numbers: the tag of an inlined function, and the attributes that say where it is
 * called. */
enum { DW_INLINED = 0x1d, DW_CALL_FILE = 0x58, DW_CALL_LINE = 0x59 };

struct dw_callbacks { /* the layout of Dwfl_Callbacks */
	void *find_elf, *find_debuginfo, *section_address;
	char **debuginfo_path;
};
struct dw_thread_callbacks { /* the layout of Dwfl_Thread_Callbacks */
	pid_t (*next_thread)(Dwfl *, void *, void **);
	bool (*get_thread)(Dwfl *, pid_t, void *, void **);
	bool (*memory_read)(Dwfl *, uint64_t, uint64_t *, void *);
	bool (*set_initial_registers)(Dwfl_Thread *, void *);
	void (*detach)(Dwfl *, void *);
	void (*thread_detach)(Dwfl_Thread *, void *);
};

/* X(result, name, arguments) stands for each function that is looked up in the library libdw. */
#define DW_FUNCTIONS(X)                                                                            \
	X(Dwfl *, dwfl_begin, (const struct dw_callbacks *))                                       \
	X(void, dwfl_end, (Dwfl *))                                                                \
	X(void, dwfl_report_begin, (Dwfl *))                                                       \
	X(void, dwfl_report_begin_add, (Dwfl *))                                                   \
	X(Dwfl_Module *, dwfl_report_module, (Dwfl *, const char *, uint64_t, uint64_t))           \
	X(Dwfl_Module *, dwfl_report_elf,                                                          \
	  (Dwfl *, const char *, const char *, int, uint64_t, bool))                               \
	X(int, dwfl_report_end,                                                                    \
	  (Dwfl *, int (*)(Dwfl_Module *, void *, const char *, uint64_t, void *), void *))        \
	X(bool, dwfl_attach_state,                                                                 \
	  (Dwfl *, Elf *, pid_t, const struct dw_thread_callbacks *, void *))                      \
	X(int, dwfl_getthread_frames, (Dwfl *, pid_t, int (*)(Dwfl_Frame *, void *), void *))      \
	X(bool, dwfl_frame_pc, (Dwfl_Frame *, uint64_t *, bool *))                                 \
	X(bool, dwfl_thread_state_registers, (Dwfl_Thread *, int, unsigned, const uint64_t *))     \
	X(Dwfl_Module *, dwfl_addrmodule, (Dwfl *, uint64_t))                                      \
	X(const char *, dwfl_module_addrname, (Dwfl_Module *, uint64_t))                           \
	X(Dwfl_Line *, dwfl_module_getsrc, (Dwfl_Module *, uint64_t))                              \
	X(const char *, dwfl_lineinfo,                                                             \
	  (Dwfl_Line *, uint64_t *, int *, int *, uint64_t *, uint64_t *))                         \
	X(struct dw_die *, dwfl_module_addrdie, (Dwfl_Module *, uint64_t, uint64_t *))             \
	X(int, dwarf_getscopes, (struct dw_die *, uint64_t, struct dw_die **))                     \
	X(int, dwarf_tag, (struct dw_die *))                                                       \
	X(struct dw_attribute *, dwarf_attr, (struct dw_die *, unsigned, struct dw_attribute *))   \
	X(int, dwarf_formudata, (struct dw_attribute *, uint64_t *))                               \
	X(int, dwarf_getsrcfiles, (struct dw_die *, Dwarf_Files **, size_t *))                     \
	X(const char *, dwarf_filesrc, (Dwarf_Files *, size_t, uint64_t *, uint64_t *))

struct dw {
#define X(result, name, arguments) result(*name) arguments;
	DW_FUNCTIONS(X)
#undef X
	struct dw_callbacks callbacks;
};

/* Yields the functions of the library; NULL where libdw is not installed. */
const struct dw *dw_open(void);

#endif

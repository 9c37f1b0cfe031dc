/* SPDX-License-Identifier: Apache-2.0 */
/* handed.c - what this process hands on to programs that it becomes or starts, and hides from
 * itself.
 *
 * A program sees the environment that it would have without us: the constructor takes the run's
 * variables out of it, and whoever starts another program puts them in again. What is handed on
 * was copied when this process began, from its own environment and its own copy of the settings,
 * and lies in memory that is read-only since then: no other process has a say in which library a
 * program loads.
 *
 * exec may be called on a small stack, in a signal handler and in a vfork child, which runs in
 * its parent's memory. So each call has memory of its own, mapped for it. A vfork child cannot
 * free its memory when exec succeeds: the memory is kept for the next child of the same thread.
 */
#include "collect/handed.h"

#include <elf.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

#include "collect/collect.h"
#include "collect/handed_list.h"
#include "collect/process.h"
#include "collect/sys.h"
#include "spool/control.h"
#include "spool/libraries.h"
#include "spool/preload.h"

extern char **environ;

/* A function that is not made part of its caller: its frame is gone before the caller calls the
 * next one, so that the stack of exec stays small. */
#define NOT_INLINE __attribute__((noinline))

enum { MOST_VARIABLES = 1 << 20, MOST_TEXT = 1 << 20, PAGE = 4096 };
/* Variables that hold one value, and lists to which ours are appended. */
enum { RUN, CUDA, NVTX, NCCL, SINGLES };
enum { PRELOAD, LAYERS, LISTS };
static const char *const single_names[SINGLES] = {"HEADWAY_RUN", "CUDA_INJECTION64_PATH",
						  "NVTX_INJECTION64_PATH", "NCCL_PROFILER_PLUGIN"};
static const char *const list_names[LISTS] = {"LD_PRELOAD", "OPENCL_LAYERS"};

/* What is handed on; read-only once handed_init is done. */
static const struct handed_texts {
	/* Bytes of all this, in whole pages. A copy that is writable lies behind it, for
	 * handed_variable. */
	size_t size;
	char library[1024];
	const char *singles[SINGLES]; /* as "NAME=value"; NULL: the run does not use the variable */
	const char *ours[LISTS];      /* what is appended to a list; NULL: nothing */
	/* Of the list OPENCL_LAYERS: the whole value that this process was given, and the value
	 * without ours, which is what its environment says now (NULL: no such variable). */
	const char *layers, *layers_left;
	char text[];
} * texts;

bool handed_is_hidden;
/* The run's state, in which programs are counted; not NULL where 'texts' is not. */
static struct rec_control *shared;

/* ---- the beginning --------------------------------------------------------------------------- */

static const char *variable_of_environment(const char *name)
{
	for (char **at = environ; at && *at; at++) {
		const char *value = handed_list_value(*at, name);
		if (value)
			return value;
	}
	return NULL;
}

/* The value of a variable that the run set; NULL: there is none, or the user's own value stands
 * in its place. */
static const char *single_of_run(int single, const char *library)
{
	const char *value = variable_of_environment(single_names[single]);
	bool is_ours = value && (single != NCCL || preload_is_nccl_plugin(value, library));
	return is_ours ? value : NULL;
}

/* Programs of Go make system calls of their own, exec too: what they start gets the collector
 * only by inheriting the environment. They are known by a note in the executable. */
static bool is_go_program(void)
{
	const Elf64_Phdr *parts = (const void *)getauxval(AT_PHDR);
	unsigned long n = parts ? getauxval(AT_PHNUM) : 0;
	unsigned long own = 0;
	while (own < n && parts[own].p_type != PT_PHDR)
		own++;
	/* How far the program lies from the addresses in its headers; without that nothing can
	 * be looked at. */
	uintptr_t bias = own < n ? (uintptr_t)parts - parts[own].p_vaddr : 0;
	for (unsigned long i = 0; i < n && own < n; i++) {
		if (parts[i].p_type != PT_NOTE || parts[i].p_memsz < sizeof(Elf64_Nhdr) + 4)
			continue;
		const Elf64_Nhdr *note = (const void *)(bias + parts[i].p_vaddr);
		if (note->n_namesz == 4 && memcmp(note + 1, "Go\0", 4) == 0)
			return true;
	}
	return false;
}

/* Appends a text to the texts; 'end' is where the next one goes. */
static const char *keep_text(char **end, const char *first, const char *second)
{
	char *kept = *end;
	*end = stpcpy(stpcpy(kept, first), second) + 1;
	return kept;
}

static const char *keep_list_ours(char **end, const char *value, const char *library)
{
	for (const char *part = value, *next; value && *part; part = next) {
		size_t size = handed_list_part(part, &next);
		if (!preload_is_ours(part, size, library))
			continue;
		char *kept = *end;
		*(char *)mempcpy(kept, part, size) = '\0';
		*end = kept + size + 1;
		return kept;
	}
	return NULL;
}

static void fill_texts(struct handed_texts *into, const struct rec_control *control)
{
	char *end = into->text;
	strcpy(into->library, control->library);
	char *block = end;
	end += preload_write(end, control->library, control->traces) + 1;
	into->ours[PRELOAD] = block;
	const char *layers = variable_of_environment(list_names[LAYERS]);
	into->ours[LAYERS] = keep_list_ours(&end, layers, control->library);
	if (into->ours[LAYERS]) {
		into->layers = keep_text(&end, layers, "");
		char *left = end;
		keep_text(&end, layers, "");
		into->layers_left =
			handed_list_remove_ours(left, into->ours[LAYERS], control->library) ? left
											    : NULL;
	}
	for (int i = 0; i < SINGLES; i++) {
		const char *value = single_of_run(i, control->library);
		if (!value)
			continue;
		char *kept = end;
		end = stpcpy(stpcpy(end, single_names[i]), "=");
		keep_text(&end, value, "");
		into->singles[i] = kept;
	}
}

static size_t texts_size(const struct rec_control *control)
{
	const char *layers = variable_of_environment(list_names[LAYERS]);
	size_t size = sizeof(struct handed_texts) + preload_room(control->library) + 1 +
		      (layers ? 3 * (strlen(layers) + 1) : 0);
	for (int i = 0; i < SINGLES; i++) {
		const char *value = single_of_run(i, control->library);
		size += value ? strlen(single_names[i]) + strlen(value) + 2 : 0;
	}
	return (size + PAGE - 1) / PAGE * PAGE;
}

/* The array is changed in place and keeps its beginning: main() and constructors were given its
 * address, too. */
void handed_hide(char **variables)
{
	char **to = variables;
	for (char **at = variables; *at; at++) {
		bool keep = true;
		for (int i = 0; i < SINGLES; i++)
			keep &= !texts->singles[i] || strcmp(*at, texts->singles[i]) != 0 ||
				(i == CUDA && shared->has_driver);
		for (int i = 0; i < LISTS; i++) {
			const char *value = handed_list_value(*at, list_names[i]);
			if (value && texts->ours[i] && handed_list_has_ours(value, texts->library))
				keep &= handed_list_remove_ours(*at + (value - *at), texts->ours[i],
								texts->library);
		}
		if (keep)
			*to++ = *at;
	}
	*to = NULL;
}

void handed_init(struct rec_control *control)
{
	const char *preload = variable_of_environment(list_names[PRELOAD]);
	if (texts || !preload || !control->library[0] ||
	    !handed_list_has_ours(preload, control->library))
		return;
	size_t size = texts_size(control);
	struct handed_texts *made = size <= MOST_TEXT ? sys_memory(2 * size) : NULL;
	if (!made)
		return;
	made->size = size;
	fill_texts(made, control);
	memcpy((char *)made + size, made, size);
	syscall(SYS_mprotect, made, size, (long)PROT_READ);
	shared = control;
	texts = made;
	handed_is_hidden = !is_go_program();
	if (handed_is_hidden)
		handed_hide(environ);
}

/* A library of CUDA asks whether to tell of its calls. The answer may be written to, as all
 * answers of getenv; the variable is not in the environment, so that nobody else sees it. */
static char *library_level(const char *name)
{
	static char answer[8];
	const char *level = collect_control && name[0] == 'C'
				    ? libraries_level(name, collect_control->traces)
				    : NULL;
	if (!level)
		return NULL;
	if (!answer[0])
		strcpy(answer, level);
	return answer;
}

char *handed_variable(const char *name, char *value)
{
	if (!value && (value = library_level(name)))
		return value;
	if (!handed_is_hidden || (name[0] != 'C' && name[0] != 'N' && name[0] != 'O'))
		return value;
	const char *answer = NULL;
	for (int i = CUDA; i < SINGLES && !value; i++)
		if (texts->singles[i] && strcmp(name, single_names[i]) == 0)
			answer = texts->singles[i] + strlen(name) + 1;
	const char *left = texts->layers_left;
	if (texts->layers && strcmp(name, list_names[LAYERS]) == 0 &&
	    (value && left ? strcmp(value, left) == 0 : !value && !left))
		answer = texts->layers;
	/* OpenCL's loader writes into the value that it gets: the answer is the writable copy of
	 * the text. */
	return answer ? (char *)(uintptr_t)answer + texts->size : value;
}

/* ---- memory of a call ------------------------------------------------------------------------ */

struct given {
	size_t n;           /* how many variables */
	size_t lists;       /* bytes of all lists among them, with their names */
	size_t at[LISTS];   /* index of the variable that counts, n: there is none */
	bool sets[SINGLES]; /* the program gives the variable itself */
	bool has_ours;      /* something of the run is in it already */
};

struct handed_room {
	struct handed_room *next;
	size_t size;
	/* Of a room in the list of rooms: the thread whose vfork child uses it or used it last,
	 * and the child's pid. Threads are told apart by the address of a thread-local variable,
	 * which a vfork child shares with the thread that made it. */
	_Atomic(const void *) thread;
	_Atomic uint32_t pid;
	bool is_listed;
	struct given given;
	struct preload_scratch scratch;
	char *variables[];
};

/* Rooms of vfork children and shells; none ever leaves the list. */
static _Atomic(struct handed_room *) rooms;
static _Thread_local char thread_mark;

/* A room for a vfork child or a shell. The thread of a vfork child is suspended until the child
 * is gone: a room with its mark is free, unless the mark is that of this very child (in a signal
 * handler). */
static NOT_INLINE struct handed_room *listed_room(size_t size)
{
	/* 0: the process may have restricted its system calls. */
	uint32_t pid = process.sealed ? 0 : sys_pid();
	for (struct handed_room *room = atomic_load(&rooms); room; room = room->next) {
		const void *free_room = NULL;
		bool mine = atomic_load(&room->thread) == &thread_mark &&
			    (!pid || atomic_load(&room->pid) != pid);
		if (room->size < size ||
		    !(mine ||
		      atomic_compare_exchange_strong(&room->thread, &free_room, &thread_mark)))
			continue;
		atomic_store(&room->pid, pid);
		return room;
	}
	struct handed_room *room = sys_memory(size);
	if (!room)
		return NULL;
	room->size = size;
	room->is_listed = true;
	atomic_store(&room->thread, &thread_mark);
	atomic_store(&room->pid, pid);
	room->next = atomic_load(&rooms);
	while (!atomic_compare_exchange_weak(&rooms, &room->next, room))
		;
	return room;
}

/* The room of a shell's environment is never unmapped either: other threads may be reading it. */
static struct handed_room *take_room(size_t size, bool is_shell)
{
	size = (size + PAGE - 1) / PAGE * PAGE;
	if (is_shell || process.sealed || process_is_borrowed())
		return listed_room(size);
	struct handed_room *room = sys_memory(size);
	if (room)
		room->size = size;
	return room;
}

void handed_end(struct handed *handed, bool has_started)
{
	int saved = errno;
	if (handed->counter && !has_started)
		atomic_fetch_sub((_Atomic uint32_t *)handed->counter, 1);
	struct handed_room *room = handed->room;
	if (room && room->is_listed)
		atomic_store(&room->thread, NULL);
	else if (room)
		sys_unmap(room, room->size);
	handed->room = NULL;
	errno = saved;
}

/* ---- the environment of a program ------------------------------------------------------------ */

/* Whether the page of an address can be read; *known is a page that was found readable before.
 * The kernel reads a mask of signals before it refuses what is to be done with it; a mask at
 * address 0 is none, which it accepts. */
static bool page_is_readable(const void *address, uintptr_t *known)
{
	uintptr_t page = (uintptr_t)address & ~(uintptr_t)(PAGE - 1);
	uintptr_t word = (uintptr_t)address & ~(uintptr_t)7;
	if (page == *known)
		return true;
	if (!word || syscall(SYS_rt_sigprocmask, -1L, word, NULL, 8L) == 0 || errno == EFAULT)
		return false;
	*known = page;
	return true;
}

static bool text_is_readable(const char *text, uintptr_t *known)
{
	for (const char *end; page_is_readable(text, known); text = end) {
		end = (const char *)(((uintptr_t)text | (PAGE - 1)) + 1);
		if (memchr(text, '\0', (size_t)(end - text)))
			return true;
	}
	return false;
}

/* False where an environment has pointers to nothing: exec is to fail, not to crash. A process
 * that may have restricted its system calls does not ask. */
static NOT_INLINE bool environment_is_readable(char *const *variables)
{
	uintptr_t array = UINTPTR_MAX, text = UINTPTR_MAX; /* no page begins there */
	if (!variables || variables == environ || process.sealed)
		return true;
	for (; page_is_readable(variables, &array); variables++) {
		if (!*variables)
			return true;
		if (!text_is_readable(*variables, &text))
			return false;
	}
	return false;
}

/* Looks at an environment; false: it is too large. Of several LD_PRELOAD the loader takes the
 * last. */
static NOT_INLINE bool look_at(char *const *variables, struct given *given)
{
	*given = (struct given){0};
	size_t at[LISTS] = {SIZE_MAX, SIZE_MAX};
	for (; variables && variables[given->n]; given->n++) {
		const char *variable = variables[given->n];
		if (given->n == MOST_VARIABLES)
			return false;
		for (int i = 0; i < SINGLES; i++) {
			given->sets[i] |= handed_list_value(variable, single_names[i]) != NULL;
			given->has_ours |=
				texts->singles[i] && strcmp(variable, texts->singles[i]) == 0;
		}
		for (int i = 0; i < LISTS; i++) {
			const char *value = handed_list_value(variable, list_names[i]);
			if (!value || !texts->ours[i])
				continue;
			at[i] = given->n;
			given->lists += strlen(variable) + strlen(texts->ours[i]) + 2;
			given->has_ours |= handed_list_has_ours(value, texts->library);
		}
	}
	for (int i = 0; i < LISTS; i++)
		given->at[i] = at[i] == SIZE_MAX ? given->n : at[i];
	return given->lists <= MOST_TEXT;
}

static size_t room_size(const struct given *given)
{
	size_t size = sizeof(struct handed_room) +
		      (given->n + SINGLES + LISTS + 1) * sizeof(char *) + given->lists;
	for (int i = 0; i < LISTS; i++)
		size += texts->ours[i] ? strlen(list_names[i]) + strlen(texts->ours[i]) + 3 : 0;
	return size;
}

/* Writes a list without ours; NULL: nothing else was in it. */
static char *write_list_without(char **text, const char *variable, size_t length, int list)
{
	char *copy = *text;
	*(char *)mempcpy(copy, variable, length) = '\0';
	if (!handed_list_remove_ours(copy + strlen(list_names[list]) + 1, texts->ours[list],
				     texts->library))
		return NULL;
	*text = copy + strlen(copy) + 1;
	return copy;
}

/* Appends ours to a list that was written last, at the end of the text. */
static void append_ours(char **text, int list)
{
	*text = stpcpy(stpcpy(*text - 1, ":"), texts->ours[list]) + 1;
}

static char *write_ours(char **text, int list)
{
	char *variable = *text;
	*text = stpcpy(stpcpy(stpcpy(variable, list_names[list]), "="), texts->ours[list]) + 1;
	return variable;
}

/* Writes the environment into the room: what was given without ours, and with 'with' ours behind
 * it. */
static NOT_INLINE void write_variables(struct handed_room *room, char *const *variables, bool with)
{
	const struct given *given = &room->given;
	char *text = (char *)(room->variables + given->n + SINGLES + LISTS + 1);
	size_t to = 0;
	bool appended[LISTS] = {false};
	/* Another thread may be changing the environment meanwhile: nothing is written beyond
	 * the room. */
	size_t left = given->lists;
	for (size_t v = 0; v < given->n && variables[v]; v++) {
		char *variable = variables[v];
		for (int i = 0; i < SINGLES; i++)
			if (!with && texts->singles[i] && strcmp(variable, texts->singles[i]) == 0)
				variable = NULL, i = SINGLES;
		for (int i = 0; i < LISTS && variable; i++) {
			size_t length = strlen(variable), need;
			if (!texts->ours[i] || !handed_list_value(variable, list_names[i]) ||
			    (need = length + strlen(texts->ours[i]) + 2) > left)
				continue;
			left -= need;
			/* An empty list of layers says that the program wants none; ours are
			 * preloaded, too. */
			bool is_refusal = i == LAYERS && length == strlen(list_names[i]) + 1;
			appended[i] |= is_refusal;
			variable = write_list_without(&text, variable, length, i);
			if (with && variable && v == given->at[i] && !is_refusal) {
				append_ours(&text, i);
				appended[i] = true;
			}
		}
		if (variable)
			room->variables[to++] = variable;
	}
	for (int i = 0; i < LISTS && with; i++)
		if (texts->ours[i] && !appended[i])
			room->variables[to++] = write_ours(&text, i);
	/* A program that sets one of the collector's variables to another value wants another
	 * tool in the child. */
	for (int i = 0; i < SINGLES && with; i++)
		if (texts->singles[i] && !given->sets[i])
			room->variables[to++] = (char *)(uintptr_t)texts->singles[i];
	room->variables[to] = NULL;
}

/* Whether a program that this process becomes could open the run's state, to which 'fd' is open:
 * capabilities by which this process may open it are gone after exec, but those of root. */
static bool program_may_open(int fd, struct preload_scratch *scratch)
{
	uid_t user = (uid_t)syscall(SYS_geteuid);
	return user == 0 || fstat(fd, &scratch->about) != 0 || scratch->about.st_uid == user;
}

/* False where a program could not record, after a chroot or with less rights than before: the
 * loader could not open the library, and would complain on stderr, or the run directory is out
 * of reach. True in doubt, where descriptors have run out. */
static NOT_INLINE bool run_is_reached(struct preload_scratch *scratch)
{
	int library = sys_open(texts->library, O_RDONLY), state = -1;
	bool reached = library >= 0 || errno == EMFILE || errno == ENFILE;
	if (library >= 0)
		sys_close(library);
	if (!reached || !collect_control)
		return reached;
	int folder = sys_open(process.run, O_PATH | O_DIRECTORY);
	if (folder >= 0)
		state = sys_open_in(folder, STATE_FILE, O_RDWR);
	reached = state >= 0 ? process.sealed || program_may_open(state, scratch)
			     : errno == EMFILE || errno == ENFILE;
	if (state >= 0)
		sys_close(state);
	if (folder >= 0)
		sys_close(folder);
	return reached;
}

/* Counts a program inside which nothing will be recorded, for the report. */
static void count_in(struct handed *handed, uint32_t *counter)
{
	handed->counter = counter;
	atomic_fetch_add((_Atomic uint32_t *)counter, 1);
}

static enum preload_fit fit_of(const struct handed_program *program,
			       struct preload_scratch *scratch)
{
	if (program->how == HANDED_DESCRIPTOR)
		return preload_fit_of_descriptor(program->fd, scratch);
	if (program->how == HANDED_COMMAND && program->name)
		return preload_fit_of_command(program->name, scratch);
	if (program->how == HANDED_FILE && program->name)
		return preload_fit_of_file(program->fd, program->name, scratch);
	return PRELOAD_FITS;
}

static NOT_INLINE struct handed_room *room_for(const struct handed_program *program,
					       char *const *variables)
{
	struct given given;
	if (!environment_is_readable(variables) || !look_at(variables, &given))
		return NULL;
	struct handed_room *room = take_room(room_size(&given), program->how == HANDED_SHELL);
	if (room)
		room->given = given;
	return room;
}

struct handed handed_begin(const struct handed_program *program, char *const *variables)
{
	struct handed handed = {.variables = variables};
	if (!texts)
		return handed;
	if (process_is_filtered()) {
		count_in(&handed, &shared->sealed);
		return handed;
	}
	handed.room = room_for(program, variables);
	if (!handed.room)
		return handed;
	/* Without new privileges no program has raised rights. */
	handed.room->scratch.is_never_raised = process.sealed;
	bool reached = run_is_reached(&handed.room->scratch);
	enum preload_fit fit = reached ? fit_of(program, &handed.room->scratch) : PRELOAD_FITS;
	if (!reached)
		count_in(&handed, &shared->unreached);
	else if (fit != PRELOAD_FITS)
		count_in(&handed, &shared->unfit);
	bool with = reached && preload_is_handed_on(fit);
	if (!with && !handed.room->given.has_ours)
		return handed;
	write_variables(handed.room, variables, with);
	handed.variables = handed.room->variables;
	return handed;
}

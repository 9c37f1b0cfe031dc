#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Garbage collections of every Python at hand: those that the program's own callback saw, in their order, with what
# they freed, the line that caused them, and nothing that the program could notice but one entry of gc.callbacks.
source "$(dirname "$0")/common.bash"
mapfile -t found < <(pythons)
if [ ${#found[@]} = 0 ]; then
	echo "SKIP: no Python of 3.10 to 3.14"
	exit 77
fi

# Writes a line for each collection that its own callback saw to the file that is named, and one for what it did.
cat >"$work/collect.py" <<'END'
import gc, os, sys, threading, time

class Node:
    pass

def churn(nodes):
    for _ in range(nodes):
        node = Node()
        node.itself = node

def pause():
    gc.collect()

seen = []

def note(phase, info):
    if phase == "stop":
        seen.append("%d %d" % (info["generation"], info["collected"]))

ours = gc.callbacks[0] if gc.callbacks else None
gc.callbacks.append(note)
churn(20000)
gc.collect(0)
kept = [[[]] for _ in range(400000)]
pause()
if ours:
    # Whatever it is called with, it raises nothing, and yields None.
    for arguments in (), (1, 2), ("stop",), ("stop", 3), ("stop", {"generation": "x"}), ([], []):
        assert ours(*arguments) is None, arguments
threads = [threading.Thread(target=churn, args=(3000,)) for _ in range(3)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
with open(sys.argv[1], "w") as into:
    own = list(seen)
    into.write("\n".join(own) + "\n")
child = os.fork()
if child == 0:
    gc.callbacks.remove(note)
    gc.collect(1)
    os._exit(3)
print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
gc.callbacks.clear()
churn(5000)
try:
    raise KeyError("x")
except KeyError as error:
    print(repr(error))
print("modules", sorted(name for name in sys.modules if "gc" in name), len(gc.callbacks))
END

# sequence REPORT: generation and freed objects of each collection of the first process, in their order.
sequence() {
	"$HEADWAY" export -t csv -f -o "$work/csv" --kinds range "$1" >/dev/null 2>&1 || fail "export"
	/usr/bin/env python3 - "$work/csv/range.csv" "$2" <<-'END'
		import csv, sys
		rows = [row for row in csv.DictReader(open(sys.argv[1])) if row["domain"] == "Python"]
		parents = int(rows[0]["pid"]) if rows else 0
		rows.sort(key=lambda row: int(row["start"]))
		recorded = [(row["name"], row["payload"], row["pid"], row["stack"]) for row in rows]
		mine = ["%s %s" % (name.replace("gc generation ", ""), freed)
		        for name, freed, pid, _ in recorded if int(pid) == parents]
		own = open(sys.argv[2]).read().split("\n")[:-1]
		places = [i for i in range(len(mine)) if mine[i:i + len(own)] == own]
		print("same" if len(places) == 1 else "recorded %r, seen %r" % (mine[:50], own[:50]))
		print("child", sum(int(pid) != parents for _, _, pid, _ in recorded))
		print("pause", sum("pause" in stack for _, _, _, stack in recorded))
	END
}

for one in "${found[@]}"; do
	read -r python name _ <<<"$one"
	"$python" "$work/collect.py" "$work/plain" >"$work/want" || fail "$name alone"
	run profile -q -f -o "$work/report.hwy" -t python "$python" "$work/collect.py" "$work/own"
	expect_status 0 "$name"
	cmp -s "$work/want" "$work/out" || fail "$name prints $(cat "$work/out"), not $(cat "$work/want")"
	[ ! -s "$work/err" ] || fail "$name: $(cat "$work/err")"
	sequence "$work/report.hwy" "$work/own" >"$work/sequence"
	printf 'same\nchild 1\npause 1\n' | cmp -s - "$work/sequence" ||
		fail "$name: its collections, that of the child, and the one with a line: $(cat "$work/sequence")"
done

# --- not asked for: the program's list is empty, as without us
read -r python _ <<<"${found[0]}"
run profile -q -f -o "$work/report.hwy" -t nvtx "$python" -c 'import gc, os; os.listdir("/"); print(gc.callbacks)'
expect_line "$work/out" "[]" "without -t python"
# --- asked for: one entry
run profile -q -f -o "$work/report.hwy" -t python "$python" -c 'import gc; print(len(gc.callbacks))'
expect_line "$work/out" 1 "with -t python"

# --- an interpreter that is loaded late, finalized, begun again and unloaded, while folders are opened at every moment
cat >"$work/embed.c" <<'END'
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
static void look(void)
{
	for (int i = 0; i < 2; i++) {
		closedir(opendir("/"));
		usleep(25000); /* longer than the collector lets a new interpreter settle */
	}
}
int main(int argc, char **argv)
{
	(void)argc;
	for (int round = 0; round < 2; round++) {
		void *library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
		void (*begin)(int);
		int (*run)(const char *), (*end)(void);
		look();
		*(void **)&begin = dlsym(library, "Py_InitializeEx");
		*(void **)&run = dlsym(library, "PyRun_SimpleString");
		*(void **)&end = dlsym(library, "Py_FinalizeEx");
		for (int again = 0; again < 2; again++) {
			begin(0);
			look();
			run("import gc\nnodes = [[] for _ in range(9999)]\nfor n in nodes: n.append(n)\n"
			    "del nodes, n\nprint('freed', gc.collect() > 0)\n");
			look();
			fflush(stdout);
			end();
			look();
		}
		dlclose(library);
		look();
	}
	return 0;
}
END
for one in "${found[@]}"; do
	read -r python name _ <<<"$one"
	library=$("$python" -c 'import sysconfig as s; print("%s/%s" % (s.get_config_var("LIBDIR"), s.get_config_var("INSTSONAME")))')
	[[ $library == *.so* && -e $library ]] || continue
	"${CC:-cc}" -o "$work/embed" "$work/embed.c" -ldl 2>/dev/null || break
	home=$("$python" -c 'import sys; print(sys.base_prefix)')
	run profile -q -f -o "$work/report.hwy" -t python,pytorch,osrt env PYTHONHOME="$home" "$work/embed" "$library"
	expect_status 0 "$name, loaded late"
	[ "$(sort -u "$work/out")" = "freed True" ] || fail "$name, loaded late: $(cat "$work/out")"
	run stats "$work/report.hwy" -r nvtx_sum
	grep -q "gc generation 2" "$work/out" || fail "$name, loaded late: no collection is recorded"
	break
done

# --- opendir is what it was, errno included
cat >"$work/folders.c" <<'END'
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
int main(void)
{
	errno = 77;
	DIR *folder = opendir("/");
	printf("%d %d", folder != NULL, errno);
	folder = opendir("/nonexistent");
	printf(" %d %d", folder != NULL, errno == ENOENT);
	folder = opendir("/etc/passwd");
	printf(" %d %d\n", folder != NULL, errno == ENOTDIR);
	return 0;
}
END
if "${CC:-cc}" -o "$work/folders" "$work/folders.c" 2>/dev/null; then
	run profile -q -f -o "$work/report.hwy" -t python,pytorch "$work/folders"
	expect_line "$work/out" "1 77 0 1 0 1" "opendir"
fi
finish

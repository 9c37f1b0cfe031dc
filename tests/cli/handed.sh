#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a program is handed: it sees the environment that it would have without us, what it starts is part of the run
# all the same, and calls that start programs take little of the stack.
source "$(dirname "$0")/collect.bash"
cd "$work" || exit 1
unset LD_PRELOAD OPENCL_LAYERS _

# The variables that may differ: the shell's, and where there is a CUDA driver the one that it reads.
may_differ='^_='
if [ -e /dev/nvidiactl ] || [ -e /proc/driver/nvidia ]; then
	may_differ+='|^CUDA_INJECTION64_PATH='
fi

# same OPTIONS NAME COMMAND…: the environment is the same, in its order.
same() {
	local options=$1 name=$2
	shift 2
	"$@" >want 2>&1
	"$HEADWAY" profile -q -f -o same $options "$@" >out 2>&1
	cmp -s <(grep -vE "$may_differ" want) <(grep -vE "$may_differ" out) || fail "$name ($options): $(diff want out | head -5)"
}

cat >program.c <<-'END'
	#define _GNU_SOURCE
	#include <spawn.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/syscall.h>
	#include <sys/wait.h>
	#include <unistd.h>
	extern char **environ;
	int main(int n, char **words, char **variables)
	{
		char *none[] = {NULL}, *env[] = {"env", NULL}, *own[] = {"LD_PRELOAD=", "A=1", NULL};
		const char *how = words[1];
		pid_t pid;
		for (char **at = variables; *at; at++) puts(*at);
		fflush(stdout);
		if (!strcmp(how, "clearenv")) { clearenv(); execv("/usr/bin/env", env); }
		if (!strcmp(how, "null")) execve("/usr/bin/env", env, NULL);
		if (!strcmp(how, "empty")) execve("/usr/bin/env", env, none);
		if (!strcmp(how, "own")) execve("/usr/bin/env", env, own);
		if (!strcmp(how, "raw")) syscall(SYS_execve, "/usr/bin/env", env, environ);
		if (!strcmp(how, "at")) execveat(-100, "/usr/bin/env", env, environ, 0);
		if (!strcmp(how, "unset")) { unsetenv("LD_PRELOAD"); execvp("env", env); }
		if (!strcmp(how, "system")) return system("env | sort; exit 3") >> 8;
		if (!strcmp(how, "popen")) {
			char line[4096];
			FILE *shell = popen("env | sort", "r");
			while (fgets(line, sizeof line, shell)) fputs(line, stdout);
			return pclose(shell);
		}
		if (!strcmp(how, "odd")) { /* pointers to nothing */
			char *odd[] = {"A=1", (char *)1, NULL};
			int one = execve("/usr/bin/env", env, (char **)1), two = execve("/usr/bin/env", env, odd);
			printf("%d %d %m\n", one, two);
		}
		if (!strcmp(how, "spawn") && posix_spawn(&pid, "/usr/bin/env", NULL, NULL, env, none) == 0)
			waitpid(pid, NULL, 0);
		for (char **at = environ; *at; at++) puts(*at);
		return 0;
	}
END
for options in "" "-t osrt,nvtx,opencl,cuda,mpi,nccl,cublas,cudnn,cusparse,cusolver,cufft,cublas-verbose"; do
	same "$options" env env
	same "$options" "env -i" env -i A=1 env
	same "$options" "unset" sh -c 'unset LD_PRELOAD; env'
	same "$options" "an empty LD_PRELOAD" env LD_PRELOAD= env
	same "$options" "a list of its own" env LD_PRELOAD="/nowhere.so  /nowhere/else.so:" OPENCL_LAYERS=/a:/b env
	${CC:-cc} -w -o program program.c 2>/dev/null || continue
	for how in clearenv null empty own raw at unset system popen odd spawn; do
		same "$options" "$how" ./program $how
	done
done

# --- programs that cannot be preloaded into get nothing at all
cat >variables.c <<-'END'
	#include <stdio.h>
	extern char **environ;
	int main(void) { for (char **at = environ; *at; at++) puts(*at); }
END
loader=$(readelf -lW "$COLLECT/target" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
if cp "$loader" ld-musl.so.1 && ${CC:-cc} -o foreign variables.c -Wl,--dynamic-linker="$work/ld-musl.so.1" 2>/dev/null; then
	same "" "of another C library" ./foreign
	same "" "of another C library, started" sh -c ./foreign
fi
if ${CC:-cc} -fsanitize=address -o sanitized variables.c 2>/dev/null && ./sanitized >/dev/null 2>&1; then
	same "" "with AddressSanitizer" ./sanitized
	same "" "with AddressSanitizer, started" sh -c ./sanitized
fi

# --- what is started is part of the run
if [ -x program ]; then
	for how in clearenv null own raw at unset spawn; do
		record ./program $how
		expect_count 1 ' PROCESS .*exe="[^"]*/env"' "$how: the program that was started"
	done
	for how in system popen; do
		record ./program $how
		expect_count 1 ' PROCESS .*exe="[^"]*/sort"' "$how: a program of the shell"
	done
fi

# --- an environment that fits the kernel only without ours
limit=$((($(getconf ARG_MAX) - 8192) / 131072))
cat >full.py <<-'END'
	import os, sys
	size = int(sys.argv[1])
	try:
	    os.execve("/bin/true", ["true"], {"B%d" % i: "x" * 131000 for i in range(size)})
	except OSError as error:
	    sys.exit(error.errno)
END
if type python3 >/dev/null 2>&1; then
	python=$(python3 -c 'import sys; print(sys.executable)')
	for ((n = limit + 1; n > 0; n--)); do
		"$python" full.py $n && break
	done
	"$HEADWAY" profile -q -f -o full "$python" full.py $n >out 2>&1 || fail "an environment as large as can be: $?"
fi

# --- the stack, of a collector that is optimised as users have it
[ -n "${HEADWAY_SANITIZED:-}" ] && finish
LD_BIND_NOW=1 "$COLLECT/small_stack" /bin/true >want
LD_BIND_NOW=1 "$HEADWAY" profile -q -f -t cuda,nvtx -o stack "$COLLECT/small_stack" /bin/true >out
paste -d' ' want out | awk '$4 - $2 > 512 { print $1 ": " $4 " bytes of stack, not " $2; bad = 1 } END { exit bad || NR != 8 }' ||
	fail "a call that starts a program takes too much of the stack"
finish

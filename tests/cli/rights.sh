#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Rights: a process of the run that has fewer of them than another gains none through the recording.
source "$(dirname "$0")/collect.bash"
cd "$work" || exit 1
export TMPDIR=$work/tmp
mkdir tmp
chmod 755 "$work"

expect() {
	[ "$1" = "$2" ] || fail "$3: '$1', not '$2'"
}

# --- who has given up its rights cannot choose the library that others load
cat >evil.c <<-'END'
	#include <stdio.h>
	#include <unistd.h>
	static __attribute__((constructor)) void begin(void)
	{
		fprintf(stderr, "EVIL: loaded as user %d\n", (int)getuid());
	}
END
if ${CC:-cc} -shared -fPIC -o evil.so evil.c 2>/dev/null; then
	"$HEADWAY" profile -q -f -o evil "$COLLECT/escalate" "$work/evil.so" /bin/true >out 2>err
	expect "$?" 0 "escalate"
	grep EVIL err && fail "a library of the weaker process was loaded"
	"$HEADWAY" profile -q -f -o evil -t osrt,nvtx,opencl,mpi,nccl,cublas,cudnn,cusparse,cusolver,cufft,cublas-verbose "$COLLECT/escalate" "$work/evil.so" /bin/true >out 2>err
	grep EVIL err && fail "a library of the weaker process was loaded, with all sources"
fi

# --- settings of a user with fewer rights are not taken, nor what stands in place of a file
if [ "$(id -u)" = 0 ]; then
	"$COLLECT/make_run" "$work/theirs" "$COLLECT_LIBRARY"
	chown -R 65534:65534 "$work/theirs"
	HEADWAY_RUN=$work/theirs LD_PRELOAD=$COLLECT_LIBRARY /bin/true
	expect "$(ls theirs | wc -w)" 2 "root records into a directory of another user"
fi
for file in control state; do
	"$COLLECT/make_run" "$work/link-$file" "$COLLECT_LIBRARY"
	mv link-$file/$file link-$file/real
	ln -s real link-$file/$file
	HEADWAY_RUN=$work/link-$file LD_PRELOAD=$COLLECT_LIBRARY /bin/true
	ls link-$file | grep -q spool && fail "a link in place of $file is followed"
done

# --- a program that cannot reach the run directory gets nothing of the run, and the report says so
if [ "$(id -u)" = 0 ] && type setpriv >/dev/null 2>&1; then
	"$HEADWAY" profile -q -f -o nobody setpriv --reuid=65534 --regid=65534 --clear-groups env >out 2>err
	grep -E '^(HEADWAY_RUN|LD_PRELOAD)=' out && fail "handed on to another user"
	"$HEADWAY" info nobody.hwy >about
	grep -q 'cannot reach the run directory' about || fail "nothing tells of the other user: $(cat about)"
fi

# --- what root reads and removes is root's own
"$HEADWAY" profile -q -f -o kept sh -c 'kill -9 $PPID; sleep 0.2' >out 2>err
kept=$(ls -d tmp/headway-* | head -1)
if [ "$(id -u)" = 0 ]; then
	chown 65534 "$kept"
	"$HEADWAY" recover -o stolen "$kept" >out 2>err
	expect "$?" 2 "recover of another user's directory"
	grep -q 'belongs to user 65534' err || fail "recover of another user's directory: $(cat err)"
	[ ! -e stolen.hwy ] || fail "recover of another user's directory: a report"
	chown 0 "$kept"
fi
mkdir elsewhere
cp "$kept"/* elsewhere
ln -s "$work/elsewhere" link
before=$(ls elsewhere) # the killed recorder's program may still add to $kept
"$HEADWAY" recover -o linked link >out 2>err
expect "$(ls elsewhere)" "$before" "files that a link leads to are left alone"
"$HEADWAY" recover -o mended "$kept" >out 2>err || fail "recover: $(cat err)"
finish

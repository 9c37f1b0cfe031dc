#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Calls into the operating system: what blocks is recorded with its length, object, stack and waker; what does not
# is not; and the program is none the wiser.
source "$(dirname "$0")/common.bash"
: "${COLLECT:?folder of the test programs}" "${OS_OF:?prints the OS calls of a report}"
target=$COLLECT/osrt_target
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
target_source=$(cd "$(dirname "$0")/../collect" && pwd)/osrt_target.c
cd "$work" || exit 1

# profile OPTIONS… PROGRAM…: its output in out and err, its status in $status, its OS calls in calls.
profile() {
	timeout 120 "$HEADWAY" profile -q -t osrt -f -o "$work/run" "$@" >out 2>err </dev/null
	status=$?
	"$OS_OF" run.hwy >calls 2>calls.err || fail "$*: no report: $(head -c 300 calls.err err)"
}

# expect_wakes NUMBER FROM TO
expect_wakes() {
	local got
	got=$(awk -v from="$2" -v to="$3" '$1 == "WAKE" && $3 == from && $5 == to' calls | wc -l)
	[ "$got" = "$1" ] || fail "$2 wakes $3: $got times, not $1"
}

info() {
	"$HEADWAY" info "$work/run.hwy" 2>&1
}

# --- every call is there once, inside the time that the program saw around it
profile --osrt-threshold 0 --osrt-backtrace-threshold 0 "$target" calls
expect_status 0 "calls"
began=$("$HEADWAY" info --format json run.hwy | grep -c '"os"')
[ "$began" -ge 1 ] || fail "info does not tell of OS calls"
# The report's clock begins elsewhere: there must be one shift of it that puts every record inside its line's time.
awk '
	NR == FNR {
		if ($1 == "CALL" && $3 == "osrt_target") {
			records[$4]++
			i = $4 SUBSEP records[$4]
			start[i] = $5; end[i] = $5 + $6; object[i] = $9
		}
		next
	}
	{ lines++; name[lines] = $1; printed[$1]++; number[lines] = printed[$1]; from[lines] = $2; to[lines] = $3; at[lines] = $4 }
	END {
		if (lines != 138) print lines " lines, not 138"
		# Most names are called only where a line is printed: the n-th record belongs to the n-th line.
		for (k = 1; k <= lines; k++) {
			if (records[name[k]] != printed[name[k]]) continue
			i = name[k] SUBSEP number[k]
			paired++
			if (paired == 1 || from[k] - start[i] > least) { least = from[k] - start[i]; early = name[k] }
			if (paired == 1 || to[k] - end[i] < most) { most = to[k] - end[i]; late = name[k] }
		}
		if (paired < 120) print "only " (paired + 0) " lines whose record is certain"
		if (least > most) print early " or " late ": not inside the time that the program saw"
		for (k = 1; k <= lines; k++) {
			found = 0
			for (j = 1; j <= records[name[k]]; j++) {
				i = name[k] SUBSEP j
				if (start[i] + most < from[k] || end[i] + least > to[k]) continue
				found++
				if (at[k] != "0" && object[i] != at[k])
					print name[k] ": object " object[i] ", not " at[k]
			}
			# A lock that its helper has let go of again is taken at once and leaves no record: on a busy machine that
			# happens to some.
			if (found == 0 && name[k] ~ /lock/ && ++free_locks <= 4) continue
			if (found != 1 && name[k] != "pthread_barrier_wait") # there the helper waits too
				print name[k] ": " found " records of call " k
		}
	}' calls out >differences
[ -s differences ] && fail "calls: $(head -5 differences)"
for name in pthread_mutex_lock pthread_rwlock_wrlock pthread_cond_wait sem_wait read recv nanosleep waitpid poll; do
	awk -v name=$name '$3 == "osrt_target" && $4 == name' calls >named # how many there must be was asked above
	{ [ -s named ] && ! grep -qv ' osrt_target.c:' named; } ||
		fail "$name: no stack that leads to its caller: $(head -3 named)"
done

# --- stacks from 80 us on, unless asked otherwise
profile "$target" calls
expect_status 0 "thresholds by default"
[ "$(grep -c '^CALL .* < ' calls)" -ge 1 ] || fail "thresholds by default: no stack at all"
wrong=$(awk '$1 == "CALL" && ($6 >= 80000) != / < /' calls)
[ -z "$wrong" ] || fail "thresholds by default: $(head -3 <<<"$wrong")"

# --- nothing below the threshold, but for what wakes
profile --osrt-threshold 10s "$target" calls
expect_status 0 "a high threshold"
others=$(awk '$1 == "CALL" && $4 !~ /^(write|send|sem_post|pthread_(mutex|rwlock)_unlock|pthread_cond_signal|pthread_barrier_wait|close)$/' calls)
[ -z "$others" ] || fail "kept below the threshold: $(head -3 <<<"$others")"
expect_wakes 0 write read
[ "$(grep -c ' sem_post ' calls)" = 3 ] || fail "a high threshold: $(grep -c ' sem_post ' calls) posts, not 3"
profile --osrt-backtrace-threshold 10s "$target" wakes
! grep -q ' < ' calls || fail "a stack below its threshold"

# --- wakes
profile "$target" wakes
expect_status 0 "wakes"
expect_wakes 6 write read # pipe and eventfd
expect_wakes 3 write poll
expect_wakes 3 write recvfrom # a TCP connection
expect_wakes 3 send recv
expect_wakes 3 sem_post sem_wait
expect_wakes 3 pthread_mutex_unlock pthread_mutex_lock
expect_wakes 3 pthread_rwlock_unlock pthread_rwlock_rdlock
expect_wakes 3 pthread_barrier_wait pthread_barrier_wait
expect_wakes 3 pthread_cond_signal pthread_cond_wait
[ "$(grep -c '^WAKE' calls)" = 30 ] || fail "$(grep -c '^WAKE' calls) wakes, not 30"
for name in pthread_cond_signal sem_post pthread_mutex_unlock; do
	[ "$(grep -c " $name " <(grep ^CALL calls))" = 3 ] || fail "$name is kept where nobody waits"
done

# --- cancellation, signals, errno, locks of every kind, vfork, fork, small stacks
"$target" rough >want.out 2>want.err
for threshold in 0 1000; do
	profile --osrt-threshold $threshold --osrt-backtrace-threshold $threshold "$target" rough
	expect_status 0 "rough"
	cmp -s want.out out || fail "rough: $(diff want.out out | head -5)"
	cmp -s want.err err || fail "rough: stderr: $(head -3 err)"
done
main=$(awk '$4 == "vfork" || $4 == "fork" { print $2; exit }' calls)
[ "$(awk -v pid="$main" '$2 == pid && $4 == "write" && $6 < 100000' calls | wc -l)" -lt 50 ] ||
	fail "a vfork child's calls are recorded as its parent's"

# --- many threads
for n in 2 64 200; do
	profile "$target" many $n
	expect_status 0 "$n threads"
	expect_line out "$((n * 20)) turns" "$n threads"
	info | grep -q 'Dropped *nothing' || fail "$n threads: $(info | grep Dropped)"
done

# --- what threads are in when it ends, or they do; names given late
profile "$target" end
[ "$(awk '$4 == "read" && $8 == 2 && $6 > 0' calls | wc -l)" = 1 ] || fail "a thread cancelled in read: $(cat calls)"
[ "$(awk '$3 == "patient" && $4 == "pthread_cond_wait" && $8 == 2 && $6 > 0' calls | wc -l)" = 1 ] ||
	fail "a thread that waits at the end: $(cat calls)"

# --- programs that this one becomes
profile sh -c 'exec env -i "$0" wakes' "$target"
expect_wakes 3 pthread_cond_signal pthread_cond_wait
profile --osrt-threshold 1000000000000 sh -c '"$0" wakes; exit 7' "$target"
expect_status 7 "a high threshold in a shell"
[ "$(grep -c '^CALL .* pthread_cond_signal ' calls)" = 3 ] || fail "a child of a shell"

# --- the table is that of nsys
"$HEADWAY" stats -r osrt_sum --format csv run.hwy | head -1 >header
expect_line header "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name" "osrt_sum"

# --- feeder: where the main thread waits
cc=${CC:-cc}
if command -v "$cc" >/dev/null; then
	"$cc" -g -O2 -o feeder "$examples/feeder.c" -pthread || fail "feeder does not build"
	profile ./feeder --items 20 --ms 3
	expect_status 0 feeder
	line=$(grep -n 'pthread_cond_wait(&queue.filled' "$examples/feeder.c" | cut -d: -f1)
	waited=$(awk -v at="feeder.c:$line" '$3 == "feeder" && $4 == "pthread_cond_wait" && $11 == "take" && $12 == at' calls | wc -l)
	[ "$waited" -ge 15 ] || fail "feeder: $waited waits of the main thread in take: $(grep cond_wait calls | head -2)"
	[ "$(awk '$1 == "WAKE" && $3 == "pthread_cond_signal" && $5 == "pthread_cond_wait"' calls | wc -l)" -ge 15 ] ||
		fail "feeder: who fills the queue wakes who waits for it"
	grep -q '^CALL [0-9]* worker ' calls || fail "feeder: the workers' names"

	# --- what cannot be recorded runs, and the report says why
	if echo 'int puts(const char *); int main(void) { puts("in it"); return 8; }' >one.c && "$cc" -static -o static one.c 2>err; then
		profile ./static
		expect_status 8 "a static program"
		info | grep -q 'nothing inside ./static is recorded: it is linked statically' || fail "a static program: no note"
	fi
	if "$cc" -fsanitize=address -o asan one.c 2>err && readelf -d asan 2>/dev/null | grep -q libasan; then
		profile ./asan
		expect_status 8 "AddressSanitizer"
		expect_line out "in it" "AddressSanitizer"
		expect_line err "" "AddressSanitizer: stderr"
		info | grep -q 'nothing inside ./asan is recorded: it is built with AddressSanitizer' || fail "AddressSanitizer: no note"
	fi
	if "$cc" -fsanitize=thread -o tsan "$target_source" -D_GNU_SOURCE -w -pthread 2>err && ./tsan many 4 >want.out 2>&1; then
		profile ./tsan many 4
		expect_status 0 "ThreadSanitizer"
		cmp -s want.out out || fail "ThreadSanitizer: $(diff want.out out | head -5)"
		expect_line err "" "ThreadSanitizer: stderr"
		info | grep -q 'are not recorded: it is built with a sanitizer' || fail "ThreadSanitizer: no note"
	fi
	"$cc" -o other one.c
	if [ "$(id -u)" = 0 ] && chown 65534 other && chmod 4755 other && chmod 755 "$work"; then
		profile ./other
		expect_status 8 "a program with another's rights"
		expect_line err "" "a program with another's rights: stderr"
		info | grep -q 'nothing inside ./other is recorded: it runs with the rights of another' || fail "another's rights: no note"
	fi
fi

# --- Python: threads, pools, queues between processes, and where it sleeps
if command -v python3 >/dev/null; then
	cat >program.py <<-'END'
		import multiprocessing, queue, socket, subprocess, sys, threading, time
		def fill(q):
		    for i in range(3):
		        time.sleep(0.005)
		        q.put(i)
		def work(n):
		    time.sleep(0.001)
		    return n * n
		def hold(lock, here):
		    with lock:
		        here.set()
		        time.sleep(0.02)
		if __name__ == "__main__":
		    q = queue.Queue()
		    thread = threading.Thread(target=fill, args=(q,))
		    thread.start()
		    print([q.get() for _ in range(3)])
		    thread.join()
		    a, b = socket.socketpair()
		    threading.Timer(0.01, lambda: b.send(b"x")).start()
		    print(a.recv(1), subprocess.run(["sh", "-c", "sleep 0.01; echo x; exit 4"], capture_output=True).returncode)
		    for method in "fork", "spawn", "forkserver":
		        context = multiprocessing.get_context(method)
		        with context.Pool(2) as pool:
		            print(pool.map(work, range(5)))
		        lock, here = context.Lock(), context.Event()
		        other = context.Process(target=hold, args=(lock, here))
		        other.start()
		        here.wait()
		        with lock:
		            print("had it", method)
		        other.join()
		    sys.exit(17)
	END
	python3 program.py >want.out 2>want.err
	profile --osrt-threshold 0 "$(python3 -c 'import sys; print(sys.executable)')" program.py
	expect_status 17 Python
	cmp -s want.out out || fail "Python: $(diff want.out out | head -5)"
	cmp -s want.err err || fail "Python: stderr: $(diff want.err err | head -5)"
	[ "$(grep -cE 'clock_nanosleep|select .*< fill program.py:4 ' calls)" -ge 3 ] || fail "Python: where it sleeps: $(grep nanosleep calls | head -3)"
	expect=$(awk '$1 == "WAKE" && $3 == "sem_post" && $2 != $4' calls | wc -l)
	[ "$expect" -ge 2 ] || fail "Python: $expect locks woken from another process"
	info | grep -q 'Dropped *nothing' || fail "Python: $(info | grep Dropped)"
fi

# --- a folder that LD_PRELOAD cannot name, and a library that is not there
mkdir "a folder" && cp "$HEADWAY" "$(dirname "$COLLECT_LIBRARY")"/libheadway-*.so "a folder/" 2>/dev/null
HEADWAY="$work/a folder/headway" profile "$target" wakes
expect_wakes 3 sem_post sem_wait
rm "a folder/libheadway-osrt.so"
HEADWAY="$work/a folder/headway" profile "$target" wakes
expect_status 0 "without its library"
expect_line err "" "without its library: stderr"
[ -s calls ] && fail "without its library: calls are recorded"
info | grep -q 'libheadway-osrt.so is not beside' || fail "without its library: no note"

# --- options
run profile -t osrt --osrt-threshold ten true
expect_status 2 "a threshold that is no time"
grep -q "'ten' is not a time" "$work/err" || fail "a threshold that is no time: $(cat "$work/err")"
run profile -q -t cuda,osrt --osrt-threshold=2000 --osrt-backtrace-threshold=90000 --osrt-backtrace-depth=10 \
	--osrt-backtrace-stack-size=4096 -f -o "$work/run" true
expect_status 0 "nsys's options"
expect_line "$work/err" "" "nsys's options: nothing to say"
finish

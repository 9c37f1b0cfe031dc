#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The observer interface of PyTorch 2, and versions of it that nobody knows: recorded, or left alone with a note.
source "$(dirname "$0")/collect.bash"
torch=$COLLECT/mock/libmock-torch.so

record traces=16 -- "$COLLECT/torch_target" "$torch" 100
expect_status 0 "PyTorch 2"
expect_count 100 "OPERATOR.*aten::outer" "outer operators"
expect_count 100 "OPERATOR.*aten::inner" "inner operators"
expect_count 0 "OPERATOR.*headway" "operators of our own"
expect_count 0 "NOTE" "notes"

# Collectives of gloo begin on the thread that asks and end on another one.
record traces=16 -- "$COLLECT/torch_target" "$torch" 20 mock_torch_exchange
expect_status 0 "collectives"
expect_count 20 "OPERATOR.*c10d::allreduce_" "operators that ask for a collective"
expect_count 20 "OPERATOR.*gloo:all_reduce.* began-on=" "collectives that end on another thread"
expect_count 0 "NOTE" "notes of collectives"
record traces=16 -- "$COLLECT/torch_target" "$torch" 300 mock_torch_exchange
expect_count 256 "OPERATOR.*gloo:all_reduce" "collectives, as many as have room"
expect_count 1 "NOTE.*collectives on the CPU are not recorded" "a note of collectives without room"

# With NCCL's collectives alone no operator is recorded, but gloo's collectives are.
record traces=128 -- "$COLLECT/torch_target" "$torch" 20 mock_torch_exchange
expect_status 0 "collectives without operators"
expect_count 20 "OPERATOR" "collectives, and no operator"
expect_count 20 "OPERATOR.*gloo:all_reduce.* began-on=" "collectives without operators"
HEADWAY_MOCK_TORCH=silent record traces=128 -- "$COLLECT/torch_target" "$torch" 20 mock_torch_exchange
expect_count 1 "NOTE.*PyTorch's collectives are not recorded" "a note of collectives that cannot be recorded"

for unknown in silent elsewhere; do
	HEADWAY_MOCK_TORCH=$unknown record traces=16 -- "$COLLECT/torch_target" "$torch" 100
	expect_status 0 "$unknown"
	expect_line "$work/out" done "$unknown"
	expect_count 0 "OPERATOR" "$unknown: operators"
	expect_count 1 "NOTE.*operators are not recorded" "$unknown: a note"
done

HEADWAY_MOCK_TORCH=profiled record traces=16 -- "$COLLECT/torch_target" "$torch" 100
expect_line "$work/out" done "another observer"
expect_count 0 "OPERATOR|NOTE" "records beside the program's own observer, which would see the trial"

record traces=3 -- "$COLLECT/torch_target" "$torch" 100
expect_count 0 "OPERATOR" "operators although nobody asked for them"

# A libtorch that takes long to load, while another thread opens folders: nothing in it is called too early.
real=$(/sbin/ldconfig -p | sed -n 's/.*libtorch_cpu\.so.* => //p' | head -n 1)
if [ -n "$real" ]; then
	record traces=16 -- "$COLLECT/torch_target" "$real" 0
	expect_status 0 "a libtorch that is being loaded"
	expect_line "$work/out" done "a libtorch that is being loaded"
	expect_count 0 "NOTE" "notes of a real libtorch"
fi
exit $bad

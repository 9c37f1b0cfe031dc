#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# view_address - an address that is kept is the same after a restart, its secret stands in no argument list and in no file
# that others can read; a proxy that was allowed may ask, and nobody else.
source "$(dirname "$0")/common.bash"

export XDG_CACHE_HOME=$work/cache
unpack power_base
run convert "$work/power_base.sqlite" -o "$work/small.hwy"
expect_status 0 "convert"

# A secret that others know is none, and neither is a short one.
secret=$(printf '0123456789abcdef%.0s' 1 2)
echo "$secret" >"$work/token"
chmod 644 "$work/token"
run view --no-browser --token-file "$work/token" "$work/small.hwy"
expect_refusal "a secret that others can read" "chmod 600"
chmod 600 "$work/token"
for wrong in "" "${secret:1}" "${secret}0" "$secret x" "$secret 99999" "${secret:1}g"; do
	echo "$wrong" >"$work/token"
	run view --no-browser --token-file "$work/token" "$work/small.hwy"
	expect_refusal "the secret '$wrong'" "token: line 1"
done
run view --no-browser --token-file "$work" "$work/small.hwy"
expect_refusal "a folder for a secret" "is not a file"
run view --no-browser --token-file "$work/token" --keep-address "$work/small.hwy"
expect_status 2 "two secrets"
for name in "" "*" "hub.example.org:8888" "https://hub.example.org" "hub/path"; do
	run view --no-browser --allow-host "$name" "$work/small.hwy"
	expect_status 2 "--allow-host '$name'"
	grep -q "without port and path" "$work/err" || fail "--allow-host '$name': $(cat "$work/err")"
done

command -v python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
python3 -c 'import ctypes; ctypes.CDLL("libmicrohttpd.so.12")' 2>/dev/null || { echo "SKIP: no libmicrohttpd (libmicrohttpd12)"; exit 77; }
rm "$work/token"
python3 "$(dirname "$0")/view_address.py" "$HEADWAY" "$work/small.hwy" "$work" || bad=1
finish

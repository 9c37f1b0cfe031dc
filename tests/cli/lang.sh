#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lang - Chinese is chosen by --lang, HEADWAY_LANG or the locale, reaches every form of the diagnosis and the page's process, and
# changes no number, id or key.
source "$(dirname "$0")/common.bash"
unset LC_ALL LC_MESSAGES HEADWAY_LANG
export LANG=C.UTF-8 XDG_CACHE_HOME=$work/cache
recording=$DATA/gpu/mlp_sync.hwy
chinese='CPU 停下来等 GPU，每步 1 次'

says_chinese() {
	grep -qF "$chinese" "$work/out" || fail "$1 is not Chinese: $(head -c 300 "$work/out")"
}
says_english() {
	grep -qF 'The CPU stops for the GPU once a step' "$work/out" || fail "$1 is not English"
}

run analyze --lang zh "$recording"
says_chinese "--lang zh"
HEADWAY_LANG=zh run analyze "$recording"
says_chinese "HEADWAY_LANG=zh"
LANG=zh_CN.UTF-8 run analyze "$recording"
says_chinese "a Chinese locale"
LANG=zh_CN.GBK run analyze "$recording"
says_english "a locale that is not UTF-8"
LC_ALL=C grep -q '[^ -~]' "$work/out" && fail "a locale that is not UTF-8 has characters beyond ASCII"
LANG=zh_CN run analyze "$recording"
says_english "a locale that names no character set"
LANG=zh_TW.UTF-8 run analyze "$recording"
says_chinese "a Chinese locale of another country"
LANG=C run analyze --lang zh "$recording"
says_chinese "--lang zh in a plain locale"
HEADWAY_LANG=tlh run analyze "$recording"
expect_refusal "HEADWAY_LANG that names no language" "tlh"
HEADWAY_LANG=zh run analyze --lang en "$recording"
says_english "--lang en beside HEADWAY_LANG=zh"
run analyze --lang tlh "$recording"
expect_refusal "a language that there is not" "tlh"

for format in brief markdown json; do
	run analyze --lang zh --format $format "$recording"
	says_chinese "--format $format"
done
run --lang zh --help
grep -qF '录制' "$work/out" || fail "--help is not Chinese"

# No line is wider than the terminal: a Chinese character takes two columns.
command -v python3 >/dev/null || finish
for width in 80 100; do
	for one in mlp_sync starve_0 decode_eager graphs_launch; do
		python3 "$(dirname "$0")/lang_check.py" width "$HEADWAY" "$DATA/gpu/$one.hwy" $width || bad=1
	done
done
# A comment in a line of code stays one where the line is broken, in each language.
for language in en zh; do
	run analyze --lang "$language" "$DATA/gpu/events_host.hwy"
	grep -q '// .*cudaStreamSynchronize(s)$' "$work/out" || fail "$language: a comment became code: $(grep -B1 cudaStreamSync "$work/out")"
	run analyze --lang "$language" "$DATA/gpu/oneserial_one.hwy"
	grep -q '^ *// per-thread$' "$work/out" || fail "$language: a comment became code: $(grep -B1 per-thread "$work/out")"
done
# What a newcomer sees has no English sentence left, and its rows line up by columns of the terminal.
python3 "$(dirname "$0")/lang_check.py" whole "$HEADWAY" "$DATA" "$work" || bad=1
told=$DATA
is_sanitized && told=$work/few && mkdir -p "$told/gpu" && cp "$DATA"/gpu/{decode_eager,mlp_sync}.hwy "$told/gpu"
python3 "$(dirname "$0")/lang_check.py" told "$HEADWAY" "$told" || bad=1
python3 "$(dirname "$0")/lang_check.py" numbers "$HEADWAY" "$recording" || bad=1
run analyze --lang zh --format html "$recording"
grep -q 'built without npm' "$work/err" || python3 "$(dirname "$0")/lang_check.py" page "$work/out" "$chinese" || bad=1
if python3 -c 'import ctypes; ctypes.CDLL("libmicrohttpd.so.12")' 2>/dev/null; then
	python3 "$(dirname "$0")/lang_check.py" served "$HEADWAY" "$recording" "$chinese" || bad=1
fi
finish

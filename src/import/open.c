/* SPDX-License-Identifier: Apache-2.0 */
/* open.c - chooses the reader of a file by what the file holds. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lang.h"
#include "import/import.h"
#include "import/ncu/ncu.h"
#include "import/nsys/nsysrep.h"
#include "trace/file.h"
#include "trace/privacy.h"

static const char reads[] = HWY_KEY(
	"Headway reads .hwy reports, nsys .sqlite exports, .nsys-rep, PyTorch .json or .json.gz traces, and the output of ncu --csv; diff and gate also read baselines");

/* The 0 byte at the end of this text is part of the magic. */
static const char sqlite_magic[] = "SQLite format 3";

/* Reads the first bytes of the file and yields their number; -1 with a sentence in err. */
static ssize_t read_head(const char *path, unsigned char *head, size_t length, struct hwy_err *err)
{
	struct stat info = {0};
	/* O_NONBLOCK is needed because opening a FIFO would wait for a writer. */
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file < 0) {
		hwy_fail(err, "%s: %s", path, hwy_strerror(errno));
		return -1;
	}
	ssize_t got = -1;
	if (fstat(file, &info) == 0 && S_ISDIR(info.st_mode))
		hwy_fail(err, "%s: is a directory; name a file in it", path);
	else if (!S_ISREG(info.st_mode))
		hwy_fail(err, "%s: is not a regular file; write it to one first", path);
	else if (info.st_size == 0)
		hwy_fail(err, "%s: is empty; was the recording interrupted?", path);
	else if ((got = pread(file, head, length, 0)) < 0)
		hwy_fail(err, "%s: %s", path, hwy_strerror(errno));
	close(file);
	return got;
}

static bool looks_like_json(const unsigned char *head, size_t length)
{
	/* The length of a byte order mark. */
	size_t first = length >= 3 && !memcmp(head, "\xef\xbb\xbf", 3) ? 3 : 0;
	while (first < length && isspace(head[first]))
		first++;
	return first < length && (head[first] == '{' || head[first] == '[');
}

/* Tells the user what kind of file a file seems to be that no reader can read. */
static const char *guess_file_kind(const unsigned char *head, size_t length)
{
	static const struct {
		const char *magic;
		size_t length;
		const char *what;
	} kinds[] = {
		{"\x7f"
		 "ELF",
		 4, HWY_KEY("a program or library")},
		{"PK\x03\x04", 4, HWY_KEY("a zip archive; unpack it first")},
		{"\xfd"
		 "7zXZ",
		 5, HWY_KEY("an xz archive; unpack it first: xz -dk FILE")},
		{"\x28\xb5\x2f\xfd", 4, HWY_KEY("a zstd archive; unpack it first: zstd -dk FILE")},
		{"BZh", 3, HWY_KEY("a bzip2 archive; unpack it first: bunzip2 -k FILE")},
		{"PAR1", 4, HWY_KEY("a Parquet file; export with --type sqlite instead")},
		{"ARROW1", 6, HWY_KEY("an Arrow file; export with --type sqlite instead")},
		{"\x89HDF", 4, HWY_KEY("an HDF5 file; export with --type sqlite instead")},
		{"PERFILE2", 8, HWY_KEY("a perf recording")},
		{"SQLite", 6, HWY_KEY("a damaged SQLite database")},
	};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (length >= kinds[i].length && !memcmp(head, kinds[i].magic, kinds[i].length))
			return hwy_tr(kinds[i].what);
	}
	for (size_t i = 0; i < length; i++) {
		if (!isprint(head[i]) && !isspace(head[i]) && head[i] < 0x80)
			return hwy_tr("a binary file of an unknown kind");
	}
	return hwy_tr("a text file that is not JSON");
}

/* A report of Nsight Compute is in a closed format, which only ncu reads: the first bytes are
 * "NVR" and a 0. */
static bool is_ncu_report(const char *path, const unsigned char *head, size_t length)
{
	size_t name = strlen(path);
	return (length >= 4 && !memcmp(head, "NVR", 4)) ||
	       (name > 8 && !strcmp(path + name - 8, ".ncu-rep"));
}

/* A file that `headway export -t parquet` wrote says so at its end: who made it, and of which
 * file. */
static bool is_own_parquet(const char *path, const unsigned char *head, size_t length,
			   struct hwy_err *err)
{
	static const char maker[] = "Headway version ", key[] = "headway.source";
	char end[4096];
	struct stat info;
	if (length < 4 || memcmp(head, "PAR1", 4) != 0)
		return false;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	off_t skipped = file >= 0 && fstat(file, &info) == 0 && info.st_size > (off_t)sizeof end
				? info.st_size - (off_t)sizeof end
				: 0;
	ssize_t n = file >= 0 ? pread(file, end, sizeof end, skipped) : -1;
	if (file >= 0)
		close(file);
	if (n < 4 || memcmp(end + n - 4, "PAR1", 4) != 0 ||
	    !memmem(end, (size_t)n, maker, sizeof maker - 1))
		return false;
	/* Behind the key: a byte for the type, the length of the name (one byte below 128), the
	 * name. */
	const char *name = memmem(end, (size_t)n, key, sizeof key - 1);
	name = name ? name + sizeof key - 1 : end + n - 2;
	unsigned named = (unsigned char)name[1];
	bool is_told = named > 0 && named < 128 && named <= (size_t)(end + n - name - 2);
	hwy_fail(err,
		 "%s: is a Parquet export of Headway; open the recording it was made of%s%.*s%s",
		 path, is_told ? " (" : "", is_told ? (int)named : 0, name + 2, is_told ? ")" : "");
	return true;
}

static struct hwy_trace *open_any(const char *path, const struct hwy_progress *progress,
				  struct hwy_err *err)
{
	unsigned char head[512];
	ssize_t got = read_head(path, head, sizeof head, err);
	if (got < 0)
		return NULL;
	size_t length = (size_t)got;
	if (hwy_file_is_report(head, length))
		return hwy_file_open(path, err);
	if (length >= sizeof sqlite_magic && !memcmp(head, sqlite_magic, sizeof sqlite_magic))
		return import_nsys(path, progress, err);
	bool gzip = length >= 2 && head[0] == 0x1f && head[1] == 0x8b;
	if (gzip || looks_like_json(head, length))
		return import_kineto(path, progress, err);
	if (nsysrep_is_report(path, head, length))
		return import_nsysrep(path, progress, err);
	if (is_ncu_report(path, head, length)) {
		hwy_fail(err,
			 "%s: a report of Nsight Compute, which only ncu can read; export it: ncu "
			 "--import %s --csv --page raw > kernels.csv",
			 path, path);
		return NULL;
	}
	if (length >= 4 && !memcmp(head, "\x89HWD", 4)) { /* docs/digest.md */
		hwy_fail(
			err,
			"%s: digests of ranks, which have no timeline: headway analyze, diff, gate, "
			"baseline and view read them",
			path);
		return NULL;
	}
	if (ncu_is_table(path))
		return import_ncu(path, progress, err);
	if (is_own_parquet(path, head, length, err))
		return NULL;
	hwy_fail(err, "%s: seems to be %s; %s", path, guess_file_kind(head, length), hwy_tr(reads));
	return NULL;
}

struct hwy_trace *hwy_open(const char *path, const struct hwy_progress *progress,
			   struct hwy_err *err)
{
	struct hwy_trace *trace = open_any(path, progress, err);
	if (trace)
		hwy_privacy_mask(trace);
	return trace;
}

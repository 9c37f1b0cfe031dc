/* SPDX-License-Identifier: Apache-2.0 */
/* source.c - see source.h.
 *
 * A gzip file is any number of members one after the other, as gzip(1) reads them. Bytes after the
 * last member that are no member are ignored; source->garbage tells that there are some. A file
 * that ends inside a member is an error.
 */
#include "import/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"

enum { INPUT_BYTES = 256 * 1024 }; /* compressed bytes read at once */

struct source_stream {
	int fd;
	char *path;
	uint64_t file_bytes, file_read;
	bool gzip;
	bool between_members; /* the gzip member that was read last is complete */
	z_stream inflate;
	unsigned char *input;
};

static bool read_some(struct source_stream *stream, void *to, size_t most, size_t *got,
		      struct hwy_err *err)
{
	ssize_t n;
	do {
		n = read(stream->fd, to, most);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return hwy_fail(err, "%s: %s", stream->path, hwy_strerror(errno));
	*got = (size_t)n;
	stream->file_read += *got;
	return true;
}

static bool open_gzip(struct source_stream *stream, struct hwy_err *err)
{
	stream->input = hwy_alloc(INPUT_BYTES);
	/* zlib's windowBits: 15 is the largest window, + 16 asks for the gzip format. */
	if (inflateInit2(&stream->inflate, 15 + 16) != Z_OK)
		return hwy_fail(err, "%s: cannot set up gzip: out of memory", stream->path);
	stream->gzip = true;
	return true;
}

static bool open_file(struct source_stream *stream, const char *path, struct hwy_err *err)
{
	struct stat about;
	stream->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (stream->fd < 0 || fstat(stream->fd, &about) != 0)
		return hwy_fail(err, "%s: %s", path, hwy_strerror(errno));
	if (S_ISDIR(about.st_mode))
		return hwy_fail(err, "%s: is a directory", path);
	stream->file_bytes = about.st_size > 0 ? (uint64_t)about.st_size : 0;
	return true;
}

static void end_window(struct source *source, char *end)
{
	source->end = end;
	memset(end, 0, SOURCE_PAD);
	*end = '"';
}

bool source_open(struct source *source, const char *path, size_t window, struct hwy_err *err)
{
	struct source_stream *stream = hwy_zalloc(sizeof *stream);
	*source = (struct source){.stream = stream, .size = window < 16 ? 16 : window};
	stream->fd = -1;
	stream->path = hwy_copy(path, strlen(path) + 1);
	source->window = hwy_alloc(source->size + SOURCE_PAD);
	source->cursor = source->window;
	end_window(source, source->window);
	if (!open_file(stream, path, err))
		return false;

	unsigned char magic[2];
	size_t got = 0, more = 0;
	if (!read_some(stream, magic, sizeof magic, &got, err) ||
	    (got == 1 && !read_some(stream, magic + 1, 1, &more, err)))
		return false;
	got += more;
	if (got == 0)
		return hwy_fail(err, "%s: is empty", path);
	if (got < 2 || magic[0] != 0x1f || magic[1] != 0x8b) {
		memcpy(source->window, magic, got);
		end_window(source, source->window + got);
		return true;
	}
	if (!open_gzip(stream, err))
		return false;
	memcpy(stream->input, magic, got);
	stream->inflate.next_in = stream->input;
	stream->inflate.avail_in = (unsigned)got;
	return true;
}

void source_close(struct source *source)
{
	struct source_stream *stream = source->stream;
	if (!stream)
		return;
	if (stream->gzip)
		inflateEnd(&stream->inflate);
	if (stream->fd >= 0)
		close(stream->fd);
	free(stream->input);
	free(stream->path);
	free(stream);
	free(source->window);
	*source = (struct source){0};
}

uint64_t source_offset(const struct source *source)
{
	return source->before + (uint64_t)(source->cursor - source->window);
}

const char *source_path(const struct source *source)
{
	return source->stream->path;
}

/* Yields how many compressed bytes inflate has read. */
static unsigned long long compressed_offset(const struct source_stream *stream)
{
	return stream->file_read - stream->inflate.avail_in;
}

static bool fill_input(struct source_stream *stream, struct hwy_err *err)
{
	size_t got;
	if (!read_some(stream, stream->input, INPUT_BYTES, &got, err))
		return false;
	stream->inflate.next_in = stream->input;
	stream->inflate.avail_in = (unsigned)got;
	return true;
}

/* After a complete member: tells whether another one follows. Where only the first of its two magic
 * bytes was read so far, that one decides. */
static bool next_member(struct source *source, bool *follows, struct hwy_err *err)
{
	struct source_stream *stream = source->stream;
	z_stream *z = &stream->inflate;
	*follows = false;
	if (z->avail_in == 0 && !fill_input(stream, err))
		return false;
	if (z->avail_in == 0)
		return true;
	unsigned char head[2] = {z->next_in[0], 0x8b};
	if (z->avail_in > 1)
		head[1] = z->next_in[1];
	if (head[0] != 0x1f || head[1] != 0x8b) {
		source->garbage = true;
		return true;
	}
	*follows = true;
	stream->between_members = false;
	if (inflateReset(z) != Z_OK)
		return hwy_fail(err, "%s: cannot restart gzip", stream->path);
	return true;
}

/* Unpacks at least one byte and at most 'room' bytes, or sets source->finished at the end of the
 * data. */
static bool inflate_some(struct source *source, char *to, size_t room, size_t *got,
			 struct hwy_err *err)
{
	struct source_stream *stream = source->stream;
	z_stream *z = &stream->inflate;
	z->next_out = (unsigned char *)to;
	z->avail_out = (unsigned)room;
	while (z->avail_out == room && !source->finished) {
		if (stream->between_members) {
			bool follows;
			if (!next_member(source, &follows, err))
				return false;
			source->finished = !follows;
			continue;
		}
		if (z->avail_in == 0 && !fill_input(stream, err))
			return false;
		if (z->avail_in == 0)
			return hwy_fail(err, "%s: gzip data is truncated at byte %llu of the file",
					stream->path, compressed_offset(stream));
		int rc = inflate(z, Z_NO_FLUSH);
		if (rc == Z_STREAM_END)
			stream->between_members = true;
		else if (rc != Z_OK && rc != Z_BUF_ERROR)
			return hwy_fail(err, "%s: bad gzip data near byte %llu of the file (%s)",
					stream->path, compressed_offset(stream),
					z->msg ? z->msg : "unknown error");
	}
	*got = room - z->avail_out;
	return true;
}

/* Moves the bytes from 'cursor' on to the front of the window, and grows the window where they fill
 * more than half of it. */
static bool make_room(struct source *source, struct hwy_err *err)
{
	size_t done = (size_t)(source->cursor - source->window);
	size_t kept = (size_t)(source->end - source->cursor);
	if (done > 0) {
		memmove(source->window, source->cursor, kept);
		source->before += done;
	}
	/* Half of the window must become free, else a long event would be moved again for every few
	 * new bytes. */
	if (kept > source->size / 2 && source->size < SOURCE_WINDOW_MOST) {
		source->size = source->size * 2 < SOURCE_WINDOW_MOST ? source->size * 2
								     : SOURCE_WINDOW_MOST;
		source->window = hwy_realloc(source->window, source->size + SOURCE_PAD);
	}
	source->cursor = source->window;
	end_window(source, source->window + kept);
	if (kept == source->size)
		return hwy_fail(err, "%s: one entry at byte %llu is longer than %d MiB",
				source->stream->path, (unsigned long long)source_offset(source),
				SOURCE_WINDOW_MOST >> 20);
	return true;
}

bool source_more(struct source *source, const struct hwy_progress *progress, struct hwy_err *err)
{
	struct source_stream *stream = source->stream;
	if (!make_room(source, err))
		return false;
	char *end = source->window + (source->end - source->window);
	size_t room = source->size - (size_t)(end - source->window), got = 0;
	if (stream->gzip) {
		if (!inflate_some(source, end, room, &got, err))
			return false;
	} else {
		if (!read_some(stream, end, room, &got, err))
			return false;
		source->finished = got == 0;
	}
	end_window(source, end + got);
	hwy_tell(progress, "reading", stream->file_read, stream->file_bytes);
	return true;
}

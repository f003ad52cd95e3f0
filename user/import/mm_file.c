// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "import/mm_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/clock.h"
#include "trace/bytes.h"

#define PAGES_MAX (1u << 22) /* half a terabyte of pages of the size that measureme writes */

static const char *const magics[MM_N_STREAMS] = {
	[MM_EVENTS] = MM_MAGIC_EVENTS,
	[MM_STRING_DATA] = MM_MAGIC_DATA,
	[MM_STRING_INDEX] = MM_MAGIC_INDEX,
};
static const char *const names[MM_N_STREAMS] = {
	[MM_EVENTS] = "events",
	[MM_STRING_DATA] = "strings",
	[MM_STRING_INDEX] = "string index",
};

/* A window for small reads in ascending order: page headers may be only a few bytes apart. */
struct window {
	int fd;
	uint64_t at;
	size_t size;
	uint8_t bytes[4096];
};

void mm_file__problem(struct mm_file *f, const char *fmt, ...)
{
	va_list args;

	if (*f->problem)
		return;
	va_start(args, fmt);
	vsnprintf(f->problem, sizeof(f->problem), fmt, args);
	va_end(args);
}

static int read_at(int fd, uint64_t at, void *to, size_t size)
{
	uint8_t *p = to;

	while (size) {
		ssize_t n = pread(fd, p, size, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		p += n;
		at += n;
		size -= n;
	}
	return 0;
}

/* `size` bytes at `at`, inside the file when it was opened; NULL after an error. */
static const uint8_t *window__bytes(struct window *w, uint64_t at, size_t size, int *err)
{
	if (at < w->at || at + size > w->at + w->size) {
		ssize_t n = pread(w->fd, w->bytes, sizeof(w->bytes), (off_t)at);

		if (n < (ssize_t)size) {
			*err = n < 0 ? -errno : -EIO;
			return NULL;
		}
		w->at = at;
		w->size = n;
	}
	return w->bytes + (at - w->at);
}

/* Take the page with the header at `at`. Returns its end, or `at` if there is no page. */
static uint64_t take_page(struct mm_file *f, const uint8_t *header, uint64_t at, int *err)
{
	uint64_t begin = at + MM_PAGE_HEADER_SIZE;
	uint32_t size = bytes_load_u32(header + 1);
	struct mm_page page = {.file_at = begin};
	struct mm_stream *s;
	uint8_t tag = header[0];

	if (tag >= MM_N_STREAMS || !size) {
		mm_file__problem(f, "damaged at byte %" PRIu64 ": %s", at,
				 size ? "a page of an unknown stream" : "an empty page");
		return at;
	}
	if (size > f->size - begin) {
		mm_file__problem(f, "cut short at byte %" PRIu64 ": whole up to byte %" PRIu64,
				 f->size, at);
		return at;
	}
	s = &f->streams[tag];
	if (s->n == PAGES_MAX) {
		mm_file__problem(f, "damaged at byte %" PRIu64 ": too many pages", at);
		return at;
	}
	page.at = s->size;
	s->size += size;
	*err = array__add(&s->pages, &s->n, &s->capacity, &page);
	return begin + size;
}

static int find_pages(struct mm_file *f)
{
	struct window w = {.fd = f->fd};
	uint64_t at = MM_HEADER_SIZE;
	int err = 0;

	while (!err && at < f->size) {
		const uint8_t *header;
		uint64_t end;

		if (f->size - at < MM_PAGE_HEADER_SIZE) {
			mm_file__problem(f,
					 "cut short at byte %" PRIu64 ": whole up to byte %" PRIu64,
					 f->size, at);
			break;
		}
		header = window__bytes(&w, at, MM_PAGE_HEADER_SIZE, &err);
		if (!header)
			break;
		end = take_page(f, header, at, &err);
		if (end == at)
			break;
		at = end;
	}
	return err;
}

static int check_stream(struct mm_file *f, enum mm_stream_tag tag)
{
	struct mm_stream *s = &f->streams[tag];
	uint8_t header[MM_HEADER_SIZE];
	int err;

	if (s->size < MM_HEADER_SIZE) {
		mm_file__problem(f, "cut short at byte %" PRIu64 ": it holds no %s", f->size,
				 names[tag]);
		s->size = 0;
		return 0;
	}
	err = mm_file__read(f, tag, 0, header, sizeof(header));
	if (err)
		return err;
	if (!memcmp(header, magics[tag], 4) && bytes_load_u32(header + 4) == f->version)
		return 0;
	mm_file__problem(f, "damaged: what should be its %s are not", names[tag]);
	s->size = 0;
	return 0;
}

int mm_file__open(struct mm_file *f, const char *path, const char **why)
{
	uint8_t header[MM_HEADER_SIZE];
	struct stat st;
	int err;

	/* O_NONBLOCK: the path may be a pipe without a writer. */
	*f = (struct mm_file){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
	if (f->fd < 0 || fstat(f->fd, &st)) {
		err = -errno;
		*why = strerrordesc_np(-err);
		return err;
	}
	*why = "it is not a regular file";
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	f->size = st.st_size;
	f->mtime_ns = clock_of_timespec(&st.st_mtim);
	*why = "it is no profile of rustc's (.mm_profdata)";
	if (f->size < MM_HEADER_SIZE)
		return -EBADMSG;
	err = read_at(f->fd, 0, header, sizeof(header));
	if (!err) {
		if (memcmp(header, MM_MAGIC, 4))
			return -EBADMSG;
		f->version = bytes_load_u32(header + 4);
		*why = "it has another version than 8 or 9";
		if (f->version != MM_VERSION && f->version != MM_VERSION_OLD)
			return -EPROTONOSUPPORT;
		err = find_pages(f);
	}
	for (int tag = 0; !err && tag < MM_N_STREAMS; tag++)
		err = check_stream(f, tag);
	if (err)
		*why = strerrordesc_np(-err);
	return err;
}

int mm_file__read(const struct mm_file *f, enum mm_stream_tag tag, uint64_t at, void *to,
		  size_t size)
{
	const struct mm_stream *s = &f->streams[tag];
	uint8_t *p = to;

	if (at > s->size || size > s->size - at)
		return -EIO;
	/* From the page on that holds `at`. */
	for (size_t i = size ? bisect(s->n, k, s->pages[k].at <= at) - 1 : 0; size; i++) {
		uint64_t end = i + 1 < s->n ? s->pages[i + 1].at : s->size;
		size_t n = end - at < size ? end - at : size;
		int err = read_at(f->fd, s->pages[i].file_at + (at - s->pages[i].at), p, n);

		if (err)
			return err;
		p += n;
		at += n;
		size -= n;
	}
	return 0;
}

void mm_file__destroy(struct mm_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	for (int tag = 0; tag < MM_N_STREAMS; tag++)
		free(f->streams[tag].pages);
	*f = (struct mm_file){.fd = -1};
}

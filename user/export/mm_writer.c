// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/mm_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/file_writer.h"
#include "qprof/measureme_format.h"
#include "trace/bytes.h"

/* The same threshold as measureme's. */
#define PAGE_BYTES 131072u
_Static_assert(PAGE_BYTES <= MM_PAGE_MAX, "a page is no larger than measureme's");

#define NAME_TRIES 100

/* One stream; page.data begins with room for the page's header. */
struct stream {
	struct byte_buffer page;
	uint64_t size; /* of the stream so far, and so the address of the next byte */
};

struct mm_writer {
	int dir_fd;
	struct file_writer file;
	char temporary[32]; /* empty once the file has its final name */
	struct stream streams[MM_N_STREAMS];
};

static const char *const magics[MM_N_STREAMS] = {
	[MM_EVENTS] = MM_MAGIC_EVENTS,
	[MM_STRING_DATA] = MM_MAGIC_DATA,
	[MM_STRING_INDEX] = MM_MAGIC_INDEX,
};

static int write_page(struct mm_writer *w, enum mm_stream_tag tag)
{
	static const uint8_t header[MM_PAGE_HEADER_SIZE];
	struct byte_buffer *page = &w->streams[tag].page;
	int err = 0;

	if (page->size > MM_PAGE_HEADER_SIZE) {
		page->data[0] = tag;
		bytes_store_u32(page->data + 1, page->size - MM_PAGE_HEADER_SIZE);
		err = file_writer__write(&w->file, page->data, page->size);
	}
	byte_buffer__clear(page);
	byte_buffer__bytes(page, header, sizeof(header));
	return page->failed ? file_writer__fail(&w->file, -ENOMEM) : err;
}

/* Append to a stream. Data that exceeds the page continues on the next one. */
static int put(struct mm_writer *w, enum mm_stream_tag tag, const void *data, size_t size)
{
	struct stream *s = &w->streams[tag];
	const uint8_t *p = data;

	if (w->file.error)
		return w->file.error;
	s->size += size;
	while (size) {
		size_t room = PAGE_BYTES - s->page.size;
		size_t n = size < room ? size : room;
		int err = 0;

		byte_buffer__bytes(&s->page, p, n);
		if (s->page.failed)
			return file_writer__fail(&w->file, -ENOMEM);
		p += n;
		size -= n;
		if (s->page.size == PAGE_BYTES)
			err = write_page(w, tag);
		if (err)
			return err;
	}
	return 0;
}

static int create_temporary(struct mm_writer *w)
{
	for (int i = 0; i < NAME_TRIES; i++) {
		uint32_t number;

		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return -errno;
		snprintf(w->temporary, sizeof(w->temporary), ".qprof-%08x.tmp", number);
		w->file.fd = openat(w->dir_fd, w->temporary,
				    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (w->file.fd >= 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	w->temporary[0] = '\0';
	return -errno;
}

int mm_writer__open(int dir_fd, struct mm_writer **out)
{
	_mm_writer_ struct mm_writer *w = calloc(1, sizeof(*w));
	uint8_t version[4];
	int err;

	if (!w)
		return -ENOMEM;
	w->dir_fd = dir_fd;
	w->file.fd = -1;
	err = create_temporary(w);
	if (err)
		return err;
	/* The file keeps the first error. */
	bytes_store_u32(version, MM_VERSION);
	file_writer__write(&w->file, MM_MAGIC, 4);
	file_writer__write(&w->file, version, sizeof(version));
	for (int tag = 0; tag < MM_N_STREAMS; tag++) {
		write_page(w, tag);
		put(w, tag, magics[tag], 4);
		put(w, tag, version, sizeof(version));
	}
	if (w->file.error)
		return w->file.error;
	*out = take_ptr(w);
	return 0;
}

int mm_writer__string(struct mm_writer *w, const char *text, uint64_t *id)
{
	static const uint8_t end = MM_STRING_END;
	int err;

	*id = w->streams[MM_STRING_DATA].size + MM_FIRST_REGULAR_ID;
	err = put(w, MM_STRING_DATA, text, strlen(text));
	return err ?: put(w, MM_STRING_DATA, &end, 1);
}

static void store_u64(uint8_t *p, uint64_t v)
{
	bytes_store_u32(p, (uint32_t)v);
	bytes_store_u32(p + 4, (uint32_t)(v >> 32));
}

int mm_writer__event(struct mm_writer *w, uint64_t label, uint64_t arguments, uint64_t *id)
{
	uint8_t string[2 * (1 + 8) + 2], *p = string;

	*id = w->streams[MM_STRING_DATA].size + MM_FIRST_REGULAR_ID;
	*p++ = MM_STRING_REF;
	store_u64(p, label);
	p += 8;
	*p++ = MM_SEPARATOR;
	*p++ = MM_STRING_REF;
	store_u64(p, arguments);
	p += 8;
	*p++ = MM_STRING_END;
	return put(w, MM_STRING_DATA, string, sizeof(string));
}

int mm_writer__map(struct mm_writer *w, uint32_t virtual_id, uint64_t id)
{
	uint8_t entry[16];

	store_u64(entry, virtual_id);
	store_u64(entry + 8, id - MM_FIRST_REGULAR_ID);
	return put(w, MM_STRING_INDEX, entry, sizeof(entry));
}

static int put_event(struct mm_writer *w, uint64_t kind, uint64_t id, uint32_t thread,
		     uint64_t payload1, uint64_t payload2)
{
	uint8_t event[MM_EVENT_SIZE];

	store_u64(event + MM_EVENT_KIND, kind);
	store_u64(event + MM_EVENT_ID, id);
	bytes_store_u32(event + MM_EVENT_THREAD, thread);
	bytes_store_u32(event + MM_EVENT_PAYLOAD1, (uint32_t)payload1);
	bytes_store_u32(event + MM_EVENT_PAYLOAD2, (uint32_t)payload2);
	bytes_store_u32(event + MM_EVENT_HIGH,
			(uint32_t)(payload1 >> 32) << 16 | (uint32_t)(payload2 >> 32));
	return put(w, MM_EVENTS, event, sizeof(event));
}

int mm_writer__interval(struct mm_writer *w, uint64_t kind, uint64_t id, uint32_t thread,
			uint64_t start_ns, uint64_t end_ns)
{
	if (start_ns > end_ns || end_ns > MM_TIME_MAX)
		return -EINVAL;
	return put_event(w, kind, id, thread, start_ns, end_ns);
}

int mm_writer__instant(struct mm_writer *w, uint64_t kind, uint64_t id, uint32_t thread,
		       uint64_t at_ns)
{
	if (at_ns > MM_TIME_MAX)
		return -EINVAL;
	return put_event(w, kind, id, thread, at_ns, MM_INSTANT);
}

int mm_writer__integer(struct mm_writer *w, uint64_t kind, uint64_t id, uint32_t thread,
		       uint64_t value)
{
	if (value > MM_VALUE_MAX)
		return -EINVAL;
	return put_event(w, kind, id, thread, value, MM_INTEGER);
}

static int rename_new(int dir_fd, const char *from, const char *to)
{
	if (!renameat2(dir_fd, from, dir_fd, to, RENAME_NOREPLACE))
		return 0;
	/* Some file systems lack renameat2() flags; link() does not replace a file either. */
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (linkat(dir_fd, from, dir_fd, to, 0))
		return -errno;
	unlinkat(dir_fd, from, 0);
	return 0;
}

int mm_writer__finish(struct mm_writer *w, const char *name, bool force)
{
	int err;

	for (int tag = 0; tag < MM_N_STREAMS; tag++)
		write_page(w, tag);
	/* Sync first: a system crash must not leave an empty file with the final name. */
	if (!w->file.error && fdatasync(w->file.fd) && errno != EINVAL)
		file_writer__fail(&w->file, -errno);
	err = file_writer__close(&w->file);
	if (err)
		return err;
	if (!force)
		err = rename_new(w->dir_fd, w->temporary, name);
	else
		err = renameat(w->dir_fd, w->temporary, w->dir_fd, name) ? -errno : 0;
	if (err)
		return file_writer__fail(&w->file, err);
	w->temporary[0] = '\0';
	return 0;
}

uint64_t mm_writer__bytes(const struct mm_writer *w)
{
	return w->file.bytes;
}

void mm_writer__free(struct mm_writer *w)
{
	if (!w)
		return;
	cleanup_close_p(&w->file.fd);
	if (*w->temporary)
		unlinkat(w->dir_fd, w->temporary, 0);
	for (int tag = 0; tag < MM_N_STREAMS; tag++)
		byte_buffer__destroy(&w->streams[tag].page);
	free(w);
}

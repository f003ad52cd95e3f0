// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/plan_file.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/diag.h"
#include "base/file_writer.h"
#include "base/own_path.h"
#include "plan/cache.h"
#include "plan/codec.h"
#include "plan/job.h"
#include "unwind/codec.h"
#include "unwind/job.h"

static const char MAGIC[8] = "qprofpln";

#define LIBRARY_AT 8
#define CRC_AT	   16
#define SUM_AT	   20
#define LEN_AT	   24
/* As much as a store takes of each part. */
#define SIZE_MAX_READ (128l << 20)
#define CHUNK	      (1u << 20)

static uint64_t get(const uint8_t *p, size_t size)
{
	uint64_t v = 0;

	memcpy(&v, p, size);
	return le64toh(v);
}

static void put(uint8_t *p, uint64_t v, size_t size)
{
	v = htole64(v);
	memcpy(p, &v, size);
}

/* All of a library's bytes. */
static int crc_of(const struct library_file *file, uint32_t *crc)
{
	_free_ uint8_t *chunk = malloc(CHUNK);
	off_t at = 0;
	ssize_t n;

	if (!chunk)
		return -ENOMEM;
	*crc = (uint32_t)crc32_z(0, NULL, 0);
	while ((n = pread(library_file__fd(file), chunk, CHUNK, at)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		*crc = (uint32_t)crc32_z(*crc, chunk, (size_t)n);
		at += n;
	}
	return library_file__is_same(file) ? 0 : -ESTALE;
}

int plan_file__split(const uint8_t *bytes, size_t len, struct plan_file *out)
{
	uint64_t plan_len;

	if (len < PLAN_FILE_HEADER || memcmp(bytes, MAGIC, sizeof(MAGIC)) ||
	    get(bytes + SUM_AT, 4) != crc32_z(0, bytes + LEN_AT, len - LEN_AT))
		return -EBADMSG;
	plan_len = get(bytes + LEN_AT, 8);
	if (plan_len > len - PLAN_FILE_HEADER)
		return -EBADMSG;
	*out = (struct plan_file){
		.library_size = get(bytes + LIBRARY_AT, 8),
		.library_crc = (uint32_t)get(bytes + CRC_AT, 4),
		.plan = bytes + PLAN_FILE_HEADER,
		.plan_len = (size_t)plan_len,
		.code = bytes + PLAN_FILE_HEADER + plan_len,
		.code_len = len - PLAN_FILE_HEADER - (size_t)plan_len,
	};
	return 0;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static int encode(struct library_file *file, const struct plan *plan, uint8_t **out, size_t *len)
{
	_free_ uint8_t *plan_bytes = NULL, *code = NULL, *bytes = NULL;
	size_t plan_len, code_len = 0;
	uint32_t crc;
	int err = crc_of(file, &crc) ?: plan_cache__encode(plan, &plan_bytes, &plan_len);

	/* A library without an unwind table can be probed all the same. */
	err = err ?: unwind_tables__encode(file, &code, &code_len);
	if (err && err != -ENODATA && err != -EFBIG)
		return err;
	*len = PLAN_FILE_HEADER + plan_len + code_len;
	bytes = malloc(*len);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, MAGIC, sizeof(MAGIC));
	put(bytes + LIBRARY_AT, library_file__identity(file)->size, 8);
	put(bytes + CRC_AT, crc, 4);
	put(bytes + LEN_AT, plan_len, 8);
	memcpy(bytes + PLAN_FILE_HEADER, plan_bytes, plan_len);
	if (code_len)
		memcpy(bytes + PLAN_FILE_HEADER + plan_len, code, code_len);
	put(bytes + SUM_AT, crc32_z(0, bytes + LEN_AT, *len - LEN_AT), 4);
	*out = take_ptr(bytes);
	return 0;
}

int plan_file__write(struct library_file *file, const struct plan *plan, const char *path)
{
	_free_ uint8_t *bytes = NULL;
	struct file_writer w = {.fd = -1};
	size_t len;
	int err = encode(file, plan, &bytes, &len);

	if (err)
		return diag_error_r(err, "cannot read %s: %s", library_file__path(file),
				    strerror(-err));
	w.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (w.fd < 0 && errno == EEXIST)
		return diag_error_r(-EEXIST, "%s exists already; choose another name, or remove it",
				    path);
	if (w.fd < 0)
		return diag_error_r(-errno, "cannot create %s: %s", path, strerror(errno));
	err = file_writer__write(&w, bytes, len) ?: file_writer__close(&w);
	cleanup_close_p(&w.fd);
	if (!err)
		return 0;
	unlink(path);
	return diag_error_r(err, "cannot write %s: %s", path, strerror(-err));
}

/* ---- Importing ------------------------------------------------------------------------------- */

static int read_file(const char *path, uint8_t **bytes, size_t *len)
{
	_close_ int fd = regular_file__open(AT_FDCWD, path, 0);
	_free_ uint8_t *buf = NULL;
	struct stat st;
	size_t n = 0;

	if (fd < 0)
		return diag_error_r(fd, "cannot open %s: %s", path,
				    fd == -EINVAL ? "it is not a regular file" : strerror(-fd));
	if (fstat(fd, &st))
		return diag_error_r(-errno, "cannot open %s: %s", path, strerror(errno));
	/* Whoever can write to the file could give our recordings a wrong plan. */
	if ((st.st_uid && st.st_uid != geteuid()) || st.st_mode & (S_IWGRP | S_IWOTH))
		return diag_error_r(-EPERM,
				    "cannot import %s: other users may write to it; import a copy "
				    "that is yours alone to write",
				    path);
	if (st.st_size > SIZE_MAX_READ)
		return diag_error_r(-EFBIG, "cannot import %s: it is too large for a plan", path);
	buf = malloc((size_t)st.st_size + 1);
	if (!buf)
		return diag_error_r(-ENOMEM, "out of memory reading %s", path);
	while (n < (size_t)st.st_size) {
		ssize_t got = read(fd, buf + n, (size_t)st.st_size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return diag_error_r(-errno, "cannot read %s: %s", path, strerror(errno));
		if (!got)
			break;
		n += (size_t)got;
	}
	*bytes = take_ptr(buf);
	*len = n;
	return 0;
}

static bool are_tables(const struct plan_file *f)
{
	_unwind_table_ struct unwind_table *table = NULL;
	_functions_ struct functions *functions = NULL;
	struct unwind_parts p;

	return !unwind_load__split(f->code, f->code_len, &p) && !unwind_load__table(&p, &table) &&
	       (!p.functions_len ||
		!functions__of_bytes(p.functions, p.functions_len, NULL, 0, &functions));
}

/* Proven by this process, as a plan of a planning process is. */
static int keep(struct library_file *file, const struct plan_file *f, const char *path,
		struct plan **out)
{
	_plan_ struct plan *plan = NULL;
	int err = plan_decode(f->plan, f->plan_len, &plan);

	if (!err && f->code_len && !are_tables(f))
		err = -EBADMSG;
	if (err)
		return diag_error_r(err,
				    "cannot import %s: another version of qprof-bpf made it; make "
				    "it again with plan --output",
				    path);
	err = plan_load__prove(file, plan);
	if (err)
		return err;
	err = plan_cache__store(library_file__identity(file), plan);
	if (err)
		return diag_error_r(err,
				    "cannot keep the plan of %s: %s; a store takes only files that "
				    "are root's or yours, and were not changed for 2 s",
				    library_file__path(file), strerror(-err));
	if (f->code_len)
		unwind_load__store(file, f->code, f->code_len);
	*out = take_ptr(plan);
	return 0;
}

int plan_file__import(struct library_file *file, const char *path, struct plan **out)
{
	_free_ uint8_t *bytes = NULL;
	struct plan_file f;
	size_t len = 0;
	uint32_t crc;
	int err = read_file(path, &bytes, &len);

	if (err)
		return err;
	if (plan_file__split(bytes, len, &f))
		return diag_error_r(-EBADMSG,
				    "cannot import %s: it is no file of plan --output, or it is "
				    "damaged or cut off",
				    path);
	if (f.library_size != library_file__identity(file)->size || crc_of(file, &crc) ||
	    crc != f.library_crc)
		return diag_error_r(-EBADMSG,
				    "cannot import %s: it is the plan of another library "
				    "than %s",
				    path, library_file__path(file));
	return keep(file, &f, path, out);
}

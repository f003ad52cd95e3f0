// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/job.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/diag.h"
#include "plan/cache.h"
#include "plan/codec.h"
#include "plan/file_job.h"
#include "plan/mine/hits.h"
#include "plan/proof.h"
#include "plan/symbols/debug_file.h"

/* ---- Proofs, and plans of a store ------------------------------------------------------------ */

typedef int (*proof_fn)(struct elf_image *img, const struct plan *plan, uint64_t *bad);

/* Prints one line on an error, except on -EBADMSG. */
static int prove(struct library_file *file, struct plan *plan, proof_fn proof, uint64_t *bad)
{
	_elf_image_ struct elf_image *img = NULL;
	char *path;
	int err = elf_image__read(file, &img);

	if (err)
		return err;
	err = proof(img, plan, bad);
	if (err)
		return err == -ENODATA ? -EBADMSG : err;
	path = strdup(library_file__path(file));
	if (!path)
		return -ENOMEM;
	free(plan->path);
	plan->path = path;
	library_file__ref(file);
	library_file__free(plan->file);
	plan->file = file;
	return 0;
}

int plan_load__prove(struct library_file *file, struct plan *plan)
{
	uint64_t bad = 0;
	int err = prove(file, plan, proof__of_plan, &bad);

	if (err == -EBADMSG)
		diag_error("cannot plan %s: no instruction that can be probed is proven to start "
			   "at 0x%llx; its symbols are wrong, or the file is being replaced",
			   library_file__path(file), (unsigned long long)bad);
	return err;
}

int plan_load__check(struct library_file *file, const struct plan *plan)
{
	_elf_image_ struct elf_image *img = NULL;
	char hidden[256];
	uint64_t bad;
	int err;

	diag_hold_errors(hidden, sizeof(hidden));
	err = elf_image__read(file, &img);
	diag_hold_errors(NULL, 0);
	return err ?: proof__of_plan(img, plan, &bad);
}

static int prove_copy(struct elf_image *img, const struct plan *plan, uint64_t *bad)
{
	uint8_t id[ELF_BUILD_ID_MAX];
	uint32_t len = elf_image__identity(img, id);

	if (len != plan->build_id_len || memcmp(id, plan->build_id, len))
		return -EBADMSG;
	return proof__of_plan(img, plan, bad);
}

int plan_load__of_copy(struct library_file *file, const struct plan *plan, struct plan **out)
{
	_plan_ struct plan *copy = NULL;
	_free_ uint8_t *buf = NULL;
	char hidden[256];
	size_t len;
	uint64_t bad;
	int err = plan_encode(plan, &buf, &len) ?: plan_decode(buf, len, &copy);

	if (err)
		return err;
	diag_hold_errors(hidden, sizeof(hidden));
	err = prove(file, copy, prove_copy, &bad);
	diag_hold_errors(NULL, 0);
	if (!err)
		*out = take_ptr(copy);
	return err;
}

/*
 * It may have been installed since a plan with recovered names was made. Only root writes there, so
 * nothing is opened that the library names.
 */
static bool is_outdone(const struct plan *plan)
{
	_free_ char *place = plan->symbols == SYMBOLS_RECOVERED
				     ? debug_file__place(plan->build_id, plan->build_id_len)
				     : NULL;

	return place && !access(place, R_OK);
}

int plan_load__stored(struct library_file *file, struct plan **out)
{
	_plan_ struct plan *plan = NULL;
	uint64_t bad = 0;
	bool by_root = false;
	int err = plan_cache__load(library_file__identity(file), &by_root, &plan);

	if (err)
		return err;
	if (is_outdone(plan))
		return -ENOENT;
	err = prove(file, plan, by_root ? proof__of_code : proof__of_plan, &bad);
	if (!err)
		*out = take_ptr(plan);
	if (err != -EBADMSG)
		return err;
	diag_verbose("not using the plan that was stored for %s: it does not fit at 0x%llx",
		     library_file__path(file), (unsigned long long)bad);
	return -ENOENT;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

struct plan_job {
	struct file_job *job;
	struct plan *plan;	  /* NULL: the child makes it */
	bool hits;		  /* the child looks for cache hits */
	struct debug_file *debug; /* the child's; of the library, whose symbols it reads once */
};

/* A file_job_prepare_fn. */
static void find_debug_file(struct library_file *file, void *arg)
{
	struct plan_job *j = arg;

	j->debug = debug_file__find(file);
}

/*
 * A file_job_fn. The child sends the number of the plan's bytes, then the plan, then the cache
 * hits; a part that was not requested has no bytes.
 */
static int make(struct library_file *file, const void *arg, struct file_writer *to)
{
	const struct plan_job *j = arg;
	_plan_ struct plan *plan = NULL;
	_plan_hits_ struct plan_hits *hits = NULL;
	_free_ uint8_t *bytes = NULL;
	size_t len = 0;
	uint64_t sent;
	int err = 0;

	if (!j->plan)
		err = plan__build(file, j->debug, &plan) ?: plan_encode(plan, &bytes, &len);
	if (err)
		return err;
	sent = len;
	file_writer__write(to, &sent, sizeof(sent));
	err = file_writer__write(to, bytes, len);
	if (err || !j->hits)
		return err;
	err = plan_hits__find(file, j->debug, &hits);
	if (err)
		return err;
	file_writer__write(to, hits, sizeof(*hits));
	return file_writer__write(to, hits->items, hits->n * sizeof(*hits->items));
}

static int start(struct library_file *file, struct plan *plan, bool hits, int nice,
		 struct plan_job **out)
{
	_plan_job_ struct plan_job *j = calloc(1, sizeof(*j));
	int err;

	if (!j) {
		plan__free(plan);
		return -ENOMEM;
	}
	j->plan = plan;
	j->hits = hits;
	if (!plan)
		diag_verbose("reading %s for the first time", library_file__path(file));
	err = file_job__start(file, find_debug_file, make, j, nice, &j->job);
	if (!err)
		*out = take_ptr(j);
	return err;
}

int plan_job__start(struct library_file *file, int nice, struct plan_job **out)
{
	return start(file, NULL, false, nice, out);
}

int plan_job__start_hits(struct library_file *file, struct plan *plan, int nice,
			 struct plan_job **out)
{
	return start(file, plan, true, nice, out);
}

int plan_job__fd(const struct plan_job *j)
{
	return file_job__fd(j->job);
}

uint64_t plan_job__cpu_ns(const struct plan_job *j)
{
	return file_job__cpu_ns(j->job);
}

int plan_job__read(struct plan_job *j)
{
	return file_job__read(j->job);
}

/* The file may have exploited the child, so the parent proves the plan. */
static int take_plan(struct plan_job *j, const uint8_t *bytes, size_t len, struct plan **out)
{
	struct library_file *file = file_job__file(j->job);
	_plan_ struct plan *plan = NULL;
	int err = plan_decode(bytes, len, &plan);

	if (err)
		return diag_error_r(err, "cannot read %s: %s", library_file__path(file),
				    strerror(-err));
	err = plan_load__prove(file, plan);
	if (err)
		return err;
	plan_cache__store(library_file__identity(file), plan);
	*out = take_ptr(plan);
	return 0;
}

/* Hits that are not proven are left out. */
static int take_hits(struct plan_job *j, const uint8_t *bytes, size_t len, struct plan_hits **out)
{
	struct library_file *file = file_job__file(j->job);
	_plan_hits_ struct plan_hits *hits = calloc(1, sizeof(*hits));
	_elf_image_ struct elf_image *img = NULL;
	int err = !hits ? -ENOMEM : len < sizeof(*hits) ? -EBADMSG : 0;

	if (!err) {
		const size_t size = len - sizeof(*hits);

		memcpy(hits, bytes, sizeof(*hits));
		hits->items = NULL;
		if (size != hits->n * sizeof(*hits->items))
			err = -EBADMSG;
		else if (!(hits->items = calloc(hits->n + 1UL, sizeof(*hits->items))))
			err = -ENOMEM;
		else
			memcpy(hits->items, bytes + sizeof(*hits), size);
	}
	err = err ?: elf_image__read(file, &img) ?: proof__of_hits(img, hits);
	if (err)
		return diag_error_r(err, "cannot use the cache hits of %s: %s",
				    library_file__path(file), strerror(-err));
	*out = take_ptr(hits);
	return 0;
}

int plan_job__finish(struct plan_job *j, struct plan **out)
{
	_plan_ struct plan *plan = NULL;
	uint64_t plan_len = UINT64_MAX;
	const uint8_t *bytes;
	size_t len;
	int err = file_job__finish(j->job, &bytes, &len);

	if (err)
		return diag_error_r(err, "%s", file_job__why(j->job));
	if (len >= sizeof(plan_len))
		memcpy(&plan_len, bytes, sizeof(plan_len));
	if (len < sizeof(plan_len) || plan_len > len - sizeof(plan_len))
		return diag_error_r(-EBADMSG, "cannot read %s: its planner sent no plan",
				    library_file__path(file_job__file(j->job)));
	bytes += sizeof(plan_len);
	len -= sizeof(plan_len);
	plan = take_ptr(j->plan);
	err = plan ? 0 : take_plan(j, bytes, plan_len, &plan);
	if (!err && j->hits)
		err = take_hits(j, bytes + plan_len, len - plan_len, &plan->hits);
	if (!err)
		*out = take_ptr(plan);
	return err;
}

void plan_job__free(struct plan_job *j)
{
	if (!j)
		return;
	file_job__free(j->job);
	plan__free(j->plan);
	free(j);
}

int plan__make(struct library_file *file, struct plan **out)
{
	_plan_job_ struct plan_job *j = NULL;
	/* The caller waits, so the child has our own nice value. */
	int err = start(file, NULL, false, getpriority(PRIO_PROCESS, 0), &j);

	if (err)
		return diag_error_r(err, "cannot read %s: %s", library_file__path(file),
				    strerror(-err));
	return plan_job__finish(j, out);
}

int plan__load(struct library_file *file, struct plan **out)
{
	int err = plan_load__stored(file, out);

	return err == -ENOENT ? plan__make(file, out) : err;
}

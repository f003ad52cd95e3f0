// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "plan/cache.h"
#include "plan/codec.h"
#include "plan/proof.h"
#include "plan/symbols/debug_file.h"

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

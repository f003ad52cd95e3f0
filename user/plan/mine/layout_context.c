// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Both functions begin as 1.95 and 1.97 have them:
 *
 *	def_id_debug		mov  OFFSET(%rip), %rax		in the GOT
 *				mov  %fs:(%rax), %rax		the ImplicitCtxt, or 0
 *				test %rax, %rax
 *				mov  0x10(%rax), %rsi		its context
 *	track_span_parent	the same three, and
 *				mov  0x10(%rax), %rbx
 *				movzwl 0x1ef50(%rbx), %eax	something far behind its start
 *
 * In 1.85 dep_kind_debug and dep_node_debug do the same.
 *
 * The first reads one field of the ImplicitCtxt only; the second shows that this one is the address
 * of something as large as a GlobalCtxt.
 */
#include "plan/mine/layout_context.h"

#include <errno.h>

#include "base/array.h"
#include "plan/check.h"
#include "plan/code/eval.h"

/* No other struct that an ImplicitCtxt refers to is larger. */
#define FAR 4096

/* Enough for what is of use: the functions go on for long. */
#define STEPS 128

/*
 * `a` is what was read from *at within the struct whose address the thread has at the offset in the
 * word *offset, and *more bytes. The thread's word must have been compared with 0.
 */
static bool is_field(const struct eval *e, const struct sum *a, struct wire_layout_current *out,
		     uint64_t *more)
{
	const struct sum_node *field = sum_node_of(&e->nodes, a, more), *current, *word;
	uint64_t at, none;
	bool tested = false;

	if (!field || field->kind != SUM_LOAD || field->thread || field->size != 8)
		return false;
	current = sum_node_of(&e->nodes, &field->of, &at);
	if (!current || current->kind != SUM_LOAD || !current->thread || current->size != 8 ||
	    at >= FAR)
		return false;
	word = sum_node_of(&e->nodes, &current->of, &none);
	if (!word || none || word->kind != SUM_LOAD || word->thread || word->size != 8 ||
	    !sum_is_constant(&word->of))
		return false;
	for (uint32_t i = 0; i < e->compares.n && !tested; i++) {
		const struct eval_pair *c = &e->compares.items[i];

		tested = sum_is_constant(&c->b) && !c->b.constant &&
			 sum_node_of(&e->nodes, &c->a, &none) == current && !none;
	}
	*out = (struct wire_layout_current){
		.offset = word->of.constant, .context = (uint32_t)at, .known = tested};
	return tested;
}

static bool agree(struct wire_layout_current *known, const struct wire_layout_current *now)
{
	if (known->known && (known->offset != now->offset || known->context != now->context))
		return false;
	*known = *now;
	return true;
}

static const char *read_only_field(const struct eval *e, struct wire_layout_current *out)
{
	struct wire_layout_current now;
	uint64_t more;

	for (uint32_t i = 0; i < e->nodes.n; i++) {
		struct sum node = {.known = true, .n = 1, .terms = {{i, 1}}};

		if (is_field(e, &node, &now, &more) && !agree(out, &now))
			return "a callback of rustc_interface reads several fields of the thread's "
			       "current context";
	}
	return out->known ? NULL : "a callback of rustc_interface reads no context of its thread";
}

/* The fields that are the address of something large. */
static const char *read_large(const struct eval *e, struct wire_layout_current *out)
{
	struct wire_layout_current now, found = {0};
	uint64_t more;

	for (uint32_t i = 0; i < e->nodes.n; i++)
		if (e->nodes.items[i].kind == SUM_LOAD && !e->nodes.items[i].thread &&
		    is_field(e, &e->nodes.items[i].of, &now, &more) && more >= FAR &&
		    more < PLAN_LAYOUT_MAX && !agree(&found, &now))
			return "a callback of rustc_interface finds several contexts of its thread";
	if (!found.known)
		return "a callback of rustc_interface reads nothing far within a context of its "
		       "thread";
	return agree(out, &found) ? NULL : "callbacks of rustc_interface find different contexts";
}

static const struct {
	enum name_kind kind;
	enum name_kind instead; /* in compilers that do not export the first, before 1.95 */
	const char *(*read)(const struct eval *e, struct wire_layout_current *out);
	const char *missing;
} readers[] = {
	{NAME_DEF_ID_DEBUG, NAME_DEP_KIND_DEBUG, read_only_field,
	 "there is no rustc_interface::callbacks::def_id_debug or dep_kind_debug"},
	{NAME_TRACK_PARENT, NAME_DEP_NODE_DEBUG, read_large,
	 "there is no rustc_interface::callbacks::track_span_parent or dep_node_debug"},
};

/* *problem is set if there is such a function. */
static int mine_kind(const struct elf_image *img, const struct layout_function *functions, size_t n,
		     size_t reader, enum name_kind kind, struct wire_layout_current *out,
		     const char **problem)
{
	for (size_t i = 0; i < n; i++) {
		const struct eval_function f = {
			.img = img,
			.entry = functions[i].entry,
			.regions = functions[i].regions,
			.n_regions = functions[i].n_regions,
			.steps = STEPS,
		};
		_free_ struct eval *e = NULL;
		int err;

		if (functions[i].kind != kind)
			continue;
		err = eval__run(&f, &e);
		if (err)
			return err;
		*problem = readers[reader].read(e, out);
		return 0;
	}
	return 0;
}

static int mine_either(const struct elf_image *img, const struct layout_function *functions,
		       size_t n, size_t reader, struct wire_layout_current *out,
		       const char **problem)
{
	const char *missing = readers[reader].missing;
	int err;

	*problem = missing;
	err = mine_kind(img, functions, n, reader, readers[reader].kind, out, problem);
	if (!err && *problem == missing)
		err = mine_kind(img, functions, n, reader, readers[reader].instead, out, problem);
	return err;
}

int layout_context_mine(const struct elf_image *img, const struct layout_function *functions,
			size_t n, struct wire_layout_current *out, const char **problem)
{
	struct wire_layout_current found = {0};
	int err = 0;

	*problem = NULL;
	for (size_t i = 0; i < N_OF(readers) && !err && !*problem; i++)
		err = mine_either(img, functions, n, i, &found, problem);
	if (!err && !*problem)
		*out = found;
	return err;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Rows of facts, and the simplest two of them: where a thread has its context. Both functions begin
 * as 1.95 and 1.97 have them:
 *
 *	def_id_debug		mov  OFFSET(%rip), %rax		in the GOT
 *				mov  %fs:(%rax), %rax		the ImplicitCtxt, or 0
 *				test %rax, %rax
 *				mov  0x10(%rax), %rsi		its context
 *	track_span_parent	the same three, and
 *				mov  0x10(%rax), %rbx
 *				movzwl 0x1ef50(%rbx), %eax	something far behind its start
 *
 * In 1.85 dep_kind_debug and dep_node_debug do the same. The first reads one field of the
 * ImplicitCtxt only; the second shows that this one is the address of something as large as a
 * GlobalCtxt.
 */
#include "plan/mine/layout.h"

#include "base/array.h"

/* No other struct that an ImplicitCtxt refers to is larger. */
#define FAR 4096
/* Enough of the functions that look for a context: they go on for long. */
#define CONTEXT_STEPS 128

/* ---- Rows ------------------------------------------------------------------------------------ */

int layout__run(const struct layout_miner *m, const struct layout_function *f,
		const uint64_t *second, struct eval **out)
{
	const struct eval_function ef = {
		.img = m->img,
		EVAL_OF(f),
		.has_second = second,
		.second = second ? *second : 0,
	};

	return eval__run(&ef, out);
}

int layout__run_callee(const struct layout_miner *m, uint64_t entry, uint64_t size, uint32_t steps,
		       struct eval **out)
{
	const struct code_region region = {entry, size};
	const struct eval_function ef = {
		.img = m->img,
		.entry = entry,
		.regions = &region,
		.n_regions = 1,
		.steps = steps,
	};

	return eval__run(&ef, out);
}

static const char *read_fact(struct layout_miner *m, const struct layout_fact *fact,
			     const struct eval *e)
{
	struct letters l = {.known = 0};
	int shown = 1;

	if (e->partial && fact->lost)
		return fact->lost;
	if (m->l.wire.globals)
		letters__set(&l, 'Z', m->l.wire.globals);
	if (fact->shape && fact->several)
		shown = shape__agreed(e, fact->shape, &l);
	else if (fact->shape)
		shown = shape__shown(e, fact->shape, &l);
	if (shown <= 0)
		return shown < 0 ? fact->several : fact->unlike;
	for (size_t i = 0; i < N_OF(fact->fields) && fact->fields[i].letter; i++)
		*(uint32_t *)((char *)m + fact->fields[i].at) =
			(uint32_t)letters__of(&l, fact->fields[i].letter);
	return fact->read ? fact->read(m, e, &l) : NULL;
}

static int mine_function(struct layout_miner *m, const struct layout_fact *fact, bool follows,
			 const char **problem)
{
	const struct plan_layout before = m->l;
	const struct eval_function ef = {
		.img = m->img,
		EVAL_OF(m->f),
		.steps = fact->steps,
		.follows = follows,
		.given = fact->given,
		.n_given = follows && fact->given,
	};
	_free_ struct eval *e = NULL;
	int err = eval__run(&ef, &e);

	if (err)
		return err;
	*problem = read_fact(m, fact, e);
	if (*problem)
		m->l = before;
	return m->err;
}

/* Any of several functions of a kind will do: some are laid out apart, or get other arguments. */
static int mine_fact(struct layout_miner *m, const struct layout_fact *fact, const char **problem)
{
	int err = 0, tried = 0;

	if (!fact->instead)
		*problem = fact->missing;
	for (size_t i = 0; i < m->n && tried < LAYOUT_COPIES_MAX && !err; i++) {
		m->f = &m->functions[i];
		if (m->f->kind != fact->kind && (!fact->also || m->f->kind != fact->also))
			continue;
		tried++;
		err = mine_function(m, fact, false, problem);
		if (!err && *problem && fact->follows)
			err = mine_function(m, fact, true, problem);
		if (!*problem)
			break;
	}
	return !tried && fact->without ? fact->without(m, problem) : err;
}

int layout__mine_facts(struct layout_miner *m, const struct layout_fact *facts, size_t n,
		       const char **problem)
{
	int err = 0;

	*problem = NULL;
	for (size_t i = 0; i < n && !err; i++)
		if (facts[i].instead == (*problem != NULL))
			err = mine_fact(m, &facts[i], problem);
		else if (!facts[i].instead)
			break;
	return err;
}

/* ---- A thread's context ---------------------------------------------------------------------- */

static const char *read_only_field(struct layout_miner *m, const struct eval *e,
				   const struct letters *field)
{
	struct letters l = *field;

	if (letters__of(&l, 'A') >= FAR || !shape__shown(e, "compare fs[[Y]8]8, 0", &l))
		return "a callback of rustc_interface reads no context of its thread";
	m->l.wire.current = (struct wire_layout_current){
		.offset = letters__of(&l, 'Y'),
		.context = (uint32_t)letters__of(&l, 'A'),
		.known = 1,
	};
	return NULL;
}

/* The fields that are the address of something large. */
static const char *read_large(struct layout_miner *m, const struct eval *e,
			      const struct letters *none)
{
	struct letters found = *none;
	bool known = false;

	for (uint32_t i = 0; i < e->nodes.n; i++) {
		struct letters l = *none;

		if (e->nodes.items[i].kind != SUM_LOAD || e->nodes.items[i].thread ||
		    !shape__is(&e->nodes, &e->nodes.items[i].of, "[fs[[Y]8]8+A]8+B", &l) ||
		    letters__of(&l, 'B') < FAR || letters__of(&l, 'A') >= FAR ||
		    !shape__shown(e, "compare fs[[Y]8]8, 0", &l))
			continue;
		if (known && (letters__of(&l, 'A') != letters__of(&found, 'A') ||
			      letters__of(&l, 'Y') != letters__of(&found, 'Y')))
			return "a callback of rustc_interface finds several contexts of its thread";
		found = l;
		known = true;
	}
	if (!known)
		return "a callback of rustc_interface reads nothing far within a context of its "
		       "thread";
	return m->l.wire.current.offset == letters__of(&found, 'Y') &&
			       m->l.wire.current.context == letters__of(&found, 'A')
		       ? NULL
		       : "callbacks of rustc_interface find different contexts";
}

int layout_context_mine(const struct elf_image *img, const struct layout_function *functions,
			size_t n, struct wire_layout_current *out, const char **problem)
{
	/* Compilers before 1.95 do not export the first of each pair. */
	static const struct layout_fact facts[] = {
		{.kind = NAME_DEF_ID_DEBUG,
		 .also = NAME_DEP_KIND_DEBUG,
		 .missing =
			 "there is no rustc_interface::callbacks::def_id_debug or dep_kind_debug",
		 .steps = CONTEXT_STEPS,
		 .shape = "node [fs[[Y]8]8+A]8",
		 .unlike = "a callback of rustc_interface reads no context of its thread",
		 .several = "a callback of rustc_interface reads several fields of the thread's "
			    "current context",
		 .read = read_only_field},
		{.kind = NAME_TRACK_PARENT,
		 .also = NAME_DEP_NODE_DEBUG,
		 .missing = "there is no rustc_interface::callbacks::track_span_parent or "
			    "dep_node_debug",
		 .steps = CONTEXT_STEPS,
		 .read = read_large},
	};
	struct layout_miner m = {.img = img, .functions = functions, .n = n};
	int err = layout__mine_facts(&m, facts, N_OF(facts), problem);

	if (!err && !*problem)
		*out = m.l.wire.current;
	return err;
}

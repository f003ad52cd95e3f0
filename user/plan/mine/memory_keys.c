// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/memory_keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/code/eval.h"
#include "plan/mine/last_field.h"
#include "plan/symbols/key_name.h"

/* Functions of either kind. Names are untrusted, and there are two dozen. */
#define FUNCTIONS_MAX 256
/* Jumps from a key's function to that of a DefId, or of an InstanceKind. */
#define JUMPS_MAX 4
/* Only the beginning of a function shows what it compares. */
#define STEPS_MAX 64
/* Above all offsets in keys. */
#define OFFSET_MAX LAST_FIELD_MAX
#define WORD	   4

struct key_function {
	char type[KEY_TYPE_MAX];
	struct code_region region;
};

struct memory_keys {
	struct elf_image *img;
	struct code_decoder *decoder;
	struct key_function spans[FUNCTIONS_MAX], debugs[FUNCTIONS_MAX];
	uint32_t n_spans, n_debugs;
	struct wire_memory_key def, kind; /* of a DefId, and of an InstanceKind, by itself */
	uint64_t def_at, kind_at;	  /* their functions; 0: unknown */
	struct eval *def_run, *kind_run;  /* the beginnings of these */
	uint64_t value_at; /* offset of the value in any PseudoCanonicalInput, if has_value is 1 */
	int has_value;	   /* -1: not looked for yet */
	struct passed_keys passed; /* in compilers that pass definitions on */
	const char *problem;
};

static const struct wire_memory_key local_key = {
	.words = {[0 ... WIRE_VARIANTS - 1] = WIRE_LOCAL_WORD},
	.other = WIRE_LOCAL_WORD,
};

static void add_key_function(struct key_function *functions, uint32_t *n, const char *type,
			     const struct elf_symbol *sym)
{
	struct key_function *f;

	if (*n == FUNCTIONS_MAX)
		return;
	f = &functions[(*n)++];
	strcpy(f->type, type);
	f->region = (struct code_region){sym->addr, sym->size};
}

/* Parts that were split off have a suffix. */
static bool is_part(const char *symbol)
{
	return strchr(symbol, '.') && !strstr(symbol, ".llvm.");
}

static const struct key_function *function_of(const struct key_function *functions, uint32_t n,
					      const char *type)
{
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(functions[i].type, type))
			return &functions[i];
	return NULL;
}

static const struct key_function *span_at(const struct memory_keys *m, uint64_t addr)
{
	for (uint32_t i = 0; i < m->n_spans; i++)
		if (m->spans[i].region.addr == addr)
			return &m->spans[i];
	return NULL;
}

static int run(const struct memory_keys *m, const struct key_function *f, const uint32_t *word,
	       struct eval **out)
{
	const struct eval_given given = {WIRE_REG_DI, WORD, 0, word ? *word : 0};
	struct eval_function ef = {
		.img = m->img,
		.entry = f->region.addr,
		.regions = &f->region,
		.n_regions = 1,
		.steps = STEPS_MAX,
		.given = &given,
		.n_given = word != NULL,
	};

	return eval__run(&ef, out);
}

/* `a` is the word at *at of what the function was given the address of. */
static bool is_word_of_self(const struct eval *e, const struct sum *a, uint64_t *at)
{
	return sum_is_field(&e->nodes, a, WIRE_REG_DI, WORD, at);
}

/*
 * The number of the word that is a definition's index: the crate behind it is the first one that is
 * compared with 0, the number of the crate that is compiled. WIRE_NO_WORD: none is.
 */
static uint8_t index_word(const struct eval *e)
{
	for (uint32_t i = 0; i < e->compares.n; i++) {
		const struct eval_pair *c = &e->compares.items[i];
		uint64_t at;

		if (!sum_is_constant(&c->b) || c->b.constant || !is_word_of_self(e, &c->a, &at))
			continue;
		if (at < WORD || at % WORD || at >= WORD * WIRE_MEMORY_WORDS)
			return WIRE_NO_WORD;
		return (uint8_t)(at / WORD - 1);
	}
	return WIRE_NO_WORD;
}

static int mine_variant(const struct memory_keys *m, const struct key_function *f, uint32_t word,
			uint8_t *out)
{
	_free_ struct eval *e = NULL;
	int err = run(m, f, &word, &e);

	if (!err)
		*out = index_word(e);
	return err;
}

/*
 * The words of all variants; `e` is a run of the function. If others are in a niche, the word of
 * the variant 0 is what the first word is compared with.
 */
static int mine_variants(const struct memory_keys *m, const struct key_function *f,
			 const struct eval *e, struct wire_memory_key *k)
{
	const uint32_t index = 1; /* any that a definition can have */
	int err = 0;

	k->first = 0;
	for (uint32_t i = 0; i < e->compares.n && !k->first; i++) {
		const struct eval_pair *c = &e->compares.items[i];
		uint64_t at;

		if (is_word_of_self(e, &c->a, &at) && !at && sum_is_constant(&c->b) &&
		    c->b.constant > INT32_MAX)
			k->first = (uint32_t)c->b.constant;
	}
	for (uint32_t i = 0; i < WIRE_VARIANTS && !err; i++)
		err = mine_variant(m, f, k->first + i, &k->words[i]);
	k->other = WIRE_NO_WORD;
	if (k->first && !err)
		err = mine_variant(m, f, index, &k->other);
	return err;
}

static int mine(struct memory_keys *m)
{
	const struct key_function *def = function_of(m->spans, m->n_spans, "DefId");
	const struct key_function *kind = function_of(m->spans, m->n_spans, "InstanceKind");
	int err;

	if (!def || !kind) {
		m->problem = "there is no QueryKey::default_span of DefId and InstanceKind";
		return 0;
	}
	m->passed = (struct passed_keys){.img = m->img, .decoder = m->decoder};
	err = run(m, def, NULL, &m->def_run);
	if (err)
		return err;
	m->def.other = index_word(m->def_run);
	memset(m->def.words, m->def.other, sizeof(m->def.words));
	if (m->def.other == 0)
		m->def_at = def->region.addr;
	err = run(m, kind, NULL, &m->kind_run) ?: mine_variants(m, kind, m->kind_run, &m->kind);
	if (!err && m->kind.words[0] != WIRE_NO_WORD)
		m->kind_at = kind->region.addr;
	if (!err && !m->def_at)
		err = passed_keys__learn(&m->passed, &def->region);
	if (err || passed_keys__known(&m->passed))
		return err;
	if (!m->def_at)
		m->problem = "<DefId as QueryKey>::default_span compares no crate";
	else if (!m->kind_at)
		m->problem = "<InstanceKind as QueryKey>::default_span compares no crate";
	return 0;
}

int memory_keys__new(struct elf_image *img, struct code_decoder *decoder, struct memory_keys **out)
{
	_memory_keys_ struct memory_keys *m = calloc(1, sizeof(*m));
	const struct elf_symbol *syms;
	char type[KEY_TYPE_MAX];
	size_t n;
	int err;

	if (!m)
		return -ENOMEM;
	m->img = img;
	m->decoder = decoder;
	m->has_value = -1;
	err = elf_image__symbols(img, &syms, &n);
	for (size_t i = 0; !err && i < n; i++) {
		if (key_name__of_span(syms[i].name, type) && !is_part(syms[i].name))
			add_key_function(m->spans, &m->n_spans, type, &syms[i]);
		else if (key_name__of_debug(syms[i].name, type) && !is_part(syms[i].name))
			add_key_function(m->debugs, &m->n_debugs, type, &syms[i]);
	}
	err = err ?: mine(m);
	if (err)
		return err;
	*out = take_ptr(m);
	return 0;
}

/* A call with a DefId that is made of this word and the compiled crate. */
static bool is_local(const struct memory_keys *m, const struct eval *e,
		     const struct eval_call *call, uint64_t *at)
{
	return m->def_at && call->target == m->def_at && is_word_of_self(e, &call->halves[0], at) &&
	       sum_is_constant(&call->halves[1]) && !call->halves[1].constant && *at < OFFSET_MAX;
}

/*
 * One step towards the definition: the word that the function makes a DefId of the compiled crate
 * with, and asks that for the place; or the one function that is jumped to, and the part of itself
 * that it is given. 1; 0: neither.
 */
static int follow(const struct memory_keys *m, const struct key_function **f, uint64_t *offset,
		  bool *local)
{
	_free_ struct eval *e = NULL;
	const struct eval_pair *to;
	uint64_t at;
	int err = run(m, *f, NULL, &e);

	if (err)
		return err;
	if (e->n_calls == 1 && !e->leaves.n && is_local(m, e, &e->calls[0], &at)) {
		*offset += at;
		*local = true;
		return 1;
	}
	to = &e->leaves.items[0];
	if (e->leaves.n != 1 || e->returns.n ||
	    !sum_is_argument(&e->nodes, &to->b, WIRE_REG_DI, &at) || at >= OFFSET_MAX)
		return 0;
	*offset += at;
	*f = span_at(m, to->a.constant);
	return *f != NULL;
}

/* Both begin with the same calls. Code before these may differ, such as where the words are. */
static bool begins_alike(const struct eval *a, const struct eval *b)
{
	for (uint32_t i = 0; i < a->n_calls && i < b->n_calls; i++)
		if (!a->calls[i].target || a->calls[i].target != b->calls[i].target)
			return false;
	return a->n_calls && a->n_calls == b->n_calls && a->compares.n == b->compares.n;
}

/* It reads nothing of what it is given but a definition: the word `index` and the one behind it. */
static bool reads_only(const struct eval *e, uint8_t index)
{
	uint64_t first = (uint64_t)index * WORD, at;

	for (uint32_t i = 0; i < e->nodes.n; i++) {
		const struct sum_node *node = &e->nodes.items[i];

		if (node->kind == SUM_LOAD &&
		    sum_is_argument(&e->nodes, &node->of, WIRE_REG_DI, &at) &&
		    (node->size != WORD || (at != first && at != first + WORD)))
			return false;
	}
	return true;
}

/*
 * A function of its own may have that of a DefId or of an InstanceKind inlined. 1 and where the
 * definition is, 0, or -ENOMEM.
 */
static int find_copy(const struct memory_keys *m, const struct key_function *f,
		     struct wire_memory_key *out)
{
	struct wire_memory_key k = {.offset = 0};
	_free_ struct eval *e = NULL;
	int err = run(m, f, NULL, &e);
	uint8_t index = err ? WIRE_NO_WORD : index_word(e);

	if (!err && index != WIRE_NO_WORD && begins_alike(e, m->def_run) && reads_only(e, index)) {
		*out = m->def;
		out->offset = (uint32_t)index * WORD;
		return 1;
	}
	if (err || !begins_alike(e, m->kind_run))
		return err;
	err = mine_variants(m, f, e, &k);
	if (err || k.first != m->kind.first || k.other != m->kind.other ||
	    memcmp(k.words, m->kind.words, sizeof(k.words)))
		return err;
	*out = m->kind;
	return 1;
}

static int find_span(const struct memory_keys *m, const char *type, uint64_t offset,
		     struct wire_memory_key *out)
{
	const struct key_function *f = function_of(m->spans, m->n_spans, type);
	bool local = false;
	int found = f != NULL;

	if (f && passed_keys__known(&m->passed)) {
		found = passed_keys__find(&m->passed, &f->region, out);
		if (found == 1)
			out->offset += (uint32_t)offset;
		return found == 1 && out->offset >= OFFSET_MAX ? 0 : found;
	}
	for (int i = 0; i < JUMPS_MAX && found == 1; i++) {
		bool def = f->region.addr == m->def_at, kind = f->region.addr == m->kind_at;
		int copy = 0;

		if (local || def || kind)
			*out = local ? local_key : def ? m->def : m->kind;
		else
			copy = find_copy(m, f, out);
		if (copy < 0)
			return copy;
		if (local || def || kind || copy) {
			offset += out->offset;
			out->offset = (uint32_t)offset;
			return offset < OFFSET_MAX && !(offset % WORD);
		}
		found = follow(m, &f, &offset, &local);
	}
	return found < 0 ? found : 0;
}

/* The T of a PseudoCanonicalInput<T>. */
static bool value_type(const char *type, char value[KEY_TYPE_MAX])
{
	static const char prefix[] = "PseudoCanonicalInput<";
	size_t len = strlen(type);

	if (len < sizeof(prefix) + 1 || len >= KEY_TYPE_MAX ||
	    strncmp(type, prefix, sizeof(prefix) - 1) || type[len - 1] != '>')
		return false;
	len -= sizeof(prefix);
	memcpy(value, type + sizeof(prefix) - 1, len);
	value[len] = '\0';
	return true;
}

/*
 * Where the value is in such a key. The function that prints it shows that, by its name, or else
 * all functions that print one, if they agree. 1, 0, or an error.
 */
static int find_value(struct memory_keys *m, const char *type, uint64_t *offset)
{
	const struct key_function *f = function_of(m->debugs, m->n_debugs, type);

	if (f)
		return last_field__find(m->decoder, f->region.addr, offset);
	if (m->has_value < 0)
		m->has_value = last_field__of_generic(m->img, m->decoder, "PseudoCanonicalInput",
						      &m->value_at);
	*offset = m->value_at;
	return m->has_value;
}

/* A type with arguments, such as TraitRef<..>, is as much about those. A tuple is about one item.
 */
static bool is_definition(const char *type)
{
	return type[0] == '(' || !strchr(type, '<');
}

int memory_keys__find(struct memory_keys *m, const char *type, struct wire_memory_key *out)
{
	char value[KEY_TYPE_MAX];
	uint64_t offset = 0;
	int found;

	if (m->problem)
		return 0;
	if (!value_type(type, value))
		return is_definition(type) ? find_span(m, type, 0, out) : 0;
	if (!is_definition(value) || !function_of(m->spans, m->n_spans, value))
		return 0;
	found = find_value(m, type, &offset);
	return found == 1 ? find_span(m, value, offset, out) : found;
}

/* Another function may ask what it is given the address of. */
static bool passes_self(const struct eval *e, const struct eval_call *call)
{
	const struct sum *passed[] = {&call->first, &call->second, &call->third, &call->fourth};
	uint64_t more;

	for (size_t i = 0; i < N_OF(passed); i++)
		if (sum_is_argument(&e->nodes, passed[i], WIRE_REG_DI, &more))
			return true;
	return false;
}

static bool reads_self(const struct eval *e)
{
	uint64_t at;

	for (uint32_t i = 0; i < e->nodes.n; i++)
		if (e->nodes.items[i].kind == SUM_LOAD &&
		    sum_is_argument(&e->nodes, &e->nodes.items[i].of, WIRE_REG_DI, &at))
			return true;
	return false;
}

/* Note one more call or jump: 0, or -EINVAL if it is another one. */
static int note_call(const struct memory_keys *m, const struct eval *e,
		     const struct eval_call *call, struct memory_asked *all, bool *any)
{
	struct memory_asked one = {.function = call->target};

	if (!span_at(m, call->target))
		return passes_self(e, call) ? -EINVAL : 0;
	one.local = is_local(m, e, call, &one.offset);
	if (!one.local && !sum_is_argument(&e->nodes, &call->first, WIRE_REG_DI, &one.offset))
		return -EINVAL;
	if (*any &&
	    (all->function != one.function || all->offset != one.offset || all->local != one.local))
		return -EINVAL;
	*all = one;
	*any = true;
	return 0;
}

int memory_keys__asked(const struct memory_keys *m, const struct eval *e, struct memory_asked *out)
{
	struct memory_asked all = {.function = 0};
	bool any = false;
	int err = e->partial || e->n_calls == EVAL_CALLS ? -EINVAL : 0;

	for (uint32_t i = 0; i < e->n_calls && !err; i++)
		err = note_call(m, e, &e->calls[i], &all, &any);
	for (uint32_t i = 0; i < e->leaves.n && !err; i++) {
		struct eval_call jump = {.target = e->leaves.items[i].a.constant,
					 .first = e->leaves.items[i].b};

		err = note_call(m, e, &jump, &all, &any);
	}
	if (!err && !any && reads_self(e))
		err = -EINVAL;
	if (err || !any)
		return err;
	*out = all;
	return 1;
}

int memory_keys__asks(struct memory_keys *m, const char *type, const struct memory_asked *asked,
		      uint64_t *offset)
{
	char value[KEY_TYPE_MAX];
	const struct key_function *f;
	uint64_t at = 0;
	bool local = false;
	int found = 1;

	if (value_type(type, value)) {
		found = find_value(m, type, &at);
		type = value;
	}
	f = found == 1 ? function_of(m->spans, m->n_spans, type) : NULL;
	if (!f)
		return found < 0 ? found : -ENOENT;
	for (int i = 0; i < JUMPS_MAX && found == 1; i++) {
		if (local == asked->local && (local || f->region.addr == asked->function)) {
			*offset = at;
			return 1;
		}
		found = follow(m, &f, &at, &local);
	}
	return found < 0 ? found : 0;
}

const char *memory_keys__problem(const struct memory_keys *m)
{
	return m->problem;
}

void memory_keys__free(struct memory_keys *m)
{
	if (!m)
		return;
	free(m->def_run);
	free(m->kind_run);
	free(m);
}

/* ---- Keys that are passed on ----------------------------------------------------------------- */

/* Steps of a function and the beginning of the one that it passes a definition on to. */
#define PASSED_KEYS_STEPS_MAX 64
/* Bytes from the start of a key to the definition in it. */
#define PASSED_KEYS_OFFSET_MAX 1024

/* A definition within the key that the function is given the address of. */
struct passed {
	uint64_t at; /* of its index; the crate is behind it */
	bool local;  /* there is no crate: it is that of the compiled one */
};

/* The function's last jump, which leaves it; false if there is none. */
static bool find_jump(const struct passed_keys *p, const struct code_region *f, uint64_t *jump)
{
	struct code_insn insn;
	bool found = false;

	for (uint64_t addr = f->addr; addr - f->addr < f->size; addr += insn.size) {
		if (!code_decoder__at(p->decoder, addr, &insn))
			return false;
		if (insn.flow != CODE_JMP || insn.target - f->addr < f->size)
			continue;
		if (found)
			return false;
		*jump = addr;
		found = true;
	}
	return found;
}

/* Run the function for the values that it passes on in the registers of `asked`, or, without
 * these, for all that it does. */
static int passed_keys_run(const struct passed_keys *p, const struct code_region *f,
			   const uint8_t *variant, uint64_t until, const struct wire_place *asked,
			   struct eval **out)
{
	const struct eval_given given = {WIRE_REG_DI, 1, 0, variant ? *variant : 0};
	const struct eval_function ef = {
		.img = p->img,
		.entry = f->addr,
		.regions = f,
		.n_regions = 1,
		.steps = PASSED_KEYS_STEPS_MAX,
		.follows = !asked,
		.given = &given,
		.n_given = variant != NULL,
		.until = until,
		.asked = asked,
		.n_asked = asked ? EVAL_ASKED : 0,
	};

	return eval__run(&ef, out);
}

/* A word that is not far away. */
static bool is_word(const struct eval *e, const struct sum *a, uint64_t *at)
{
	return is_word_of_self(e, a, at) && *at < PASSED_KEYS_OFFSET_MAX && *at % WORD == 0;
}

static bool read_passed(const struct eval *e, const struct sum *index, const struct sum *crate,
			struct passed *out)
{
	uint64_t behind;

	if (!is_word(e, index, &out->at))
		return false;
	out->local = sum_is_constant(crate) && !crate->constant;
	return out->local || (is_word(e, crate, &behind) && behind == out->at + WORD);
}

/* The function that is jumped to compares the crate with that of the compiled one. */
static int is_looked_up(const struct passed_keys *p, const struct code_region *f,
			const uint8_t *variant, const struct passed *passed, bool *is)
{
	_free_ struct eval *e = NULL;
	int err = passed_keys_run(p, f, variant, 0, NULL, &e);

	*is = false;
	for (uint32_t i = 0; !err && i < e->compares.n && !*is; i++) {
		const struct eval_pair *c = &e->compares.items[i];
		uint64_t at;

		if (!sum_is_constant(&c->b) || c->b.constant)
			continue;
		*is = passed->local ? sum_is_constant(&c->a) && !c->a.constant
				    : is_word(e, &c->a, &at) && at == passed->at + WORD;
	}
	return err;
}

int passed_keys__learn(struct passed_keys *p, const struct code_region *f)
{
	/* Those of the later arguments: the first is the context. */
	static const struct wire_place asked[EVAL_ASKED] = {{.reg = WIRE_REG_DX},
							    {.reg = WIRE_REG_CX},
							    {.reg = WIRE_REG_R8},
							    {.reg = WIRE_REG_R9}};
	_free_ struct eval *e = NULL;
	uint64_t jump;
	int err = find_jump(p, f, &jump) ? passed_keys_run(p, f, NULL, jump, asked, &e) : -ENODATA;

	for (size_t i = 0; !err && i + 1 < N_OF(asked); i++) {
		struct passed passed;
		bool is;

		if (!read_passed(e, &e->answers[i], &e->answers[i + 1], &passed) || passed.at ||
		    passed.local)
			continue;
		err = is_looked_up(p, f, NULL, &passed, &is);
		if (err || !is)
			continue;
		p->index = asked[i].reg;
		p->crate = asked[i + 1].reg;
		return 0;
	}
	return err == -ENODATA ? 0 : err;
}

/* 1, 0 or -ENOMEM. */
static int find_passed(const struct passed_keys *p, const struct code_region *f,
		       const uint8_t *variant, struct passed *out)
{
	const struct wire_place asked[EVAL_ASKED] = {{.reg = p->index}, {.reg = p->crate}};
	_free_ struct eval *e = NULL;
	uint64_t jump;
	bool is = false;
	int err =
		find_jump(p, f, &jump) ? passed_keys_run(p, f, variant, jump, asked, &e) : -ENODATA;

	if (!err && read_passed(e, &e->answers[0], &e->answers[1], out))
		err = is_looked_up(p, f, variant, out, &is);
	return err && err != -ENODATA ? err : is;
}

int passed_keys__find(const struct passed_keys *p, const struct code_region *f,
		      struct wire_memory_key *out)
{
	struct passed passed;
	int found = find_passed(p, f, NULL, &passed);
	bool any = false;

	if (found < 0)
		return found;
	if (found) {
		*out = (struct wire_memory_key){
			.offset = (uint32_t)passed.at,
			.other = passed.local ? WIRE_LOCAL_WORD : 0,
		};
		memset(out->words, out->other, sizeof(out->words));
		return 1;
	}
	/* By the variant of an enum, in the first byte. */
	*out = (struct wire_memory_key){.other = WIRE_NO_WORD, .narrow = 1};
	for (uint8_t i = 0; i < WIRE_VARIANTS; i++) {
		found = find_passed(p, f, &i, &passed);
		if (found < 0)
			return found;
		out->words[i] = WIRE_NO_WORD;
		if (!found || passed.local || !passed.at ||
		    passed.at / WORD + 1 >= WIRE_MEMORY_WORDS)
			continue;
		out->words[i] = (uint8_t)(passed.at / WORD);
		any = true;
	}
	return any;
}

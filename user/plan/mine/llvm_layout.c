// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/llvm_layout.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"

/* ---- Sweep ----------------------------------------------------------------------------------- */

/*
 * What registers hold along a function of LLVM, as far as that follows from an argument, from the
 * result of a call, or from the stack (llvm_layout.h).
 */

/* PassManager<Function>::run() has 6.4 kB. */
#define LLVM_RUN_MAX 16384

/* No struct of LLVM on the way to a name is larger. */
#define LLVM_FIELD_MAX 65536u

#define LLVM_LOADS_MAX 4

enum llvm_root {
	LLVM_ROOT_UNKNOWN,
	LLVM_ROOT_ARGUMENT, /* the one that is followed */
	LLVM_ROOT_CONSTANT, /* `value` */
	LLVM_ROOT_RESULT,   /* of a call with the argument `value` */
	LLVM_ROOT_SLOT,	    /* the word at `value` and the stack pointer */
	LLVM_ROOT_LOADED,   /* what the instruction at `value` loads from elsewhere */
};

/*
 * What loads from a root lead to: `n` of them, `at` bytes from the address before. Without padding,
 * as values are compared by their bytes.
 */
struct llvm_value {
	uint64_t value;
	uint32_t at[LLVM_LOADS_MAX];
	uint32_t root;
	uint32_t n;
};

struct llvm_values {
	struct llvm_value regs[CODE_REG_SP];
};

/* Jumps forward of one function that are remembered. */
#define LLVM_JUMPS_MAX 32

struct llvm_jump {
	uint64_t to;
	struct llvm_values before;
};

struct llvm_sweep {
	struct llvm_values now;
	struct wire_llvm *out;
	struct code_insn insn;
	struct llvm_jump jumps[LLVM_JUMPS_MAX];
	uint32_t n_jumps;
	bool found;
	uint32_t steps; /* of one that has several */
	enum wire_llvm_kind kind;
	enum wire_reg argument; /* that is followed */
};

/* Reads `now` and `insn`. */
typedef void (*llvm_sweep_fn)(struct llvm_sweep *s);

static const struct llvm_value *llvm_sweep__value(const struct llvm_sweep *s, uint8_t reg)
{
	static const struct llvm_value unknown;

	return reg < CODE_REG_SP ? &s->now.regs[reg] : &unknown;
}

/* What a load from `disp` bytes behind an address has. */
static struct llvm_value llvm_value__load(const struct llvm_value *from, int64_t disp)
{
	struct llvm_value v = *from;

	if (!v.root || v.root == LLVM_ROOT_CONSTANT || v.n == LLVM_LOADS_MAX || disp < 0 ||
	    disp >= LLVM_FIELD_MAX)
		return (struct llvm_value){0};
	v.at[v.n++] = (uint32_t)disp;
	return v;
}

static bool llvm_value__is(const struct llvm_value *a, const struct llvm_value *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static void call(struct llvm_sweep *s)
{
	static const uint8_t kept[] = {WIRE_REG_BX,  WIRE_REG_BP,  WIRE_REG_R12,
				       WIRE_REG_R13, WIRE_REG_R14, WIRE_REG_R15};
	const struct llvm_value *first = llvm_sweep__value(s, WIRE_REG_DI);
	struct llvm_values after = {0};

	for (size_t i = 0; i < N_OF(kept); i++)
		after.regs[kept[i]] = s->now.regs[kept[i]];
	if (first->root == LLVM_ROOT_CONSTANT)
		after.regs[WIRE_REG_AX] =
			(struct llvm_value){.root = LLVM_ROOT_RESULT, .value = first->value};
	s->now = after;
}

static void step(struct llvm_sweep *s)
{
	const struct code_insn *insn = &s->insn;
	const struct llvm_value *from = llvm_sweep__value(s, insn->base);
	bool moves_sp = insn->writes >> CODE_REG_SP;
	bool writes_slot = insn->stores && insn->base == CODE_REG_SP;
	struct llvm_value new = {0};

	if (insn->flow == CODE_CALL || insn->flow == CODE_CALL_INDIRECT) {
		call(s);
		return;
	}
	if (insn->shape == CODE_MOVE64)
		new = *from;
	else if (insn->shape == CODE_LEA_RIP)
		new = (struct llvm_value){.root = LLVM_ROOT_CONSTANT, .value = insn->target};
	else if (insn->shape == CODE_LOAD64 && insn->base == CODE_REG_SP)
		new = (struct llvm_value){.root = LLVM_ROOT_SLOT, .value = (uint64_t)insn->disp};
	else if (insn->shape == CODE_LOAD64 && !from->root)
		new = (struct llvm_value){.root = LLVM_ROOT_LOADED, .value = insn->addr};
	else if (insn->shape == CODE_LOAD64)
		new = llvm_value__load(from, insn->disp);

	/* The stack pointer moves, or some words on the stack are written. */
	for (int r = 0; (moves_sp || writes_slot) && r < CODE_REG_SP; r++) {
		const struct llvm_value *v = &s->now.regs[r];

		if (v->root == LLVM_ROOT_SLOT &&
		    (moves_sp || ((int64_t)v->value < insn->disp + insn->stores &&
				  insn->disp < (int64_t)v->value + 8)))
			s->now.regs[r] = (struct llvm_value){0};
	}
	for (int r = 0; r < CODE_REG_SP; r++)
		if (insn->writes & 1u << r)
			s->now.regs[r] = (struct llvm_value){0};
	if (new.root && insn->reg < CODE_REG_SP && insn->writes & 1u << insn->reg)
		s->now.regs[insn->reg] = new;
}

/* ---- All of a function ----------------------------------------------------------------------- */

/*
 * The values with which control comes to the instruction: those on which all ways there agree.
 * `falls`: also from the one before.
 */
static void arrive(struct llvm_sweep *s, bool falls)
{
	bool known = falls;

	for (uint32_t i = 0; i < s->n_jumps; i++) {
		const struct llvm_values *before = &s->jumps[i].before;

		if (s->jumps[i].to != s->insn.addr)
			continue;
		for (int r = 0; r < CODE_REG_SP && known; r++)
			if (!llvm_value__is(&s->now.regs[r], &before->regs[r]))
				s->now.regs[r] = (struct llvm_value){0};
		if (!known)
			s->now = *before;
		known = true;
	}
	if (!known)
		s->now = (struct llvm_values){0};
}

/* Whether a jump leads further, so that the function goes on. */
static bool leads_on(const struct llvm_sweep *s, uint64_t at, uint64_t end)
{
	for (uint32_t i = 0; i < s->n_jumps; i++)
		if (s->jumps[i].to >= at && s->jumps[i].to < end)
			return true;
	return false;
}

static uint64_t end_of(const struct code_region *f)
{
	return f->addr + (f->size < LLVM_RUN_MAX ? f->size : LLVM_RUN_MAX);
}

static void begin(struct llvm_sweep *s)
{
	s->now = (struct llvm_values){0};
	s->now.regs[s->argument ?: WIRE_REG_DI].root = LLVM_ROOT_ARGUMENT;
}

/*
 * Call `see` before each instruction of a function, in the order of their addresses. Jumps back are
 * not followed: what a loop changes is taken for what it was before.
 */
static void llvm_sweep__run(struct code_decoder *d, const struct code_region *f, llvm_sweep_fn see,
			    struct llvm_sweep *s)
{
	uint64_t end = end_of(f);
	bool falls = true;

	begin(s);
	for (uint64_t at = f->addr; at < end && code_decoder__at(d, at, &s->insn);
	     at += s->insn.size) {
		if (!falls && !leads_on(s, at, end))
			return;
		arrive(s, falls);
		see(s);
		if ((s->insn.flow == CODE_JCC || s->insn.flow == CODE_JMP) &&
		    s->n_jumps < LLVM_JUMPS_MAX)
			s->jumps[s->n_jumps++] = (struct llvm_jump){s->insn.target, s->now};
		step(s);
		falls = code_insn__goes_on(&s->insn);
	}
}

/* ---- Straight lines -------------------------------------------------------------------------- */

#define TARGETS_MAX 1024

/*
 * The same, but nothing is known where a jump of the function may lead to. So what is known is
 * true, as long as other functions do not jump into this one. False, and nothing was seen: it has
 * more such places than are looked at, or jumps to computed ones.
 */
static bool llvm_sweep__lines(struct code_decoder *d, const struct code_region *f,
			      llvm_sweep_fn see, struct llvm_sweep *s)
{
	uint64_t targets[TARGETS_MAX];
	struct code_insn insn;
	size_t n = 0;

	for (uint64_t at = f->addr; at < end_of(f); at += insn.size) {
		if (!code_decoder__at(d, at, &insn) || insn.flow == CODE_JMP_INDIRECT ||
		    n == TARGETS_MAX)
			return false;
		if (insn.flow == CODE_JCC || insn.flow == CODE_JMP)
			targets[n++] = insn.target;
	}
	if (n)
		qsort(targets, n, sizeof(*targets), array__by_u64);
	begin(s);
	for (uint64_t at = f->addr; at < end_of(f) && code_decoder__at(d, at, &s->insn);
	     at += s->insn.size) {
		if (n && bsearch(&at, targets, n, sizeof(at), array__by_u64))
			s->now = (struct llvm_values){0};
		see(s);
		step(s);
		if (!code_insn__goes_on(&s->insn))
			s->now = (struct llvm_values){0};
	}
	return true;
}

/* Bytes of a function that are looked at. */
#define FUNCTION_MAX 2048

static bool is_argument(const struct llvm_value *v, uint32_t loads)
{
	return v->root == LLVM_ROOT_ARGUMENT && v->n == loads;
}

/* ---- The list -------------------------------------------------------------------------------- */

static void see_head(struct llvm_sweep *s)
{
	const struct llvm_value *from = llvm_sweep__value(s, s->insn.base);

	if (s->insn.shape != CODE_LOAD64 || from->root != LLVM_ROOT_RESULT || from->n ||
	    s->insn.disp < 0 || s->insn.disp >= LLVM_FIELD_MAX)
		return;
	s->out->module = from->value;
	s->out->head = (uint64_t)s->insn.disp;
	s->found = !s->steps++;
}

/* The constructor puts the head of the list into the entry. */
static void see_next(struct llvm_sweep *s)
{
	const struct llvm_value *what = llvm_sweep__value(s, s->insn.reg),
				*to = llvm_sweep__value(s, s->insn.base);

	if (s->insn.shape != CODE_STORE64 || !is_argument(to, 0) ||
	    what->root != LLVM_ROOT_RESULT || what->n != 1 || what->value != s->out->module ||
	    what->at[0] != s->out->head)
		return;
	s->found = s->insn.disp > 0 && s->insn.disp < 8 * WIRE_LLVM_WORDS && s->insn.disp % 8 == 0;
	s->out->next = (uint8_t)(s->insn.disp / 8);
}

/* True if the dynamic linker puts the number of the library's own thread-local memory there. */
static bool is_module(const struct llvm_symbols *s, uint64_t at)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(s->elf, scn))) {
		Elf_Data *data;
		GElf_Shdr shdr;
		GElf_Rela r;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_RELA ||
		    !(shdr.sh_flags & SHF_ALLOC))
			continue;
		data = elf_getdata(scn, NULL);
		for (int i = 0; data && gelf_getrela(data, i, &r); i++)
			if (r.r_offset == at)
				return GELF_R_TYPE(r.r_info) == R_X86_64_DTPMOD64 &&
				       !GELF_R_SYM(r.r_info);
	}
	return false;
}

/* ---- Entries --------------------------------------------------------------------------------- */

/* The pass is what a virtual function is called of. */
static void see_pass(struct llvm_sweep *s)
{
	const struct llvm_value *v = llvm_sweep__value(s, s->insn.base);

	if (s->insn.shape == CODE_CALL_REG) {
		v = llvm_sweep__value(s, s->insn.reg);
		if (!is_argument(v, 3))
			return;
	} else if (s->insn.shape != CODE_CALL_MEM || !is_argument(v, 2)) {
		return;
	}
	if (v->at[1])
		return;
	s->found = !s->steps || s->out->pass[s->kind] == v->at[0] / 8;
	s->out->pass[s->kind] = (uint8_t)(v->at[0] / 8);
	s->steps++;
}

/* Of the legacy entry, the value is what has a kind of its own; the other field is a module. */
static void see_unit(struct llvm_sweep *s)
{
	const struct code_insn *insn = &s->insn;
	const struct llvm_value *v = llvm_sweep__value(s, insn->base);
	bool is_unit = s->kind == WIRE_LLVM_LEGACY
			       ? insn->shape == CODE_LOAD8 && is_argument(v, 1) &&
					 insn->disp == s->out->kind_at
			       : insn->shape == CODE_LOAD64 && is_argument(v, 0) &&
					 insn->disp != 8 * s->out->pass[s->kind];
	int64_t at = s->kind == WIRE_LLVM_LEGACY ? v->at[0] : insn->disp;

	if (!is_unit)
		return;
	s->found = (!s->steps || (s->found && s->out->unit[s->kind] == at / 8)) && at > 0 &&
		   at < 8 * WIRE_LLVM_WORDS && at % 8 == 0;
	s->out->unit[s->kind] = (uint8_t)(at / 8);
	s->steps++;
}

/* From where a function starts to where the next one does, if that is known. */
static int region_at(struct elf_image *img, uint64_t addr, struct code_region *out)
{
	const uint64_t *starts;
	size_t n, i;
	int err = elf_image__starts(img, &starts, &n);

	*out = (struct code_region){addr, FUNCTION_MAX};
	if (err)
		return err == -ENOMEM ? err : 0;
	i = bisect(n, k, starts[k] <= addr);
	if (i < n && starts[i] - addr < out->size)
		out->size = starts[i] - addr;
	return 0;
}

/* The vtable of an entry has two destructors and print(). */
#define ENTRY_FUNCTIONS 3

static bool is_entry(const struct llvm_symbols *s, const struct elf_image *img, uint64_t vtable)
{
	uint64_t functions[ENTRY_FUNCTIONS + 1];
	uint32_t n;

	return llvm_symbols__functions(s, img, vtable, functions, ENTRY_FUNCTIONS + 1, &n) &&
	       n == ENTRY_FUNCTIONS;
}

static const enum llvm_symbol vtable_of[] = {
	[WIRE_LLVM_OF_FUNCTION] = LLVM_VTABLE_FUNCTION,
	[WIRE_LLVM_OF_MODULE] = LLVM_VTABLE_MODULE,
	[WIRE_LLVM_LEGACY] = LLVM_VTABLE_LEGACY,
};
static const enum llvm_symbol run_of[] = {
	[WIRE_LLVM_OF_FUNCTION] = LLVM_RUN_FUNCTION,
	[WIRE_LLVM_OF_MODULE] = LLVM_RUN_MODULE,
};

struct search {
	struct llvm_sweep sweep; /* first */
	const struct llvm_symbols *symbols;
	const struct elf_image *img;
	uint64_t found;
	bool several;
};

/* The only vtable of an entry that the function takes, and that is no other class's. */
static void see_vtable(struct llvm_sweep *sweep)
{
	struct search *s = (struct search *)sweep;
	const struct code_insn *insn = &sweep->insn;

	if (insn->shape != CODE_LEA_RIP)
		return;
	for (int i = 0; i < 2; i++) {
		uint64_t vtable = insn->target + 16 * (uint64_t)i;

		if (!is_entry(s->symbols, s->img, vtable) || vtable == s->found)
			continue;
		if (vtable == s->symbols->of[LLVM_VTABLE_LEGACY].addr + 16)
			continue;
		s->several = s->several || s->found;
		s->found = vtable;
	}
}

/* 1 and the kind's vtable and fields, 0 if they are not found, or a negative errno. */
static int mine_kind(struct elf_image *img, const struct llvm_symbols *symbols,
		     struct code_decoder *d, enum wire_llvm_kind kind, struct wire_llvm *out)
{
	struct llvm_sweep s = {.out = out, .kind = kind};
	struct search search = {.symbols = symbols, .img = img};
	uint64_t vtable = 0, known = symbols->of[vtable_of[kind]].addr;
	uint64_t functions[ENTRY_FUNCTIONS];
	struct code_region print = {0};
	uint32_t n;
	int err;

	if (known) {
		vtable = is_entry(symbols, img, known + 16) ? known + 16 : 0;
	} else if (kind != WIRE_LLVM_LEGACY && symbols->of[run_of[kind]].addr) {
		llvm_sweep__run(d, &symbols->of[run_of[kind]], see_vtable, &search.sweep);
		vtable = search.several ? 0 : search.found;
	}
	out->vtables[kind] = vtable;
	if (!vtable ||
	    !llvm_symbols__functions(symbols, img, vtable, functions, ENTRY_FUNCTIONS, &n))
		return 0;
	err = region_at(img, functions[ENTRY_FUNCTIONS - 1], &print);
	if (err)
		return err;
	llvm_sweep__run(d, &print, see_pass, &s);
	if (!s.found)
		return 0;
	s = (struct llvm_sweep){.out = out, .kind = kind};
	llvm_sweep__run(d, &print, see_unit, &s);
	return s.found;
}

/* ---- Names ----------------------------------------------------------------------------------- */

enum name_step {
	NAME_TESTED = 1,
	NAME_TABLE = 2,
	NAME_COUNT = 4,
	NAME_BUCKET = 8,
	NAME_EMPTY = 16,
	NAME_LENGTH = 32,
	NAME_BYTES = 64,
	NAME_ALL = 127,
};

static void see_name(struct llvm_sweep *s)
{
	const struct code_insn *insn = &s->insn;
	const struct llvm_value *from = llvm_sweep__value(s, insn->base);
	bool of_table = is_argument(from, 3) && insn->disp >= 0 && insn->disp < LLVM_FIELD_MAX;

	if (insn->shape == CODE_TEST_MASK && is_argument(from, 0) && insn->disp >= 0 &&
	    insn->disp < WIRE_LLVM_VALUE) {
		s->out->named_at = (uint8_t)insn->disp;
		s->out->named = (uint8_t)insn->imm;
		s->steps |= NAME_TESTED;
	}
	if (of_table && insn->shape == CODE_LOAD64) {
		s->out->type_at = (uint8_t)from->at[0];
		s->out->context = from->at[1];
		s->out->impl = from->at[2];
		s->out->names = (uint32_t)insn->disp;
		s->steps |= from->at[0] < WIRE_LLVM_VALUE ? NAME_TABLE : 0;
	}
	if (of_table && insn->shape == CODE_LOAD32) {
		s->out->count = (uint32_t)insn->disp;
		s->steps |= NAME_COUNT;
	}
	if (insn->shape == CODE_SHL_IMM && 1u << insn->imm == WIRE_LLVM_BUCKET)
		s->steps |= NAME_BUCKET;
	if (insn->shape == CODE_CMP_IMM && insn->imm == (uint32_t)WIRE_LLVM_EMPTY)
		s->steps |= NAME_EMPTY;
	/* At its end: the entry of the name is in rax, and length and name are returned. */
	if (insn->shape == CODE_LOAD64 && insn->reg == WIRE_REG_DX && insn->base == WIRE_REG_AX &&
	    insn->disp >= 0 && insn->disp <= UINT8_MAX) {
		s->out->length = (uint8_t)insn->disp;
		s->steps |= NAME_LENGTH;
	}
	if (insn->shape == CODE_ADD_IMM && insn->reg == WIRE_REG_AX && insn->imm <= UINT8_MAX &&
	    s->steps & NAME_LENGTH) {
		s->out->bytes = (uint8_t)insn->imm;
		s->steps |= NAME_BYTES;
	}
}

/* What getName() shows; and `shr reg, imm`: each of the two of the hash, once. */
static bool mine_names(const struct elf_image *img, const struct llvm_symbols *symbols,
		       struct code_decoder *d, struct wire_llvm *out)
{
	const struct code_region *f = &symbols->of[LLVM_GET_NAME];
	struct llvm_sweep s = {.out = out};
	struct code_insn insn;
	uint32_t by[64] = {0}, n = 0;

	if (!f->addr || f->size > FUNCTION_MAX)
		return false;
	llvm_sweep__run(d, f, see_name, &s);
	for (uint64_t at = f->addr; at < f->addr + f->size; at += insn.size) {
		const uint8_t *p;
		size_t len;

		if (!code_decoder__at(d, at, &insn))
			return false;
		p = elf_image__code(img, at, &len);
		if (p && insn.size == 3 && len >= 3 && p[0] == 0xc1 && (p[1] & 0xf8) == 0xe8) {
			by[p[2] & 63]++;
			n++;
		}
	}
	return s.steps == NAME_ALL && n == 2 && by[4] == 1 && by[9] == 1;
}

/* cmpb $kind, at(%rdi): the only comparison of a byte there. */
static bool mine_function_kind(const struct elf_image *img, const struct llvm_symbols *symbols,
			       struct code_decoder *d, struct wire_llvm *out)
{
	const struct code_region *f = &symbols->of[LLVM_IS_FUNCTION];
	struct code_insn insn;
	uint32_t n = 0;

	for (uint64_t at = f->addr; at < f->addr + f->size && n < 2; at += insn.size) {
		const uint8_t *p;
		size_t len;

		if (!code_decoder__at(d, at, &insn))
			return false;
		p = elf_image__code(img, at, &len);
		if (!p || len < 4 || p[0] != 0x80 || (p[1] != 0x3f && p[1] != 0x7f))
			continue;
		out->kind_at = p[1] == 0x3f ? 0 : p[2];
		out->kind = p[1] == 0x3f ? p[2] : p[3];
		n++;
	}
	return n == 1;
}

/* ---- Components of the call graph ------------------------------------------------------------ */

/*
 * The call of a pass over a component: the pass, whose virtual function it is, is the second
 * argument, as the result is in memory, and the component is the third.
 */
static void see_component(struct llvm_sweep *s)
{
	const struct llvm_value *pass = llvm_sweep__value(s, WIRE_REG_SI);
	const struct llvm_value *component = llvm_sweep__value(s, WIRE_REG_DX);
	const struct llvm_value vtable = llvm_value__load(pass, 0);

	if (s->insn.shape != CODE_CALL_MEM || !vtable.root ||
	    !llvm_value__is(&vtable, llvm_sweep__value(s, s->insn.base)) ||
	    component->root != LLVM_ROOT_SLOT || component->n)
		return;
	s->out->passes_return = s->insn.addr + s->insn.size;
	s->out->component = (uint32_t)component->value;
	s->found = !s->steps++ && component->value < LLVM_FIELD_MAX;
}

/* The module that the first function of the component is in. */
static void see_first_function(struct llvm_sweep *s)
{
	const struct llvm_value *v = llvm_sweep__value(s, s->insn.base);

	if (s->found || s->insn.shape != CODE_LOAD64 || !is_argument(v, 3) || v->at[1])
		return;
	s->out->nodes = v->at[0];
	s->out->node_function = v->at[2];
	s->found = true;
}

/* The innermost function that has the component on the stack. Nothing is known if there is none. */
static void mine_components(const struct llvm_symbols *symbols, struct code_decoder *d,
			    struct wire_llvm *out)
{
	static const enum llvm_symbol runs[] = {LLVM_RUN_COMPONENT, LLVM_RUN_REPEATED,
						LLVM_RUN_COMPONENTS};
	struct llvm_sweep first = {.out = out, .argument = WIRE_REG_DX};

	llvm_sweep__run(d, &symbols->of[LLVM_RUN_INLINER], see_first_function, &first);
	for (size_t i = 0; first.found && i < N_OF(runs); i++) {
		struct llvm_sweep s = {.out = out};

		if (llvm_sweep__lines(d, &symbols->of[runs[i]], see_component, &s) && s.found)
			return;
	}
	out->passes_return = 0;
	out->component = out->nodes = out->node_function = 0;
}

/* ---- All of it ------------------------------------------------------------------------------- */

bool llvm_layout_is_sound(const struct wire_llvm *l)
{
	bool words = l->next < WIRE_LLVM_WORDS;

	for (int i = 0; i < WIRE_LLVM_KINDS; i++)
		words = words && l->pass[i] < WIRE_LLVM_WORDS && l->unit[i] < WIRE_LLVM_WORDS &&
			l->vtables[i] < l->size;
	return words && l->size && l->size < 1ull << 40 && l->module < l->size &&
	       l->head < LLVM_FIELD_MAX && l->kind_at < WIRE_LLVM_VALUE &&
	       l->named_at < WIRE_LLVM_VALUE && l->type_at <= WIRE_LLVM_VALUE - 8 &&
	       l->type_at % 8 == 0 && l->context < LLVM_FIELD_MAX && l->impl < LLVM_FIELD_MAX &&
	       l->names < LLVM_FIELD_MAX && l->count < LLVM_FIELD_MAX &&
	       l->passes_return < l->size && l->component < LLVM_FIELD_MAX &&
	       l->nodes < LLVM_FIELD_MAX && l->node_function < LLVM_FIELD_MAX;
}

static int mine(struct elf_image *img, const struct llvm_symbols *symbols, struct code_decoder *d,
		struct wire_llvm *out, enum llvm_problem *problem)
{
	struct llvm_sweep head = {.out = out}, next = {.out = out};

	llvm_sweep__run(d, &symbols->of[LLVM_SAVE_STATE], see_head, &head);
	llvm_sweep__run(d, &symbols->of[LLVM_NEW_ENTRY], see_next, &next);
	*problem = LLVM_FOUND;
	if (!head.found || !next.found || !is_module(symbols, out->module))
		*problem = LLVM_NO_HEAD;
	else if (!mine_function_kind(img, symbols, d, out))
		*problem = LLVM_NO_KIND;
	else if (!mine_names(img, symbols, d, out))
		*problem = LLVM_NO_NAMES;
	if (*problem)
		return 0;
	mine_components(symbols, d, out);
	/* Versions before 15 or so have only legacy entries. */
	for (int kind = 0; kind < WIRE_LLVM_KINDS; kind++) {
		int found = mine_kind(img, symbols, d, (enum wire_llvm_kind)kind, out);

		if (found < 0)
			return found;
		if (found)
			continue;
		out->vtables[kind] = 0;
		*problem = kind == WIRE_LLVM_LEGACY ? LLVM_NO_ENTRIES : LLVM_NO_PASS_MANAGER;
		return 0;
	}
	return 0;
}

int llvm_layout__mine(struct elf_image *img, const struct llvm_symbols *s, struct wire_llvm *out,
		      enum llvm_problem *problem)
{
	_code_decoder_ struct code_decoder *d = NULL;
	struct wire_llvm found = {0};
	size_t n = 0;
	GElf_Phdr p;
	int err;

	*problem = s->wants_llvm ? LLVM_NO_LIBRARY : LLVM_HIDDEN;
	if (!s->of[LLVM_SAVE_STATE].addr)
		return 0;
	/* Above every segment's end, as far as sections show. */
	elf_getphdrnum(s->elf, &n);
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(s->elf, (int)i, &p) && p.p_type == PT_LOAD &&
		    p.p_vaddr + p.p_memsz > found.size)
			found.size = p.p_vaddr + p.p_memsz;
	err = code_decoder__new(img, &d) ?: mine(img, s, d, &found, problem);
	if (!err && !*problem && !llvm_layout_is_sound(&found))
		*problem = LLVM_NO_ENTRIES;
	if (!err && !*problem)
		*out = found;
	return err;
}

const char *llvm_problem_text(enum llvm_problem problem)
{
	static const char *const texts[LLVM_PROBLEMS] = {
		[LLVM_NO_LIBRARY] = "it is not LLVM's library",
		[LLVM_NO_HEAD] = "SavePrettyStackState() does not show where the list of a thread "
				 "begins",
		[LLVM_NO_ENTRIES] = "PassManagerPrettyStackEntry does not show its fields",
		[LLVM_NO_PASS_MANAGER] = "PassManager::run() makes no entry that is understood",
		[LLVM_NO_NAMES] = "Value::getName() does not show where names are",
		[LLVM_NO_KIND] = "LLVMIsAFunction() does not show what a function is",
		[LLVM_HIDDEN] = "it has no SavePrettyStackState()",
	};

	return (unsigned int)problem < LLVM_PROBLEMS ? texts[problem] : NULL;
}

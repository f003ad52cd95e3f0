// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A body is run on values of which only the origin is known, and each instruction once, by the
 * first path that comes to it. What another path would have is not looked at: the caller compares
 * the bodies with each other, and the kernel half checks the numbers of jobs that it reads.
 */
#include "plan/mine/active_jobs.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "plan/code/insn.h"
#include "plan/code/registers.h"

#define REGS	(CODE_REG_SP + 1)
#define VECTORS 16
#define SLOTS	64
#define STORES	96
#define STEPS	4096
/* Instructions behind which the rest of an entry is filled in. */
#define STEPS_BEHIND 24
#define PATHS	     64
/* Instructions are found by a hash of their address. A power of two. */
#define SEEN 16384
/* No struct of a thread is so large, but the context is. */
#define FAR	  1024
#define ENTRY_MAX 248

enum origin {
	ORIGIN_NONE,
	ORIGIN_ARGUMENT, /* of the body, number `at` */
	ORIGIN_WORD,	 /* 8 bytes at the ELF address `at` */
	ORIGIN_CURRENT,	 /* the thread's word at the offset that the ELF address `at` holds */
	ORIGIN_FIELD,	 /* 8 bytes, `at` bytes within an ORIGIN_CURRENT */
	ORIGIN_KEY,	 /* what argument number `at` / FAR leads to, `at` % FAR bytes further */
	ORIGIN_JOB,	 /* a new job */
	ORIGIN_BELOW,	 /* an address -`at` bytes below one that is computed */
};

struct value {
	uint8_t origin;
	uint64_t at;
};

struct slot {
	int64_t at; /* bytes above sp at the entry */
	struct value value;
};

/* A store that is not to the stack. `base` and `index` are numbers that no other value has. */
struct store {
	uint32_t base, index;
	struct value base_value, index_value;
	int32_t scale;
	int64_t at;
	uint8_t size;
	struct value value;
};

struct path {
	uint64_t next; /* address of the next instruction */
	struct value regs[REGS];
	uint32_t versions[REGS]; /* numbers of the values in them */
	struct value vectors[VECTORS];
	struct slot slots[SLOTS];
	uint32_t n_slots;
	int64_t sp; /* bytes above its value at the entry */
};

struct machine {
	const struct elf_image *img;
	csh cs;
	cs_insn *insn;
	struct path now;
	struct path later[PATHS];
	uint32_t n_later;
	uint64_t seen[SEEN];
	uint32_t version;
	uint32_t left;		  /* instructions to run at most */
	bool has_job, has_parent; /* was stored */
	struct store stores[STORES];
	uint32_t n_stores;
	uint64_t slot; /* ELF address of the word with the thread-local offset */
	/* By argument: a word that it leads to limits what is in a register; 0: none does. */
	uint8_t masks[CODE_ARGUMENTS];
	uint64_t context_argument; /* its number; CODE_ARGUMENTS: not known */
};

static const struct value nothing;

static bool is_stack(const cs_x86_op *op)
{
	return op->mem.base == X86_REG_RSP && op->mem.index == X86_REG_INVALID &&
	       op->mem.segment == X86_REG_INVALID;
}

static struct slot *slot_at(struct machine *m, int64_t at)
{
	for (uint32_t i = 0; i < m->now.n_slots; i++)
		if (m->now.slots[i].at == at)
			return &m->now.slots[i];
	return NULL;
}

static void store_slot(struct machine *m, int64_t at, struct value v)
{
	struct slot *s = slot_at(m, at);

	if (!s && v.origin && m->now.n_slots < SLOTS)
		s = &m->now.slots[m->now.n_slots++];
	if (s)
		*s = (struct slot){at, v};
}

static struct value *vector_of(struct machine *m, unsigned int reg)
{
	return reg >= X86_REG_XMM0 && reg < X86_REG_XMM0 + VECTORS
		       ? &m->now.vectors[reg - X86_REG_XMM0]
		       : NULL;
}

static struct value load(struct machine *m, const cs_x86_op *op)
{
	uint8_t base = code_register(op->mem.base);
	const struct value *from = base < REGS ? &m->now.regs[base] : NULL;
	uint64_t disp = (uint64_t)op->mem.disp;

	if (is_stack(op)) {
		const struct slot *s = slot_at(m, m->now.sp + op->mem.disp);

		return s ? s->value : nothing;
	}
	if (op->mem.index != X86_REG_INVALID)
		return nothing;
	if (op->mem.base == X86_REG_RIP && op->size == 8)
		return (struct value){ORIGIN_WORD, m->insn->address + m->insn->size + disp};
	if (!from || disp >= FAR)
		return nothing;
	if (op->mem.segment == X86_REG_FS)
		return from->origin == ORIGIN_WORD && !disp && op->size == 8 && from->at == m->slot
			       ? (struct value){ORIGIN_CURRENT, from->at}
			       : nothing;
	if (from->origin == ORIGIN_CURRENT && op->size == 8)
		return (struct value){ORIGIN_FIELD, disp};
	if (from->origin == ORIGIN_ARGUMENT)
		return (struct value){ORIGIN_KEY, from->at * FAR + disp};
	return nothing;
}

static void set_register(struct machine *m, uint8_t reg, struct value v)
{
	if (reg >= REGS)
		return;
	m->now.regs[reg] = v;
	m->now.versions[reg] = ++m->version;
}

static void note_store(struct machine *m, const cs_x86_op *op, struct value v)
{
	uint8_t base = code_register(op->mem.base), index = code_register(op->mem.index);
	struct store *s;

	if (op->mem.segment != X86_REG_INVALID || base >= REGS || m->n_stores == STORES)
		return;
	s = &m->stores[m->n_stores++];
	*s = (struct store){
		.base = m->now.versions[base],
		.index = index < REGS ? m->now.versions[index] : 0,
		.base_value = m->now.regs[base],
		.index_value = index < REGS ? m->now.regs[index] : nothing,
		.scale = index < REGS ? op->mem.scale : 0,
		.at = op->mem.disp,
		.size = op->size,
		.value = v,
	};
	if (s->base_value.origin == ORIGIN_BELOW)
		s->at += (int64_t)s->base_value.at;
	m->has_job |= v.origin == ORIGIN_JOB;
	m->has_parent |= m->has_job && v.origin == ORIGIN_FIELD;
	if (m->has_parent && m->left > STEPS_BEHIND)
		m->left = STEPS_BEHIND;
}

/* rep movsq: a large key is copied to where an entry begins. */
static void note_copy(struct machine *m)
{
	const struct value *to = &m->now.regs[WIRE_REG_DI], *from = &m->now.regs[WIRE_REG_SI];

	if (to->origin != ORIGIN_BELOW || from->origin != ORIGIN_ARGUMENT || m->n_stores == STORES)
		return;
	m->stores[m->n_stores++] = (struct store){
		.base = m->now.versions[WIRE_REG_DI],
		.base_value = *to,
		.at = (int64_t)to->at,
		.value = {ORIGIN_KEY, from->at * FAR},
	};
}

static void put(struct machine *m, const cs_x86_op *to, struct value v)
{
	struct value *vector = to->type == X86_OP_REG ? vector_of(m, to->reg) : NULL;

	if (vector)
		*vector = v;
	else if (to->type == X86_OP_REG)
		set_register(m, code_register(to->reg), v);
	else if (is_stack(to))
		store_slot(m, m->now.sp + to->mem.disp, v);
	else
		note_store(m, to, v);
}

static struct value get(struct machine *m, const cs_x86_op *op)
{
	const struct value *vector;
	uint8_t reg;

	if (op->type == X86_OP_MEM)
		return load(m, op);
	if (op->type != X86_OP_REG)
		return nothing;
	vector = vector_of(m, op->reg);
	reg = code_register(op->reg);
	return vector ? *vector : reg < REGS ? m->now.regs[reg] : nothing;
}

/* Whether `insn` moves a value as it is. */
static bool is_move(unsigned int id)
{
	return id == X86_INS_MOV || id == X86_INS_MOVABS || id == X86_INS_MOVUPS ||
	       id == X86_INS_MOVDQU || id == X86_INS_MOVAPS || id == X86_INS_MOVDQA ||
	       id == X86_INS_MOVQ || id == X86_INS_MOVD || id == X86_INS_MOVUPD;
}

/* A copy in another register is the same value. */
static void move(struct machine *m, const cs_x86_op *ops)
{
	uint8_t from = ops[1].type == X86_OP_REG ? code_register(ops[1].reg) : REGS;
	uint8_t to = ops[0].type == X86_OP_REG ? code_register(ops[0].reg) : REGS;
	uint32_t version = from < REGS ? m->now.versions[from] : 0;

	put(m, &ops[0], get(m, &ops[1]));
	if (from < REGS && to < REGS)
		m->now.versions[to] = version;
}

static void forget_written(struct machine *m)
{
	const cs_detail *d = m->insn->detail;

	for (uint8_t i = 0; i < d->x86.op_count; i++)
		if (d->x86.operands[i].access & CS_AC_WRITE)
			put(m, &d->x86.operands[i], nothing);
	for (uint8_t i = 0; i < d->regs_write_count; i++)
		set_register(m, code_register(d->regs_write[i]), nothing);
}

/* The jobs are counted in the context. */
static void note_context(struct machine *m, const cs_x86_op *counter)
{
	uint8_t base = code_register(counter->mem.base);

	if (base < REGS && m->now.regs[base].origin == ORIGIN_ARGUMENT)
		m->context_argument = m->now.regs[base].at;
}

/* The number of a bucket is limited by the mask of its table. */
static void note_mask(struct machine *m, const cs_x86_op *mask)
{
	struct value v = load(m, mask);

	if (v.origin == ORIGIN_KEY && v.at % FAR <= UINT8_MAX && mask->size == 8 &&
	    !m->masks[v.at / FAR])
		m->masks[v.at / FAR] = (uint8_t)(v.at % FAR);
}

static bool jump(struct machine *m)
{
	const cs_x86_op *to = &m->insn->detail->x86.operands[0];

	/* Behind a jump to a place in a table is the first of these places. */
	if (to->type != X86_OP_IMM)
		return true;
	if (m->insn->id == X86_INS_JMP) {
		m->now.next = (uint64_t)to->imm;
	} else if (m->n_later < PATHS) {
		m->later[m->n_later] = m->now;
		m->later[m->n_later++].next = (uint64_t)to->imm;
	}
	return true;
}

/* False: the path ends. */
static bool step(struct machine *m)
{
	const cs_x86 *x = &m->insn->detail->x86;
	const cs_x86_op *ops = x->operands;
	unsigned int id = m->insn->id;

	if (cs_insn_group(m->cs, m->insn, CS_GRP_JUMP))
		return jump(m);
	if (id == X86_INS_RET || id == X86_INS_UD2)
		return false;
	if (id == X86_INS_CALL) {
		static const uint8_t kept[] = {WIRE_REG_BX,  WIRE_REG_BP,  WIRE_REG_R12,
					       WIRE_REG_R13, WIRE_REG_R14, WIRE_REG_R15,
					       CODE_REG_SP};

		for (uint8_t r = 0; r < REGS; r++)
			if (!memchr(kept, r, sizeof(kept)))
				set_register(m, r, nothing);
		return true;
	}
	if (id == X86_INS_PUSH) {
		m->now.sp -= 8;
		store_slot(m, m->now.sp, nothing);
		return true;
	}
	if (id == X86_INS_POP) {
		m->now.sp += 8;
		put(m, &ops[0], nothing);
		return true;
	}
	if ((id == X86_INS_SUB || id == X86_INS_ADD) && ops[0].type == X86_OP_REG &&
	    ops[0].reg == X86_REG_RSP && ops[1].type == X86_OP_IMM) {
		m->now.sp += id == X86_INS_ADD ? ops[1].imm : -ops[1].imm;
		return true;
	}
	if (id == X86_INS_XADD && ops[0].type == X86_OP_MEM && ops[0].size == 8 &&
	    ops[0].mem.disp >= FAR) {
		note_context(m, &ops[0]);
		set_register(m, code_register(ops[1].reg), (struct value){ORIGIN_JOB, 0});
		return true;
	}
	if (id == X86_INS_AND && ops[1].type == X86_OP_MEM)
		note_mask(m, &ops[1]);
	if (id == X86_INS_MOVSQ)
		note_copy(m);
	if (id == X86_INS_LEA && ops[1].mem.disp < 0 && ops[1].mem.index != X86_REG_INVALID) {
		put(m, &ops[0], (struct value){ORIGIN_BELOW, (uint64_t)ops[1].mem.disp});
		return true;
	}
	if (is_move(id) && x->op_count == 2) {
		move(m, ops);
		return true;
	}
	forget_written(m);
	return true;
}

/* False: it was seen before, or there is no room. */
static bool see(struct machine *m, uint64_t addr)
{
	for (uint64_t i = 0, at = addr * 0x9e3779b97f4a7c15ull >> 32; i < 16; i++, at++) {
		uint64_t *seen = &m->seen[at % SEEN];

		if (*seen == addr)
			return false;
		if (!*seen) {
			*seen = addr;
			return true;
		}
	}
	return false;
}

static void run(struct machine *m, uint64_t entry)
{
	m->now.next = entry;
	for (uint64_t i = 0; i < CODE_ARGUMENTS; i++)
		m->now.regs[code_arguments[i]] = (struct value){ORIGIN_ARGUMENT, i};
	for (m->left = STEPS; m->left; m->left--) {
		uint64_t addr = m->now.next;
		size_t len;
		const uint8_t *bytes = elf_image__code(m->img, addr, &len);
		bool goes_on = bytes && see(m, addr) &&
			       cs_disasm_iter(m->cs, &bytes, &len, &addr, m->insn);

		if (goes_on) {
			m->now.next = addr;
			goes_on = step(m);
		}
		if (goes_on)
			continue;
		if (!m->n_later)
			return;
		m->now = m->later[--m->n_later];
	}
}

/*
 * The address of an entry may be computed twice, so that nothing shows that it is the same. The
 * fields of an entry are filled in one after the other, though.
 */
#define STORES_NEAR 6

static bool is_together(const struct machine *m, uint32_t a, uint32_t b, bool loosely)
{
	const struct store *x = &m->stores[a], *y = &m->stores[b];

	if (x->base == y->base && x->index == y->index && x->scale == y->scale)
		return true;
	return loosely && b > a && b - a < STORES_NEAR && y->at < 0;
}

/* The entry that the new job, of store `at`, lies in, together with the job around. */
static bool read_entry(const struct machine *m, uint32_t at, bool loosely, struct active_jobs *out)
{
	uint64_t key = m->context_argument + 2; /* behind a span */
	const struct store *job = &m->stores[at], *parent = NULL;
	int64_t low = job->at, key_at = 0;
	bool has_key = false;

	for (uint32_t i = 0; i < m->n_stores; i++) {
		const struct store *s = &m->stores[i];
		const struct value *v = &s->value;

		if (!is_together(m, at, i, loosely))
			continue;
		low = s->at < low ? s->at : low;
		if (v->origin == ORIGIN_FIELD)
			parent = s;
		if (v->origin == ORIGIN_ARGUMENT && v->at == key)
			key_at = s->at;
		else if (v->origin == ORIGIN_KEY && v->at / FAR == key && !has_key)
			key_at = s->at - (int64_t)(v->at % FAR);
		else
			continue;
		has_key = true;
	}
	if (!parent || low >= 0 || low < -ENTRY_MAX || (has_key && key_at < low))
		return false;
	out->current = (uint32_t)parent->value.at;
	out->entry = (struct plan_job_entry){
		.size = (uint8_t)-low,
		.key = has_key ? (uint8_t)(key_at - low) : PLAN_NO_KEY,
		.job = (uint8_t)(job->at - low),
		.parent = (uint8_t)(parent->at - low),
	};
	return true;
}

/* Control bytes and mask of the table that the entry was stored in. */
static void read_table(const struct machine *m, const struct store *job, struct active_jobs *out)
{
	const struct value *parts[] = {&job->base_value, &job->index_value};
	uint64_t vtable = m->context_argument - 1; /* before the context */

	for (size_t i = 0; i < N_OF(parts) && m->context_argument < CODE_ARGUMENTS; i++)
		if (parts[i]->origin == ORIGIN_KEY && parts[i]->at / FAR == vtable &&
		    m->masks[vtable] && parts[i]->at % FAR <= UINT8_MAX) {
			out->ctrl = (uint8_t)(parts[i]->at % FAR);
			out->mask = m->masks[vtable];
			out->has_table = true;
		}
}

static const char *find_entry(const struct machine *m, struct active_jobs *out)
{
	for (int loosely = 0; loosely < 2; loosely++)
		for (uint32_t i = 0; i < m->n_stores; i++)
			if (m->stores[i].value.origin == ORIGIN_JOB &&
			    read_entry(m, i, loosely, out)) {
				read_table(m, &m->stores[i], out);
				return NULL;
			}
	return "it stores no new job in a table";
}

int active_jobs_mine(const struct elf_image *img, uint64_t entry, uint64_t slot,
		     struct active_jobs *out, const char **problem)
{
	_free_ struct machine *m = calloc(1, sizeof(*m));
	struct active_jobs found = {0};

	if (!m || cs_open(CS_ARCH_X86, CS_MODE_64, &m->cs) != CS_ERR_OK)
		return -ENOMEM;
	cs_option(m->cs, CS_OPT_DETAIL, CS_OPT_ON);
	m->insn = cs_malloc(m->cs);
	if (m->insn) {
		m->img = img;
		m->slot = slot;
		m->context_argument = CODE_ARGUMENTS;
		run(m, entry);
		cs_free(m->insn, 1);
		*problem = find_entry(m, &found);
	}
	cs_close(&m->cs);
	if (!m->insn)
		return -ENOMEM;
	if (!*problem)
		*out = found;
	return 0;
}

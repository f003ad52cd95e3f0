// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/shape.h"

#include <string.h>

#include "base/array.h"
#include "plan/plan.h"

/* A term of a shape: `factor` times a node; as a letter, or as a number if there is no letter. */
struct term {
	char letter;
	uint64_t factor;
	const char *node;
};

/* A sum of a shape. */
struct parsed {
	struct term terms[2];
	uint8_t n;
	char letter; /* of the number; '?': any, '_': any sum */
	uint64_t number;
	const char *end;
};

static const struct {
	char name[3];
	uint8_t reg;
} registers[] = {
	{"di", WIRE_REG_DI},
	{"si", WIRE_REG_SI},
	{"dx", WIRE_REG_DX},
	{"cx", WIRE_REG_CX},
};

static const struct {
	const char *name;
	enum sum_kind kind;
	bool thread;
} operators[] = {
	{"[", SUM_LOAD, false},	      {"fs[", SUM_LOAD, true},	  {"low(", SUM_LOW, false},
	{"below(", SUM_BELOW, false}, {"call(", SUM_CALL, false}, {"by(", SUM_CALL_BY, false},
};

void letters__set(struct letters *l, char letter, uint64_t value)
{
	l->values[letter - 'A'] = value;
	l->known |= 1u << (letter - 'A');
}

static bool take(struct letters *l, char letter, uint64_t value)
{
	if (l->known & 1u << (letter - 'A'))
		return letters__of(l, letter) == value;
	if (letter == 'S' ? value < 8 || value > 64 : letter < 'U' && value >= PLAN_LAYOUT_MAX)
		return false;
	if (letter == 'N' && !value)
		return false;
	letters__set(l, letter, value);
	return true;
}

static bool is_letter(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static uint64_t read_number(const char **at)
{
	uint64_t n = 0;

	while (is_digit(**at))
		n = 10 * n + (uint64_t)(*(*at)++ - '0');
	return n;
}

/* Behind the node that begins there: brackets are closed, a load has its size behind them. */
static const char *skip_node(const char *at)
{
	int depth = 0;

	if (*at == '#')
		return at + 2;
	at = strpbrk(at, "[(+,=:) ]") ?: at + strlen(at);
	if (*at != '[' && *at != '(')
		return at;
	do {
		depth += *at == '[' || *at == '(';
		depth -= *at == ']' || *at == ')';
		at++;
	} while (depth);
	while (is_digit(*at))
		at++;
	return at;
}

static struct parsed parse(const char *at)
{
	struct parsed p = {.n = 0};

	for (bool more = true; more; more = *at == '+', at += more) {
		struct term t = {.factor = 1};

		if (*at == '_' || *at == '?') {
			p.letter = *at++;
			continue;
		}
		if (is_letter(*at))
			t.letter = *at++;
		else if (is_digit(*at))
			t.factor = read_number(&at);
		else
			goto node;
		if (*at != '*') {
			p.letter = t.letter;
			p.number = t.factor;
			continue;
		}
		at++;
node:
		t.node = at;
		at = skip_node(at);
		p.terms[p.n++] = t;
	}
	p.end = at;
	return p;
}

static bool is_sum(const struct sum_nodes *nodes, const struct sum *a, const char *shape,
		   struct letters *l);

static uint8_t register_of(const char *node)
{
	for (size_t i = 0; i < N_OF(registers); i++)
		if (!strncmp(node, registers[i].name, 2))
			return registers[i].reg;
	return WIRE_REG_NONE;
}

static bool is_node(const struct sum_nodes *nodes, uint32_t number, const char *shape,
		    struct letters *l)
{
	const struct sum_node *node = &nodes->items[number];
	uint8_t reg = register_of(shape);

	if (*shape == '#')
		return take(l, shape[1], number);
	if (reg != WIRE_REG_NONE)
		return node->kind == SUM_ENTRY && node->reg == reg;
	for (size_t i = 0; i < N_OF(operators); i++) {
		size_t len = strlen(operators[i].name);
		const char *size = skip_node(shape);

		if (strncmp(shape, operators[i].name, len))
			continue;
		while (is_digit(size[-1]))
			size--;
		return node->kind == operators[i].kind && node->thread == operators[i].thread &&
		       (!is_digit(*size) || node->size == read_number(&size)) &&
		       is_sum(nodes, &node->of, shape + len, l);
	}
	return false;
}

/* The sum whose lower half `a` is, or `a`. */
static const struct sum *whole(const struct sum_nodes *nodes, const struct sum *a)
{
	uint64_t more;
	const struct sum_node *node = sum_node_of(nodes, a, &more);

	return node && !more && node->kind == SUM_LOW ? &node->of : a;
}

static bool is_term(const struct sum_nodes *nodes, const struct sum_term *term,
		    const struct term *shape, struct letters *l)
{
	struct sum alone = {.known = true, .n = 1, .terms = {{term->node, 1}}};
	const struct sum *low = &alone;
	bool fits = shape->letter ? take(l, shape->letter, term->factor)
				  : term->factor == shape->factor;

	if (register_of(shape->node) != WIRE_REG_NONE)
		low = whole(nodes, &alone);
	return fits && low->n == 1 && low->terms[0].factor == 1 && !low->constant &&
	       is_node(nodes, low->terms[0].node, shape->node, l);
}

static bool are_terms(const struct sum_nodes *nodes, const struct sum *a, const struct parsed *p,
		      struct letters *l)
{
	const struct letters before = *l;

	if (p->n < 2)
		return !p->n || is_term(nodes, &a->terms[0], &p->terms[0], l);
	for (int i = 0; i < 2; i++) {
		if (is_term(nodes, &a->terms[i], &p->terms[0], l) &&
		    is_term(nodes, &a->terms[1 - i], &p->terms[1], l))
			return true;
		*l = before;
	}
	return false;
}

static bool is_sum(const struct sum_nodes *nodes, const struct sum *a, const char *shape,
		   struct letters *l)
{
	struct parsed p = parse(shape);

	if (p.letter == '_')
		return true;
	/* A register's lower half may be that of the register plus a number. */
	if (p.n == 1 && register_of(p.terms[0].node) != WIRE_REG_NONE)
		a = whole(nodes, a);
	if (!a->known || a->n != p.n)
		return false;
	if (is_letter(p.letter) ? !take(l, p.letter, a->constant)
				: p.letter != '?' && a->constant != p.number)
		return false;
	return are_terms(nodes, a, &p, l);
}

bool shape__is(const struct sum_nodes *nodes, const struct sum *a, const char *shape,
	       struct letters *l)
{
	struct letters found = *l;

	if (!is_sum(nodes, a, shape, &found))
		return false;
	*l = found;
	return true;
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* Up to five values that belong together, against as many sums of a shape. */
static bool are_sums(const struct eval *e, const struct sum *const *values, const char *shape,
		     struct letters *l)
{
	struct letters found = *l;

	for (size_t i = 0; *shape; i++) {
		if (!is_sum(&e->nodes, values[i], shape, &found))
			return false;
		shape = parse(shape).end;
		shape += strspn(shape, " ,:=");
	}
	*l = found;
	return true;
}

/* The place with the number i of those that the shape asks about; false: there are not so many. */
static bool look(const struct eval *e, const char *shape, uint32_t i, bool *is, struct letters *l)
{
	const struct eval_pairs *pairs = *shape == 'r'	 ? &e->returns
					 : *shape == 's' ? &e->stores
							 : &e->compares;
	const bool calls = !strncmp(shape, "call ", 5), nodes = *shape == 'n';
	const char *sums = strchr(shape, ' ') + 1;

	*is = false;
	if (i >= (calls ? e->n_calls : nodes ? e->nodes.n : pairs->n))
		return false;
	if (calls) {
		const struct eval_call *c = &e->calls[i];
		const struct sum target = sum_constant(c->target);
		const struct sum *values[] = {&target, &c->first, &c->second, &c->third,
					      &c->fourth};

		*is = (c->target || *sums == '?') && are_sums(e, values, sums, l);
	} else if (nodes) {
		const struct sum node = {.known = true, .n = 1, .terms = {{i, 1}}};

		*is = shape__is(&e->nodes, &node, sums, l);
	} else {
		const struct eval_pair *pair = &pairs->items[i];
		const struct sum *values[] = {&pair->a, &pair->b};
		const struct sum *swapped[] = {&pair->b, &pair->a};

		*is = are_sums(e, values, sums, l) ||
		      (strchr(sums, '=') && are_sums(e, swapped, sums, l));
	}
	return true;
}

bool shape__shown(const struct eval *e, const char *shape, struct letters *l)
{
	bool is = false;

	for (uint32_t i = 0; !is && look(e, shape, i, &is, l);)
		i++;
	return is;
}

int shape__agreed(const struct eval *e, const char *shape, struct letters *l)
{
	struct letters first = *l;
	int found = 0;
	bool is;

	for (uint32_t i = 0;; i++) {
		struct letters now = *l;

		if (!look(e, shape, i, &is, &now))
			break;
		if (!is)
			continue;
		if (found && memcmp(&first, &now, sizeof(now)))
			return -1;
		first = now;
		found = 1;
	}
	*l = first;
	return found;
}

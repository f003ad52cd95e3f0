// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The v0 mangling, https://doc.rust-lang.org/rustc/symbol-mangling/v0.html: a grammar that is read
 * from left to right, with one function for each of its rules.
 */
#include "plan/symbols/demangle.h"

#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "plan/symbols/v0_reader.h"

static void read_path(struct v0_reader *r, bool in_value);
static void read_type(struct v0_reader *r);
static void read_const(struct v0_reader *r);

/* Read items up to 'E', and write `between` after each one but the last. Returns their number. */
static size_t read_list(struct v0_reader *r, void (*read)(struct v0_reader *r), const char *between)
{
	size_t n = 0;

	for (; !r->bad && !v0__eat(r, 'E'); n++) {
		v0__put(r, n ? between : "");
		read(r);
	}
	return n;
}

/* ---- Paths ----------------------------------------------------------------------------------- */

static void read_generic_argument(struct v0_reader *r)
{
	if (v0__eat(r, 'L'))
		v0__put_lifetime(r, v0__read_base62(r));
	else if (v0__eat(r, 'K'))
		read_const(r);
	else
		read_type(r);
}

/* A part that the compiler made within a function: a closure, a shim. */
static void put_special(struct v0_reader *r, char namespace, const struct v0_name *name,
			uint64_t number)
{
	v0__put(r, "::{");
	if (namespace == 'C')
		v0__put(r, "closure");
	else if (namespace == 'S')
		v0__put(r, "shim");
	else
		v0__put_bytes(r, &namespace, 1);
	if (!v0_name__is_empty(name))
		v0__put(r, ":");
	v0__put_name(r, name);
	v0__put(r, "#");
	v0__put_number(r, number);
	v0__put(r, "}");
}

/* As rustc's paths of definitions show it. */
static void put_impl_number(struct v0_reader *r, uint64_t number)
{
	v0__put(r, "::{impl#");
	v0__put_number(r, number);
	v0__put(r, "}");
}

static void read_nested(struct v0_reader *r, bool in_value)
{
	char namespace = v0__next(r);
	struct v0_name name;
	uint64_t number;

	if (!isalpha((unsigned char)namespace))
		r->bad = true;
	read_path(r, in_value);
	number = v0__read_optional(r, 's');
	name = v0__read_name(r);
	if (r->bad)
		return;
	if (r->style == V0_DEFINITION && namespace == 'I' && v0_name__is_empty(&name)) {
		put_impl_number(r, number);
	} else if (isupper((unsigned char)namespace)) {
		put_special(r, namespace, &name, number);
	} else if (!v0_name__is_empty(&name)) {
		v0__put(r, "::");
		v0__put_name(r, &name);
		if (r->style == V0_DEFINITION && number) {
			v0__put(r, "#");
			v0__put_number(r, number);
		}
	}
}

/* Read without writing. */
static void skip(struct v0_reader *r, void (*read)(struct v0_reader *r))
{
	bool was_silent = r->silent;

	r->silent = true;
	read(r);
	r->silent = was_silent;
}

static void read_outer_path(struct v0_reader *r)
{
	read_path(r, false);
}

/*
 * The outermost sign of a type, and "_" for all within it. Only the impl of a trait is of different
 * other types: an inherent one is of one type and its arguments, which are not written.
 */
static void read_any_type(struct v0_reader *r, bool is_inherent)
{
	char tag = r->at < r->len ? r->s[r->at] : '\0';
	const char *any = tag == 'R'   ? "&_"
			  : tag == 'Q' ? "&mut _"
			  : tag == 'P' ? "*const _"
			  : tag == 'O' ? "*mut _"
			  : tag == 'S' ? "[_]"
			  : tag == 'A' ? "[_; _]"
				       : "";

	if (!*any && is_inherent) {
		read_type(r);
		return;
	}
	v0__put(r, *any ? any : "_");
	skip(r, read_type);
}

/* Whether what was written from `start` on ends with the number of an impl. */
static bool ends_with_impl(const struct demangled *d, size_t start)
{
	static const char impl[] = "{impl#";
	const char *last = memrchr(d->text + start, '{', d->len - start);

	return last && (size_t)(d->text + d->len - last) > strlen(impl) &&
	       !memcmp(last, impl, strlen(impl)) && d->text[d->len - 1] == '}';
}

/*
 * An impl as a definition: the module that it is in, and its number there. A method of a trait
 * that no impl has is one of the trait.
 */
static void read_impl_definition(struct v0_reader *r, char tag)
{
	size_t start = r->out->len;
	uint64_t number = 0;

	if (tag != 'Y') {
		number = v0__read_optional(r, 's');
		read_path(r, false);
	}
	/* The path of an impl whose arguments are not known has its number itself. */
	if (tag != 'Y' && !r->bad && !r->silent && !ends_with_impl(r->out, start))
		put_impl_number(r, number);
	skip(r, read_type);
	if (tag == 'Y')
		read_path(r, false);
	if (tag == 'X')
		skip(r, read_outer_path);
}

/* "<module::Type>" needs no brackets. */
static void drop_brackets(struct v0_reader *r, size_t start)
{
	char *text = r->out->text + start;
	size_t len = r->out->len - start;

	if (r->bad || r->silent)
		return;
	if (len < 3 || !(isalpha((unsigned char)text[1]) || text[1] == '_') ||
	    memchr(text, ' ', len) || !memmem(text, len, "::", 2))
		return;
	memmove(text, text + 1, len - 2);
	r->out->len -= 2;
}

/*
 * "<Type>" and "<Type as Trait>". The path of the impl is read and not written: it means nothing to
 * a person.
 */
static void read_impl(struct v0_reader *r, char tag)
{
	size_t start = r->out->len;

	if (r->style == V0_DEFINITION || (r->style != V0_FULL && tag == 'Y')) {
		read_impl_definition(r, tag);
		return;
	}
	if (tag != 'Y') {
		v0__read_optional(r, 's');
		skip(r, read_outer_path);
	}
	v0__put(r, "<");
	if (r->style == V0_ANY_TYPE)
		read_any_type(r, tag == 'M');
	else
		read_type(r);
	if (tag != 'M') {
		v0__put(r, " as ");
		read_path(r, false);
	}
	v0__put(r, ">");
	if (r->style != V0_FULL && tag == 'M')
		drop_brackets(r, start);
}

static void read_arguments(struct v0_reader *r)
{
	read_list(r, read_generic_argument, ", ");
}

static void read_path(struct v0_reader *r, bool in_value)
{
	struct v0_name name;
	size_t behind;
	char tag;

	if (!v0__enter(r))
		return;
	tag = v0__next(r);
	switch (tag) {
	case 'C':
		v0__read_optional(r, 's');
		name = v0__read_name(r);
		v0__put_name(r, &name);
		break;
	case 'N':
		read_nested(r, in_value);
		break;
	case 'M':
	case 'X':
	case 'Y':
		read_impl(r, tag);
		break;
	case 'I':
		read_path(r, in_value);
		if (r->style != V0_FULL) {
			skip(r, read_arguments);
			break;
		}
		v0__put(r, in_value ? "::<" : "<");
		read_arguments(r);
		v0__put(r, ">");
		break;
	case 'B':
		behind = v0__go_back(r);
		if (behind) {
			read_path(r, in_value);
			r->at = behind;
		}
		break;
	default:
		r->bad = true;
	}
	v0__leave(r);
}

/* ---- Types ----------------------------------------------------------------------------------- */

static void read_reference(struct v0_reader *r, const char *mut)
{
	v0__put(r, "&");
	if (v0__eat(r, 'L')) {
		uint64_t lifetime = v0__read_base62(r);

		if (lifetime) {
			v0__put_lifetime(r, lifetime);
			v0__put(r, " ");
		}
	}
	v0__put(r, mut);
	read_type(r);
}

/* "extern "C" "; an ABI with '-' has '_' in the symbol. */
static void read_abi(struct v0_reader *r)
{
	struct v0_name abi = {.ascii = "C", .n_ascii = 1};

	if (!v0__eat(r, 'C'))
		abi = v0__read_name(r);
	if (!abi.n_ascii || abi.n_deltas)
		r->bad = true;
	v0__put(r, "extern \"");
	for (size_t i = 0; !r->bad && i < abi.n_ascii; i++)
		v0__put_bytes(r, abi.ascii[i] == '_' ? "-" : abi.ascii + i, 1);
	v0__put(r, "\" ");
}

static void read_function(struct v0_reader *r)
{
	uint64_t outer = r->bound;

	v0__read_binder(r);
	if (v0__eat(r, 'U'))
		v0__put(r, "unsafe ");
	if (v0__eat(r, 'K'))
		read_abi(r);
	v0__put(r, "fn(");
	read_list(r, read_type, ", ");
	v0__put(r, ")");
	/* As in Rust source, a return type of "()" is not written. */
	if (!v0__eat(r, 'u')) {
		v0__put(r, " -> ");
		read_type(r);
	}
	r->bound = outer;
}

/*
 * Write a path without the '>' of its arguments, so that more arguments can follow. True if it has
 * arguments.
 */
static bool read_open_path(struct v0_reader *r)
{
	bool is_open = false;
	size_t behind;

	if (!v0__enter(r))
		return false;
	if (v0__eat(r, 'B')) {
		behind = v0__go_back(r);
		if (behind) {
			is_open = read_open_path(r);
			r->at = behind;
		}
	} else if (v0__eat(r, 'I')) {
		read_path(r, false);
		if (r->style != V0_FULL) {
			skip(r, read_arguments);
		} else {
			v0__put(r, "<");
			read_arguments(r);
			is_open = true;
		}
	} else {
		read_path(r, false);
	}
	v0__leave(r);
	return is_open;
}

/* "Trait<Argument, Name = Type>" */
static void read_dyn_trait(struct v0_reader *r)
{
	bool is_open = read_open_path(r);

	while (v0__eat(r, 'p')) {
		struct v0_name name = v0__read_name(r);

		v0__put(r, is_open ? ", " : "<");
		is_open = true;
		v0__put_name(r, &name);
		v0__put(r, " = ");
		read_type(r);
	}
	if (is_open)
		v0__put(r, ">");
}

static void read_dyn(struct v0_reader *r)
{
	uint64_t outer = r->bound, lifetime;

	v0__put(r, "dyn ");
	v0__read_binder(r);
	read_list(r, read_dyn_trait, " + ");
	r->bound = outer;
	if (!v0__eat(r, 'L'))
		r->bad = true;
	lifetime = v0__read_base62(r);
	if (lifetime) {
		v0__put(r, " + ");
		v0__put_lifetime(r, lifetime);
	}
}

static void read_type(struct v0_reader *r)
{
	static const char *const basic[UCHAR_MAX + 1] = {
		['a'] = "i8",  ['b'] = "bool", ['c'] = "char",	['d'] = "f64",	 ['e'] = "str",
		['f'] = "f32", ['h'] = "u8",   ['i'] = "isize", ['j'] = "usize", ['l'] = "i32",
		['m'] = "u32", ['n'] = "i128", ['o'] = "u128",	['p'] = "_",	 ['s'] = "i16",
		['t'] = "u16", ['u'] = "()",   ['v'] = "...",	['x'] = "i64",	 ['y'] = "u64",
		['z'] = "!",
	};
	unsigned char tag = r->at < r->len ? (unsigned char)r->s[r->at] : '\0';
	size_t behind;

	if (basic[tag]) {
		v0__next(r);
		v0__put(r, basic[tag]);
		return;
	}
	if (!v0__enter(r))
		return;
	switch (v0__next(r)) {
	case 'R':
	case 'Q':
		read_reference(r, tag == 'Q' ? "mut " : "");
		break;
	case 'P':
	case 'O':
		v0__put(r, tag == 'O' ? "*mut " : "*const ");
		read_type(r);
		break;
	case 'A':
	case 'S':
		v0__put(r, "[");
		read_type(r);
		if (tag == 'A') {
			v0__put(r, "; ");
			read_const(r);
		}
		v0__put(r, "]");
		break;
	case 'T':
		v0__put(r, "(");
		if (read_list(r, read_type, ", ") == 1)
			v0__put(r, ",");
		v0__put(r, ")");
		break;
	case 'F':
		read_function(r);
		break;
	case 'D':
		read_dyn(r);
		break;
	case 'B':
		behind = v0__go_back(r);
		if (behind) {
			read_type(r);
			r->at = behind;
		}
		break;
	default:
		/* The tag is part of the path. */
		if (!r->bad)
			r->at--;
		read_path(r, false);
	}
	v0__leave(r);
}

/* ---- Constants ------------------------------------------------------------------------------- */

static void read_unsigned(struct v0_reader *r)
{
	const char *digits;
	uint64_t value;
	size_t n = v0__read_hex(r, &digits, &value);

	if (!n)
		r->bad = true;
	if (n <= 16) {
		v0__put_number(r, value);
	} else {
		v0__put(r, "0x");
		v0__put_bytes(r, digits, n);
	}
}

/* Write a character as text, or as a number if it is not ASCII. */
static void read_char(struct v0_reader *r)
{
	const char *digits;
	char text[16];
	uint64_t value;
	size_t n = v0__read_hex(r, &digits, &value);

	if (!n || n > 8 || value > 0x10ffff)
		r->bad = true;
	if (value == '\t' || value == '\r' || value == '\n')
		snprintf(text, sizeof(text), "'\\%c'",
			 value == '\t'	 ? 't'
			 : value == '\r' ? 'r'
					 : 'n');
	else if (value > ' ' && value < '~')
		snprintf(text, sizeof(text), "'%c'", (char)value);
	else
		snprintf(text, sizeof(text), "'\\u{%x}'", (unsigned int)value);
	v0__put(r, text);
}

static void read_const(struct v0_reader *r)
{
	const char *digits;
	uint64_t value;
	size_t behind;
	char tag;

	if (!v0__enter(r))
		return;
	tag = v0__next(r);
	if (tag == 'B') {
		behind = v0__go_back(r);
		if (behind) {
			read_const(r);
			r->at = behind;
		}
	} else if (tag && strchr("aslxni", tag)) {
		if (v0__eat(r, 'n'))
			v0__put(r, "-");
		read_unsigned(r);
	} else if (tag && strchr("htmyoj", tag)) {
		read_unsigned(r);
	} else if (tag == 'b') {
		if (v0__read_hex(r, &digits, &value) != 1 || value > 1)
			r->bad = true;
		v0__put(r, value ? "true" : "false");
	} else if (tag == 'c') {
		read_char(r);
	} else if (tag == 'p') {
		v0__put(r, "_");
	} else {
		r->bad = true;
	}
	v0__leave(r);
}

bool demangle_v0(const char *s, size_t len, enum v0_style style, struct demangled *d)
{
	struct v0_reader r = {.s = s, .len = len, .out = d, .style = style};

	/* Lower case is reserved for later extensions, such as versions of the mangling. */
	if (!len || !isupper((unsigned char)*s))
		return false;
	read_path(&r, true);
	if (!r.bad && r.at < r.len) {
		/* The instantiating crate is read and not written. */
		r.silent = true;
		read_path(&r, false);
	}
	return !r.bad && r.at == r.len;
}

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The terminals of the v0 mangling: bytes, numbers, names, back references, lifetimes.
 *
 * Back references let a few bytes stand for gigabytes of text, or for as many steps without any
 * text. Three limits bound that: the text (DEMANGLED_MAX), the nesting of rules (500), and the
 * bytes that are read, which count again each time that a reference leads to them (65536). A silent
 * reader follows no references and counts no lifetimes.
 */
#ifndef QPROF_PLAN_SYMBOLS_V0_READER_H
#define QPROF_PLAN_SYMBOLS_V0_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The text of a demangled symbol, while it is written. Bytes: */
#define DEMANGLED_MAX 4096

struct demangled {
	size_t len;
	char text[DEMANGLED_MAX]; /* without a NUL */
};

/* False if there is no room for `s`. */
bool demangled__put(struct demangled *d, const char *s, size_t len);

/*
 * How a symbol is written. V0_ANY_TYPE and V0_DEFINITION are the same for all instances of a
 * definition.
 */
enum v0_style {
	V0_FULL, /* in Rust syntax */
	/* Without generic arguments: "hashbrown::raw::RawTable::reserve", "<T as Trait>::f" */
	V0_PLAIN,
	/* The same with "_" for the type of an impl: that of one for all types is the instance's */
	V0_ANY_TYPE,
	/* As rustc's own path of the definition: "alloc::vec::{impl#5}::push" */
	V0_DEFINITION,
};

struct v0_reader {
	const char *s;
	size_t len, at;
	struct demangled *out;
	unsigned int depth, steps;
	enum v0_style style;
	uint64_t bound; /* the number of lifetimes named by the enclosing "for<>" */
	bool silent;	/* reads without writing */
	bool bad;	/* the symbol is invalid or over a limit: all reading and writing stops */
};

/* Without deltas, `ascii` is the whole name. */
struct v0_name {
	const char *ascii, *deltas; /* of punycode */
	size_t n_ascii, n_deltas;
};

/* Write, unless the reader is silent or bad. */
void v0__put_bytes(struct v0_reader *r, const char *s, size_t len);
void v0__put(struct v0_reader *r, const char *s);
void v0__put_number(struct v0_reader *r, uint64_t n);

/* True if `c` was next; then it has been taken. */
bool v0__eat(struct v0_reader *r, char c);

/* Take the next byte; 0, and bad, at the end. */
char v0__next(struct v0_reader *r);

/*
 * Call around a rule that may contain itself. False if the reader is bad; then v0__leave() must not
 * be called.
 */
bool v0__enter(struct v0_reader *r);
void v0__leave(struct v0_reader *r);

/* Digits and '_': "_" is 0, "0_" is 1. */
uint64_t v0__read_base62(struct v0_reader *r);

/* One more than the number after `tag`; 0 without the tag. */
uint64_t v0__read_optional(struct v0_reader *r, char tag);

/*
 * Digits of base 16 and '_': returns the number of digits, and sets *digits to them. Only the last
 * 16 make the value.
 */
size_t v0__read_hex(struct v0_reader *r, const char **digits, uint64_t *value);

/* <length name>, with an optional '_' between them. */
struct v0_name v0__read_name(struct v0_reader *r);
bool v0_name__is_empty(const struct v0_name *name);
void v0__put_name(struct v0_reader *r, const struct v0_name *name);

/*
 * Follow a back reference whose 'B' has been taken. Returns the position after it, to return to; 0
 * if there is nothing to read.
 */
size_t v0__go_back(struct v0_reader *r);

/* Write a lifetime by its index: 0 has no name, 1 is the innermost bound lifetime. */
void v0__put_lifetime(struct v0_reader *r, uint64_t index);

/* Write "for<'a, 'b> ", if there is one. The caller restores `bound`. */
void v0__read_binder(struct v0_reader *r);

/* Punycode (RFC 3492): the encoding of letters beyond ASCII in symbols. */

/* Limit of letters in a name: the time to decode it grows with their square. */
#define PUNYCODE_LETTERS_MAX 512
/* The bytes that these letters may take in UTF-8. */
#define PUNYCODE_BYTES_MAX (4 * PUNYCODE_LETTERS_MAX)

/*
 * Write the letters of `ascii` and the letters that `deltas` inserts between them, as UTF-8 without
 * a NUL. False if the deltas are wrong, or if there are too many letters.
 */
bool punycode__decode(const char *ascii, size_t n_ascii, const char *deltas, size_t n_deltas,
		      char out[static PUNYCODE_BYTES_MAX], size_t *n_out);

#endif /* QPROF_PLAN_SYMBOLS_V0_READER_H */

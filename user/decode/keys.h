/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The keys of one compiler's executions, until the compiler ends: then each invocation id is mapped
 * to the name of what its execution was about. rustc numbers the ids from 0, so this is an array.
 */
#ifndef QPROF_DECODE_KEYS_H
#define QPROF_DECODE_KEYS_H

#include "base/table.h"
#include "qprof/measureme_format.h"
#include "decode/definitions.h"
#include "decode/caller_index.h"
#include "decode/sources.h"

/* For executions without an id: numbers that measureme gives to none. */
#define KEYS_OWN_IDS MM_FIRST_REGULAR_ID

/* The key of a query that takes none: wire_key() returns greater ones. */
#define KEY_UNIT 1u

/*
 * Of an id under which executions with different keys ran: rustc gives an anonymous query with one
 * dependency that dependency's. Such executions have no name.
 */
#define KEY_SHARED 2u

/* And the number of a string: the key of what is about a text. Strings have numbers below 2^31. */
#define KEY_TEXT (1u << 31)

/* And an index in `parts`: that of what is about a text and a part of a file. */
#define KEY_PART (1u << 30)

/* A text, and a span as the compiler packs it. */
struct key_part {
	uint64_t span;
	uint32_t string;
	uint32_t pad;
};

/* A distinct key. */
struct key {
	uint64_t key;
	uint32_t string; /* once it is named */
	bool placed;	 /* its place was reported, or there is none */
	bool numbered;	 /* its name is a number: the path is unknown */
};

/* All zeroes is empty. */
struct keys {
	TABLE(struct key) distinct;
	uint32_t *key_of; /* by invocation id: index in `distinct` + 1, or none; 0: no execution */
	uint32_t n;
	uint32_t *own; /* the same, of the ids that were given out here */
	uint32_t n_own;
	uint32_t n_own_named; /* of these, those that were mapped */
	bool named;	      /* some were mapped before */
	struct key_part *parts;
	uint32_t n_parts;
	uint32_t parts_capacity;
	bool texts; /* some of its own are of texts */
	uint32_t own_capacity;
};

/*
 * Remember the key of an execution; 0 if it is not known: readers show ids that are not mapped as
 * <unknown> once others are. *invocation changes if it is TRACE_NO_INVOCATION and there is a key. 0
 * or -ENOMEM.
 */
int keys__note(struct keys *k, uint64_t key, uint32_t *invocation);

/*
 * Remember that an interval without an id is about the text `string`: *invocation becomes an id of
 * our own. 0 or -ENOMEM.
 */
int keys__note_text(struct keys *k, uint32_t string, uint32_t *invocation);

/*
 * Likewise, of a text and a place in the source: both are in the name, joined as rustc joins two
 * arguments, if the place is known.
 */
int keys__note_part(struct keys *k, uint32_t string, uint64_t span, uint32_t *invocation);

struct keys_naming {
	const struct decoder_sink *sink;
	struct definitions *definitions;
	struct sources *sources;
	struct crates *crates;
	struct dependencies *dependencies;
	const struct plan_layout *layout;
	const char *crate; /* or NULL */
	uint32_t process;
};

/*
 * Map the ids of all executions to the names of their keys; those without a name to an empty text.
 * Nothing is mapped without a table of definitions or texts. Forgets the executions. *n_unnamed
 * rises by the executions whose key has no name, or only a number. 0, -ENOMEM, or the sink's error.
 */
int keys__name(struct keys *k, const struct keys_naming *how, uint64_t *n_unnamed);

/*
 * Set *string to the path of a definition (wire_key()), or to TRACE_NO_STRING; its place is
 * reported once. 0, -ENOMEM, or the sink's error.
 */
int keys__name_definition(struct keys *k, const struct keys_naming *how, uint64_t definition,
			  uint32_t *string);

void keys__clear(struct keys *k);

#endif /* QPROF_DECODE_KEYS_H */

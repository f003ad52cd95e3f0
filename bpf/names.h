/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies the names of a compiler's definitions when its query context is dropped, or when it dies
 * (names_dying.h): the table of definitions, and the texts of the symbols in it. struct wire_layout
 * says where they are. All of it is the compiler's memory and may hold anything: every length is
 * limited, and nothing that was read is used as an index of ours without a bound.
 */
#ifndef QPROF_NAMES_H
#define QPROF_NAMES_H

#include "contexts.h"
#include "maps.h"
#include "names_limits.h"

/* With no more than this waiting, any text has room. */
#define NAMES_ROOM (WIRE_SYMBOLS_MAX - WIRE_SYMBOL_MAX - 8)
/* Texts that were sent, remembered by the low bits of their symbols. A power of two. */
#define NAMES_SENT	2048
#define NAMES_ENTRY_MAX 64

/*
 * The working memory of one copy. `owner` is the thread that copies, or 0. A symbol may be sent
 * twice: `sent` only remembers the last one of each place, and `serial` tells the copies apart.
 */
struct names_slot {
	__u32 owner;
	__u32 serial;
	__u64 address; /* of the table that is copied now */
	__u64 symbols; /* address */
	__u64 n_symbols;
	__u32 bytes;	   /* of the table that is copied now */
	__u32 piece_bytes; /* of each of its pieces but the last */
	__u32 definitions; /* in their table */
	__u32 text_bytes;  /* of the texts so far */
	__u32 missing;
	__u32 line_bytes; /* of the lines of files so far */
	__u64 begun_ns;
	__u64 until_ns; /* the copy is given up then */
	__u32 dying;	/* the process has its context still, but other threads may drop it */
	__u64 globals;	/* address */
	__u64 interned; /* address */
	__u64 n_interned;
	__u64 files; /* address */
	__u64 word;  /* that was read last */
	/* In the table that is copied now, the spans: bytes from one to the next, and before it. */
	__u32 span_step, span_at;
	__u8 entry[NAMES_ENTRY_MAX]; /* of a symbol, or an interned span */
	__u8 file[WIRE_FILE_SIZE_MAX];
	__u32 entries_left; /* of all caches that may still be copied */
	/* Of the cache that is copied now: names_crates.h. */
	__u64 metadata, keys, keys_mask;
	__u32 n_entries; /* in the cache */
	__u32 n_piece;	 /* in its piece */
	struct wire_layout layout;
	/* Of the results that are counted now: tables.h. */
	__u64 gcx;     /* address of the GlobalCtxt */
	__u64 bias;    /* from ELF addresses of the library to those of the process */
	__u64 shard;   /* address of the number of entries in the next shard */
	__u64 entries; /* of a hash table */
	__u32 n_keys;  /* of the query whose keys are copied now */
	/* Of its cache, a hash table: hash_keys.h. */
	__u64 ctrl;
	__u64 buckets;	    /* of the table, or shard, that is looked at */
	__u64 entries_size; /* bytes of the entries of all tables that may still be read */
	__u64 symbol_bytes; /* of the symbols of results so far */
	struct wire_query_table query;
	struct wire_tables tables;
	struct wire_counts counts;
	struct wire_piece piece;
	struct wire_piece gathered; /* entries that are read one by one */
	struct wire_symbols texts;
	__u64 sent[NAMES_SENT]; /* serial << 32 | symbol */
};

/* Twice as many as CPUs, for kernels that preempt a copy. The user half sets the number. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct names_slot);
} names_slots SEC(".maps");

volatile __u32 n_names_slots = 1;

/*
 * Keeps a value in its register, and apart from the conditions around: the compiler makes one
 * condition on another register of two, and the verifier of some kernels then knows no bound.
 */
#define NAMES_KEEP(value) asm volatile("" : "+r"(value))

/*
 * Reads are a function apart, as are all functions of a copy that are called in several places: the
 * verifier checks each once, where it would else check what a read can end in for each caller.
 * Such a function cannot be passed an address in the slot, but an offset.
 */
#define NAMES_AT(field) __builtin_offsetof(struct names_slot, field)

/* Copy `n` bytes of the compiler's memory, WIRE_PIECE_MAX at most, to `at` in the slot. Nonzero if
 * that fails. */
STACK_APART int names_fetch(struct names_slot *s, __u64 at, __u64 n, __u64 from)
{
	if (!s || at > sizeof(*s) - WIRE_PIECE_MAX || n > WIRE_PIECE_MAX)
		return -1;
	return maps_read_user((__u8 *)s + at, n, from);
}

/* Read a word of the compiler's memory. Nonzero if that fails. */
static __always_inline int names_word(struct names_slot *s, __u64 *to, __u64 from)
{
	int err;

	s->word = 0;
	err = names_fetch(s, NAMES_AT(word), 8, from);
	*to = s->word;
	return err;
}

/* A copy that has kept its CPU for too long is given up. */
static __always_inline int names_is_late(const struct names_slot *s)
{
	return bpf_ktime_get_ns() >= s->until_ns;
}

/*
 * A read may have met memory that was freed, or may come too late: the drop of a context first
 * removes its entry.
 */
static __always_inline int names_are_void(struct names_slot *s)
{
	/* Linux 6.1 takes no key from the memory that a function is given. */
	__u32 pid = s->piece.pid;

	return names_is_late(s) || (s->dying && !bpf_map_lookup_elem(&contexts, &pid));
}

/* True if nothing more is to be read. */
static __always_inline int names_is_over(struct names_slot *s)
{
	if (names_is_late(s))
		s->missing = NAMES_MISSING_MAX + 1;
	return s->missing > NAMES_MISSING_MAX;
}

/* These records are large: between two looks of the reader they could fill the ring. */
static __always_inline void names_send(struct names_slot *s, void *record, __u64 size)
{
	__u64 flags = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) < knobs.wakeup_bytes
			      ? BPF_RB_NO_WAKEUP
			      : BPF_RB_FORCE_WAKEUP;

	if (names_are_void(s))
		s->missing = NAMES_MISSING_MAX + 1;
	else if (bpf_ringbuf_output(&ring, record, size, flags))
		s->missing++;
}

/* Send the piece, of so many bytes. */
STACK_APART int names_send_bytes(struct names_slot *s, __u64 n)
{
	if (s && n <= WIRE_PIECE_MAX)
		names_send(s, &s->piece, sizeof(s->piece) - WIRE_PIECE_MAX + n);
	return 0;
}

/* Send the texts that are waiting. */
STACK_APART int names_flush(struct names_slot *s)
{
	__u64 size;

	if (!s)
		return 0;
	size = s->texts.size;
	NAMES_KEEP(size);
	if (size > WIRE_SYMBOLS_MAX)
		return 0;
	NAMES_KEEP(size);
	if (size)
		names_send(s, &s->texts, sizeof(s->texts) - WIRE_SYMBOLS_MAX + size);
	s->texts.size = 0;
	return 0;
}

static __always_inline int names_was_sent(struct names_slot *s, __u32 symbol)
{
	__u64 *place = &s->sent[symbol & (NAMES_SENT - 1)];
	__u64 now = (__u64)s->serial << 32 | symbol;

	if (*place == now)
		return 1;
	*place = now;
	return 0;
}

/* Read where the text of a symbol is, and how long. Nonzero if that fails. */
static __always_inline int names_find_text(struct names_slot *s, __u32 symbol, __u64 *text,
					   __u64 *length)
{
	__u64 at = s->symbols + (__u64)symbol * s->layout.symbol_size;
	__u64 size = s->layout.symbol_size, text_at = s->layout.text, length_at = s->layout.length;

	asm volatile("" : "+r"(size), "+r"(text_at), "+r"(length_at));
	if (symbol >= s->n_symbols || size > NAMES_ENTRY_MAX || text_at > NAMES_ENTRY_MAX - 8 ||
	    length_at > NAMES_ENTRY_MAX - 8 || names_fetch(s, NAMES_AT(entry), size, at))
		return -1;
	*text = *(__u64 *)(s->entry + text_at);
	*length = *(__u64 *)(s->entry + length_at);
	return 0;
}

/* Append the text of a symbol. */
STACK_APART int names_add(struct names_slot *s, __u32 symbol)
{
	__u64 text, length, n, used;

	if (!s || names_was_sent(s, symbol))
		return 0;
	if (s->text_bytes > (s->dying ? NAMES_DYING_TEXTS_MAX : NAMES_TEXTS_MAX) ||
	    names_find_text(s, symbol, &text, &length)) {
		s->missing++;
		return 0;
	}
	n = length < WIRE_SYMBOL_MAX ? length : WIRE_SYMBOL_MAX;
	if (s->texts.size > NAMES_ROOM)
		names_flush(s);
	used = s->texts.size;
	/* Keeps the bounds in the registers that are used below, where the verifier sees them. */
	asm volatile("" : "+r"(n), "+r"(used));
	if (used > NAMES_ROOM || n > WIRE_SYMBOL_MAX)
		return 0;
	if (n && names_fetch(s, NAMES_AT(texts.bytes) + used + 8, n, text)) {
		s->missing++;
		return 0;
	}
	*(__u32 *)(s->texts.bytes + used) = symbol;
	*(__u32 *)(s->texts.bytes + used + 4) = n;
	n = 8 + ((n + 3) & ~3ull);
	s->texts.size = used + n;
	s->text_bytes += n;
	return 0;
}

/* The argument of the callbacks of loops: the verifier knows a pointer only on the stack. */
struct names_loop {
	struct names_slot *slot;
};

/* The symbol of the name of a definition whose own symbol is 0. */
static __always_inline __u32 names_unnamed(const struct names_slot *s, __u32 tag)
{
	return s->layout.unnamed_tags >> tag & 1 ? s->layout.unnamed : 0;
}

/*
 * The symbol of the name of the definition that is at `at` in the piece, or WIRE_TAG_UNKNOWN. The
 * caller adds its text: a function that did both would be one call too deep for the verifier.
 */
STACK_APART __u32 names_symbol_at(struct names_slot *s, __u64 at)
{
	__u64 symbol_at;
	__u32 tag, symbol;

	if (!s)
		return WIRE_TAG_UNKNOWN;
	symbol_at = at + s->layout.symbol;
	at += s->layout.tag;
	asm volatile("" : "+r"(at), "+r"(symbol_at));
	if (at > WIRE_PIECE_MAX - 4 || symbol_at > WIRE_PIECE_MAX - 4)
		return WIRE_TAG_UNKNOWN;
	tag = *(__u32 *)(s->piece.bytes + at);
	symbol = tag < WIRE_TAGS ? s->layout.tags[tag] : WIRE_TAG_UNKNOWN;
	if (symbol == WIRE_TAG_NAMED)
		symbol = *(__u32 *)(s->piece.bytes + symbol_at) ?: names_unnamed(s, tag);
	return symbol;
}

/* Append the text of that definition. Nonzero if nothing more is to be read. */
static __always_inline int names_add_definition(struct names_slot *s, __u64 at)
{
	__u32 symbol = names_symbol_at(s, at);

	if (symbol != WIRE_TAG_UNKNOWN)
		names_add(s, symbol);
	return s->missing > NAMES_MISSING_MAX;
}

static long names_add_symbol(__u32 i, void *p)
{
	struct names_loop *c = p;

	return names_add_definition(c->slot, (__u64)i * c->slot->layout.size);
}

/* Behind the last piece lies what an earlier one left. */
static __always_inline void names_add_symbols(struct names_loop *c)
{
	struct names_slot *s = c->slot;

	if (s->piece.table == WIRE_TABLE_DEFINITIONS && s->layout.size)
		bpf_loop(s->piece.size / s->layout.size, names_add_symbol, c, 0);
}

/* 1: it was sent; 0: it was not; -1: there is none. */
STACK_APART int names_send_piece(struct names_slot *s, __u32 i)
{
	__u64 n, at;

	if (!s)
		return -1;
	n = s->piece_bytes;
	at = i * n;
	if (at >= s->bytes || s->missing > NAMES_MISSING_MAX)
		return -1;
	if (n > s->bytes - at)
		n = s->bytes - at;
	if (!n)
		return -1;
	if (names_fetch(s, NAMES_AT(piece.bytes), n, s->address + at)) {
		s->missing++;
		return 0;
	}
	s->piece.offset = at;
	s->piece.size = n;
	names_send_bytes(s, n);
	return 1;
}

static long names_copy_piece(__u32 i, void *p)
{
	struct names_loop *c = p;
	int sent = names_send_piece(c->slot, i);

	if (sent > 0)
		names_add_symbols(c);
	return sent < 0;
}

/*
 * Copy `bytes` from `address` on, as a table of elements of `size` bytes each. The piece that is
 * waiting is the slot's alone: no other thread has it until the end.
 */
static __always_inline int names_copy_table(struct names_slot *s, __u64 address, __u32 bytes,
					    __u32 size)
{
	struct names_loop c = {s};

	if (!size || size > WIRE_PIECE_MAX)
		return 0;
	s->address = address;
	s->bytes = bytes;
	s->piece_bytes = WIRE_PIECE_MAX / size * size;
	bpf_loop(NAMES_PIECES_MAX, names_copy_piece, &c, 0);
	return 0;
}

/* Read where the texts of symbols are: their address and number are in the globals. */
static __always_inline int names_find_symbols(struct names_slot *s, __u64 globals)
{
	return names_word(s, &s->symbols, globals + s->layout.symbols) ||
	       names_word(s, &s->n_symbols, globals + s->layout.n_symbols);
}

STACK_APART int names_copy_definitions(struct names_slot *s, __u64 context)
{
	__u64 most, table, n;

	if (!s)
		return 0;
	if (names_word(s, &table, context + s->layout.table) ||
	    names_word(s, &n, context + s->layout.count)) {
		s->missing++;
		return 0;
	}
	most = s->dying ? NAMES_DYING_MAX : NAMES_DEFINITIONS_MAX;
	if (n > most) {
		s->missing++;
		n = most;
	}
	s->definitions = n;
	s->piece.table = WIRE_TABLE_DEFINITIONS;
	return names_copy_table(s, table, n * s->layout.size, s->layout.size);
}

/* Send the entries that were read one by one, and are waiting. */
STACK_APART int names_flush_gathered(struct names_slot *s)
{
	__u64 size;

	if (!s)
		return 0;
	size = s->gathered.size;
	NAMES_KEEP(size);
	if (size > WIRE_PIECE_MAX)
		return 0;
	NAMES_KEEP(size);
	if (size)
		names_send(s, &s->gathered, sizeof(s->gathered) - WIRE_PIECE_MAX + size);
	s->gathered.offset += size;
	s->gathered.size = 0;
	return 0;
}

/* From now on they are of this table. */
static __always_inline void names_gather(struct names_slot *s, __u8 table)
{
	s->gathered.table = table;
	s->gathered.offset = 0;
	s->gathered.size = 0;
}

#endif /* QPROF_NAMES_H */

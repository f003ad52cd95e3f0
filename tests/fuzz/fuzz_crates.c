// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Takes any bytes as what the kernel half copied of the crates that a compiler knows and of their
 * caches, names definitions of them, and shares them with a second compiler that has cached
 * nothing. Strings have a bounded length, and a definition has the same string when it is asked for
 * again.
 *
 * An input is the sizes and places within an entry (struct head), and records: type, crate, size,
 * bytes.
 */
#include "definitions.h"

#define NUMBERS 8
#define INDICES 64

struct head {
	uint8_t root, root_parent, plain, key_first;
	uint8_t tags[4]; /* 254: named, 255: unknown */
};

struct record_head {
	uint8_t type; /* 0: crates; 1: entries; else: texts */
	uint8_t crate;
	uint16_t size;
};

static uint32_t n_foreign;

static int on_foreign(void *ctx, uint32_t id)
{
	(void)ctx;
	expect(id < n_strings);
	n_foreign++;
	return 0;
}

/* As every plan has it: 16 bytes, and the index before or behind. */
static struct plan_layout layout_of(const struct head *h)
{
	struct plan_layout l = {
		.wire = {.size = 16, .tag = 0, .symbol = 4},
		.disambiguator = 8,
		.parent = 12,
		.no_parent = h->root_parent == 255 ? 0xffffffff : 0xffffff00u + h->root_parent,
		.root = h->root % sizeof(h->tags),
		.plain = h->plain,
	};

	l.wire.crates.size = 20;
	l.wire.crates.index = h->key_first & 1 ? 16 : 0;
	l.wire.crates.key = h->key_first & 1 ? 0 : 4;
	set_tags(&l.wire, h->tags, sizeof(h->tags));
	return l;
}

static void add_piece(struct crates *c, const struct plan_layout *l, const struct record_head *h,
		      const uint8_t *bytes, uint32_t n)
{
	struct wire_piece *r = calloc(1, sizeof(*r));
	int err;

	expect(r);
	r->number = h->crate % NUMBERS;
	r->size = n < WIRE_PIECE_MAX ? n : WIRE_PIECE_MAX;
	memcpy(r->bytes, bytes, r->size);
	err = h->type ? crates__add_keys(c, l, r) : crates__add(c, r);
	expect(!err || err == -EBADMSG);
	free(r);
}

static void add_records(struct crates *c, struct definitions *d, const struct plan_layout *l,
			const uint8_t *data, size_t size)
{
	struct record_head h;
	const uint8_t *bytes;
	uint32_t n;

	while ((bytes = fuzz_headed_record(&data, &size, &h, &n))) {
		if (h.type > 1)
			add_symbols(d, bytes, n);
		else
			add_piece(c, l, &h, bytes, n);
	}
}

static void name_all(struct crates *c, const struct crates_naming *how)
{
	for (uint32_t i = 0; i < NUMBERS * INDICES; i++) {
		uint32_t id[2];
		bool numbered[2];

		/* A number is made anew each time; a trace has it once. */
		for (int k = 0; k < 2; k++)
			expect(!crates__string(c, how, i / INDICES, i * 7 % INDICES, &id[k],
					       &numbered[k]));
		expect(numbered[0] == numbered[1]);
		expect((id[0] == TRACE_NO_STRING) == (id[1] == TRACE_NO_STRING));
		expect(id[0] == TRACE_NO_STRING || id[0] < n_strings);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct decoder_sink sink = {
		.text = on_text, .compose = on_compose, .foreign = on_foreign};
	struct dependencies dependencies = {0};
	struct definitions d = {0};
	struct crates c = {0};
	struct plan_layout l;
	struct crates_naming how = {
		.sink = &sink, .definitions = &d, .layout = &l, .dependencies = &dependencies};
	struct head h;

	if (size < sizeof(h))
		return 0;
	memcpy(&h, data, sizeof(h));
	l = layout_of(&h);
	n_strings = n_foreign = 0;
	add_records(&c, &d, &l, data + sizeof(h), size - sizeof(h));
	name_all(&c, &how);
	expect(!crates__share(&c, &how));
	expect(dependencies__bytes(&dependencies) <= DEPENDENCIES_BYTES_MAX);
	table__destroy(&c.cached);
	memset(&c.cached, 0, sizeof(c.cached));
	name_all(&c, &how);
	expect(n_foreign <= c.all.n);
	crates__clear(&c);
	definitions__clear(&d);
	dependencies__destroy(&dependencies);
	return 0;
}

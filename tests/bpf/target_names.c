// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Fake query contexts, which lie where the layout of test_bpf_names.c says. Each object has a
 * mapping of its own, with unreadable memory behind it.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "names_of_target.h"
#include "shapes.h"

#define PAGE	4096ul
#define RESERVE (80ul << 20)
#define NOWHERE 0x10000000000ul

/* shapes.S has its offset in the thread-local memory. */
__thread char *names_globals;

struct object {
	char *at, *before;
	size_t size; /* whole pages */
};

struct context {
	struct object table, symbols, texts, context, globals;
	struct object store, crates, metadata, caches, keys;
	struct object spans, interned, map, list, files, lines, contexts, expansions, shards;
	struct object hash, hash_shards, large;
	struct object instances, instances_many, instance_texts;
	uint32_t n;
};

#define METADATA 0x400ul
/* Of a context that lies about crates. */
#define CRATES 40u

static struct object map(size_t size)
{
	struct object o = {.size = (size + PAGE - 1) / PAGE * PAGE};

	o.at = mmap(NULL, RESERVE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	o.before = malloc(o.size + 1);
	if (o.at == MAP_FAILED || !o.before ||
	    (o.size && mprotect(o.at, o.size, PROT_READ | PROT_WRITE)))
		abort();
	return o;
}

static void put(struct object *o, size_t at, uint64_t value)
{
	memcpy(o->at + at, &value, sizeof(value));
}

static void fill_symbols(struct context *c)
{
	size_t used = 0;

	c->symbols = map((size_t)NAMES_SYMBOLS * NAMES_ENTRY);
	c->texts = map((size_t)NAMES_SYMBOLS * 64 + 4096);
	for (uint32_t i = 0; i < NAMES_SYMBOLS; i++) {
		uint32_t n = names_length(i);

		put(&c->symbols, (size_t)i * NAMES_ENTRY + NAMES_TEXT,
		    (uint64_t)c->texts.at + used);
		put(&c->symbols, (size_t)i * NAMES_ENTRY + NAMES_LENGTH, n);
		for (uint32_t k = 0; k < n; k++)
			c->texts.at[used++] = (char)names_letter(i, k);
	}
}

static void fill_crates(struct context *c, uint32_t n);
static void fill_places(struct context *c);
static void fill_results(struct context *c);
static void fill_hash(struct context *c);
static void fill_instances(struct context *c);
static void fill_keys(struct context *c);

static struct context make(uint32_t n, uint32_t row_size, uint32_t n_crates)
{
	struct context c = {
		.n = n, .context = map(2 * PAGE), .globals = map(PAGE), .store = map(PAGE)};

	c.table = map((size_t)n * row_size);
	for (uint32_t i = 0; i < n; i++)
		names_fill_row((uint8_t *)c.table.at + (size_t)i * row_size, row_size, i);
	fill_symbols(&c);
	put(&c.context, NAMES_CONTEXT + NAMES_TABLE, (uint64_t)c.table.at);
	put(&c.context, NAMES_CONTEXT + NAMES_COUNT, n);
	put(&c.context, NAMES_CONTEXT + NAMES_OWN_ID, NAMES_OWN);
	put(&c.context, NAMES_CONTEXT + NAMES_STORE, (uint64_t)c.store.at);
	fill_crates(&c, n_crates);
	put(&c.globals, NAMES_SYMBOL_TABLE, (uint64_t)c.symbols.at);
	put(&c.globals, NAMES_N_SYMBOLS, NAMES_SYMBOLS);
	fill_places(&c);
	fill_keys(&c);
	fill_results(&c);
	fill_hash(&c);
	fill_instances(&c);
	names_globals = c.globals.at;
	return c;
}

/* The cache of a crate, of which the control bytes are at `control` in `o`. */
static void fill_cache(struct object *o, size_t control, uint32_t crate)
{
	for (uint32_t i = 0; i < names_entries(crate); i++) {
		size_t at = control - (i + 1ul) * NAMES_KEY_SIZE;
		uint32_t index = 1000 * crate + i;

		o->at[control + i] =
			names_entry_is_used(crate, i) ? (char)(i & 0x7f) : -1 - (i & 1);
		memcpy(o->at + at + NAMES_KEY_INDEX, &index, sizeof(index));
		names_fill_row((uint8_t *)o->at + at + NAMES_KEY, 16, index);
	}
}

static void fill_crates(struct context *c, uint32_t n)
{
	size_t used = 0;

	c->metadata = map(n * METADATA);
	c->crates = map(n * 8ul);
	c->caches = map(n * 1024ul * (1 + NAMES_KEY_SIZE));
	for (uint32_t i = 0; i < n; i++) {
		size_t at = i * METADATA, control = used + names_entries(i) * NAMES_KEY_SIZE;
		uint32_t name = names_symbol(i + 11);

		put(&c->crates, i * 8ul, names_has_crate(i) ? (uint64_t)c->metadata.at + at : 0);
		memcpy(c->metadata.at + at + NAMES_CRATE_NAME, &name, sizeof(name));
		put(&c->metadata, at + NAMES_STABLE_ID, names_stable_id(i));
		put(&c->metadata, at + NAMES_KEYS, (uint64_t)c->caches.at + control);
		put(&c->metadata, at + NAMES_KEYS_MASK, names_entries(i) - 1);
		fill_cache(&c->caches, control, i);
		used = control + names_entries(i);
	}
	put(&c->store, NAMES_CRATES, (uint64_t)c->crates.at);
	put(&c->store, NAMES_N_CRATES, n);
}

/* Buckets follow one another; the first has 3 spans, and each has 4 times as many as the last. */
static void fill_spans(struct context *c)
{
	c->spans = map(c->n * 8ul);
	c->interned = map(c->n * (size_t)NAMES_INTERNED_SIZE);
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t position = 10 * i;

		put(&c->spans, i * 8ul, names_span(i));
		memcpy(c->interned.at + i * NAMES_INTERNED_SIZE + NAMES_POSITION, &position, 4);
		memcpy(c->interned.at + i * NAMES_INTERNED_SIZE + NAMES_SPAN_CONTEXT, &i, 4);
	}
	for (uint32_t b = 0; b < 12; b++)
		put(&c->context, NAMES_CONTEXT + NAMES_SPANS + 8 * b,
		    (uint64_t)c->spans.at + 8 * ((1ul << 2 * b) - 1));
	put(&c->context, NAMES_CONTEXT + NAMES_N_SPANS, c->n);
	put(&c->globals, NAMES_INTERNED, (uint64_t)c->interned.at);
	put(&c->globals, NAMES_N_INTERNED, c->n);
}

/* The name of a file is behind it. */
static void fill_file(struct context *c, uint32_t i)
{
	size_t at = i * 256ul;
	uint32_t start = 1000 * i, length = 999;
	int n = snprintf(c->files.at + at + 128, 100, "src/file-%u.rs", i);

	put(&c->list, i * 8ul, (uint64_t)c->files.at + at);
	memcpy(c->files.at + at + NAMES_FILE_START, &start, 4);
	memcpy(c->files.at + at + NAMES_FILE_LENGTH, &length, 4);
	put(&c->files, at + NAMES_FILE_CAPACITY, 64);
	put(&c->files, at + NAMES_FILE_NAME, (uint64_t)c->files.at + at + 128);
	put(&c->files, at + NAMES_FILE_NAME_LENGTH, (uint64_t)n);
	put(&c->files, at + NAMES_FILE_STATE, names_source_is_ready(i) ? NAMES_READY : 16);
	put(&c->files, at + NAMES_FILE_LINES, (uint64_t)c->lines.at);
	put(&c->files, at + NAMES_FILE_N_LINES, i * (uint64_t)NAMES_SOURCE_LINES);
}

static void fill_calls(struct context *c)
{
	c->contexts = map(NAMES_CALLS * NAMES_CONTEXT_SIZE);
	c->expansions = map(NAMES_CALLS * NAMES_EXPANSION_SIZE);
	for (uint32_t i = 0; i < NAMES_CALLS; i++) {
		size_t context = (size_t)i * NAMES_CONTEXT_SIZE;
		size_t expansion = (size_t)i * NAMES_EXPANSION_SIZE;

		memcpy(c->contexts.at + context + NAMES_CONTEXT_NUMBER, &i, 4);
		put(&c->expansions, expansion + NAMES_CALL, names_call(i));
		c->expansions.at[expansion + NAMES_KIND] = NAMES_MACRO;
	}
	put(&c->globals, NAMES_CONTEXTS, (uint64_t)c->contexts.at);
	put(&c->globals, NAMES_N_CONTEXTS, NAMES_CALLS);
	put(&c->globals, NAMES_EXPANSIONS, (uint64_t)c->expansions.at);
	put(&c->globals, NAMES_N_EXPANSIONS, NAMES_CALLS);
}

static void fill_places(struct context *c)
{
	fill_calls(c);
	fill_spans(c);
	c->map = map(PAGE);
	c->list = map(PAGE);
	c->files = map(NAMES_SOURCES * 256ul);
	c->lines = map(NAMES_SOURCES * NAMES_SOURCE_LINES * 4ul);
	for (uint32_t i = 0; i < NAMES_SOURCES * NAMES_SOURCE_LINES; i++)
		((uint32_t *)c->lines.at)[i] = i;
	for (uint32_t i = 0; i < NAMES_SOURCES; i++)
		fill_file(c, i);
	put(&c->map, NAMES_FILES, (uint64_t)c->list.at);
	put(&c->map, NAMES_N_FILES, NAMES_SOURCES);
	put(&c->globals, NAMES_SOURCE_MAP, (uint64_t)c->map.at);
}

/* Twice as many shards as are in use: the first half is of the sums, the other of the lies. */
static void fill_results(struct context *c)
{
	c->shards = map(2ul * NAMES_SHARDS * NAMES_SHARD_SIZE);
	for (uint32_t i = 0; i < 2 * NAMES_SHARDS; i++)
		put(&c->shards, i * (size_t)NAMES_SHARD_SIZE + NAMES_ITEMS,
		    i < NAMES_SHARDS ? i : 1ull << 60);
	for (uint32_t i = 0; i < NAMES_RESULTS; i++) {
		size_t at = NAMES_CONTEXT + names_results(i), cache = at + NAMES_CACHE;
		uint64_t half = NAMES_SHARDS * NAMES_SHARD_SIZE;

		put(&c->context, at + NAMES_ACTIVE + NAMES_ITEMS, i);
		put(&c->context, at + NAMES_QUERY_NAME,
		    (uint64_t)names_drop + (i == RESULTS_OTHER_NAME));
		put(&c->context, at + NAMES_QUERY_NAME + 8, NAMES_QUERY_LENGTH);
		if (i >= RESULTS_KEYS)
			continue;
		if (i == RESULTS_ONCE || i == RESULTS_NONE) {
			put(&c->context, cache, i == RESULTS_ONCE ? 0 : 3);
		} else if (i == RESULTS_SHARDS || i == RESULTS_NOWHERE || i == RESULTS_MANY_EACH) {
			put(&c->context, cache,
			    i == RESULTS_NOWHERE  ? NOWHERE
			    : i == RESULTS_SHARDS ? (uint64_t)c->shards.at
						  : (uint64_t)c->shards.at + half);
			c->context.at[cache + NAMES_MODE] = NAMES_SHARDED;
		} else {
			put(&c->context, cache + NAMES_VEC_COUNT,
			    i == RESULTS_MANY ? 1ull << 60 : 100 + i);
			put(&c->context, at + NAMES_OTHERS + NAMES_ITEMS, 7);
			put(&c->context, cache + NAMES_VEC_KEYS, (uint64_t)c->keys.at);
		}
	}
}

/* All shards of a query are one table: the first part of a good one, or a large one. */
static void fill_shards(struct context *c, size_t at, uint64_t ctrl, uint64_t buckets)
{
	for (uint32_t i = 0; i < NAMES_SHARDS; i++) {
		size_t shard = at + i * (size_t)NAMES_SHARD_SIZE;

		put(&c->hash_shards, shard + NAMES_HASH_CTRL, ctrl);
		put(&c->hash_shards, shard + NAMES_HASH_MASK, buckets - 1);
		put(&c->hash_shards, shard + NAMES_ITEMS, 10);
	}
}

static void fill_hash(struct context *c)
{
	size_t ctrl = (size_t)NAMES_HASH_BUCKETS * NAMES_HASH_ENTRY;
	uint64_t table, many = NAMES_HASH_LARGE;

	c->hash = map(ctrl + NAMES_HASH_BUCKETS);
	table = (uint64_t)c->hash.at + ctrl;
	/* Without anything in its entries; all are full. */
	c->large = map(many * (NAMES_HASH_ENTRY + 1));
	c->hash_shards = map(2ul * NAMES_SHARDS * NAMES_SHARD_SIZE);
	for (uint32_t i = 0; i < NAMES_HASH_BUCKETS; i++) {
		uint32_t key[4] = {names_key(i), names_key(i), names_bucket_is_of_others(i)};

		c->hash.at[ctrl + i] = names_bucket_is_full(i) ? (char)(i & 0x7f) : -1 - (i & 1);
		memcpy(c->hash.at + ctrl - (i + 1ul) * NAMES_HASH_ENTRY + NAMES_HASH_KEY, key,
		       sizeof(key));
	}
	fill_shards(c, 0, table, NAMES_HASH_SHARD_BUCKETS);
	fill_shards(c, NAMES_SHARDS * NAMES_SHARD_SIZE,
		    (uint64_t)c->large.at + many * NAMES_HASH_ENTRY, many);
	for (uint32_t i = RESULTS_HASH; i <= RESULTS_HASH_ENDLESS; i++) {
		size_t cache = NAMES_CONTEXT + names_results(i) + NAMES_CACHE;
		uint64_t shards = (uint64_t)c->hash_shards.at;

		put(&c->context, cache + NAMES_HASH_CTRL,
		    i == RESULTS_HASH_NOWHERE	? NOWHERE
		    : i == RESULTS_HASH_SHARDS	? shards
		    : i == RESULTS_HASH_ENDLESS ? shards + NAMES_SHARDS * NAMES_SHARD_SIZE
						: table);
		put(&c->context, cache + NAMES_HASH_MASK,
		    i == RESULTS_HASH_MANY     ? (1ull << 60) - 1
		    : i == RESULTS_HASH_SPARSE ? (1ull << 16) - 1
					       : NAMES_HASH_BUCKETS - 1);
		put(&c->context, cache + NAMES_ITEMS, i);
		if (i == RESULTS_HASH_SHARDS || i == RESULTS_HASH_ENDLESS)
			c->context.at[cache + NAMES_MODE] = NAMES_SHARDED;
	}
}

/* The entry of a bucket: a key of the crate, of another one, or of none; and a symbol. */
static void fill_instance(char *entry, uint32_t i, uint64_t text, uint64_t length)
{
	uint32_t key[4] = {names_key(i), names_key(i), i % 3 ? i % 3 - 1 : UINT32_MAX};

	memcpy(entry + NAMES_HASH_KEY, key, sizeof(key));
	memcpy(entry + NAMES_INSTANCE_TEXT, &text, sizeof(text));
	memcpy(entry + NAMES_INSTANCE_TEXT + 8, &length, sizeof(length));
}

static void fill_instances(struct context *c)
{
	size_t ctrl = (size_t)NAMES_INSTANCES * NAMES_INSTANCE;
	size_t ctrl_of_many = (size_t)NAMES_INSTANCES_MANY * NAMES_INSTANCE;

	c->instance_texts = map((size_t)NAMES_INSTANCES * NAMES_INSTANCE_ROOM);
	c->instances = map(ctrl + NAMES_INSTANCES);
	for (uint32_t i = 0; i < NAMES_INSTANCES; i++) {
		char *at = c->instance_texts.at + (size_t)i * NAMES_INSTANCE_ROOM;
		uint64_t length = names_instance_symbol(i, at), text = (uint64_t)at;

		switch (names_symbol_lie(i)) {
		case SYMBOL_EMPTY:
			length = 0;
			break;
		case SYMBOL_ENDLESS:
			length = 1ull << 40;
			break;
		case SYMBOL_NOWHERE:
			text = NOWHERE;
			break;
		case SYMBOL_KERNEL:
			text = 0xffffffff81000000;
			break;
		case SYMBOL_UNPRINTABLE:
			at[0] = '\n';
			break;
		}
		fill_instance(c->instances.at + ctrl - (i + 1ul) * NAMES_INSTANCE, i, text, length);
	}
	c->instances_many = map(ctrl_of_many + NAMES_INSTANCES_MANY);
	for (uint32_t i = 0; i < NAMES_INSTANCES_MANY; i++)
		fill_instance(c->instances_many.at + ctrl_of_many - (i + 1ul) * NAMES_INSTANCE, i,
			      (uint64_t)c->instance_texts.at + 6ul * NAMES_INSTANCE_ROOM,
			      WIRE_SYMBOL_HASHED);
	for (uint32_t i = RESULTS_INSTANCES; i <= RESULTS_INSTANCES_MANY; i++) {
		size_t cache = NAMES_CONTEXT + names_results(i) + NAMES_CACHE;
		int many = i == RESULTS_INSTANCES_MANY;

		put(&c->context, cache + NAMES_HASH_CTRL,
		    many ? (uint64_t)c->instances_many.at + ctrl_of_many
			 : (uint64_t)c->instances.at + ctrl);
		put(&c->context, cache + NAMES_HASH_MASK,
		    (many ? NAMES_INSTANCES_MANY : NAMES_INSTANCES) - 1);
		put(&c->context, cache + NAMES_ITEMS,
		    many ? NAMES_INSTANCES_MANY : NAMES_INSTANCES);
	}
}

/* Of a query with keys in four buckets, each of a size of its own. */
static void fill_keys(struct context *c)
{
	c->keys = map(NAMES_VEC_RESULTS * sizeof(uint32_t));
	for (uint32_t i = 0; i < NAMES_VEC_RESULTS; i++)
		((uint32_t *)c->keys.at)[i] = names_key(i) + NAMES_VEC_MARK;
	for (uint32_t i = RESULTS_KEYS; i <= RESULTS_KEYS_NOWHERE; i++) {
		size_t cache = NAMES_CONTEXT + names_results(i) + NAMES_CACHE;
		uint32_t begin = 0;

		put(&c->context, cache + NAMES_VEC_COUNT, NAMES_VEC_RESULTS);
		for (int bucket = 0; begin < NAMES_VEC_RESULTS; bucket++) {
			int nowhere = i == RESULTS_KEYS_NOWHERE && bucket == 2;

			put(&c->context, cache + NAMES_VEC_KEYS + 8ul * bucket,
			    nowhere ? NOWHERE : (uint64_t)c->keys.at + 4ul * begin);
			begin = begin ? 2 * begin : NAMES_VEC_FIRST;
		}
	}
}

static void save(struct object *o)
{
	memcpy(o->before, o->at, o->size);
}

static void compare(struct object *o)
{
	if (memcmp(o->before, o->at, o->size))
		_exit(NAMES_CHANGED);
	munmap(o->at, RESERVE);
	free(o->before);
}

static void drop(struct context *c, enum names_lie lie)
{
	save(&c->table);
	save(&c->symbols);
	save(&c->texts);
	save(&c->context);
	save(&c->globals);
	save(&c->store);
	save(&c->crates);
	save(&c->metadata);
	save(&c->caches);
	if (lie == LIE_BASE)
		names_drop_without_base(c->context.at, __builtin_thread_pointer());
	else
		names_drop(lie == LIE_CONTEXT ? NULL : c->context.at);
	names_globals = c->globals.at;
	compare(&c->table);
	compare(&c->symbols);
	compare(&c->texts);
	compare(&c->context);
	compare(&c->globals);
	compare(&c->store);
	compare(&c->crates);
	compare(&c->metadata);
	compare(&c->caches);
}

void names_drop_table(uint32_t n, uint32_t row_size)
{
	struct context c = make(n, row_size, 0);

	drop(&c, LIE_COUNT);
}

void names_feed_results(uint32_t n)
{
	while (n--)
		names_feed(NAMES_FED_VTABLE);
}

void names_drop_crates(uint32_t n)
{
	struct context c = make(3, 16, n);

	drop(&c, LIE_COUNT);
}

void names_drop_places(uint32_t n)
{
	struct context c = make(n, 16, 0);

	drop(&c, LIE_COUNT);
}

/* Nothing answers the faults of this page. */
static void *map_blocking_page(void)
{
	void *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register area = {
		.range = {.start = (uint64_t)at, .len = PAGE},
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &area))
		_exit(NAMES_IMPOSSIBLE);
	return at;
}

static void lie_of_texts(struct context *c, enum names_lie lie)
{
	struct object *o = &c->symbols;

	for (uint32_t i = 0; i < NAMES_SYMBOLS; i++) {
		size_t at = (size_t)i * NAMES_ENTRY;

		if (lie == LIE_EDGE)
			put(o, at + NAMES_TEXT, (uint64_t)c->texts.at + c->texts.size - 4);
		else if (i != 7 || lie == LIE_MANY_TEXTS)
			put(o, at + NAMES_TEXT,
			    lie == LIE_LENGTH ? NOWHERE : (uint64_t)c->texts.at);
		put(o, at + NAMES_LENGTH, lie == LIE_EDGE ? 5 : 1ul << 30);
	}
}

static void lie_of_numbers(struct context *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		((uint32_t *)c->table.at)[4 * i + 1] = NAMES_SYMBOLS + i;
}

static void lie_of_crates(struct context *c, enum names_lie lie)
{
	for (uint32_t i = 0; i < CRATES; i++) {
		if (lie == LIE_METADATA)
			put(&c->crates, i * 8ul, NOWHERE);
		else if (lie == LIE_MASK)
			put(&c->metadata, i * METADATA + NAMES_KEYS_MASK, (1ul << 63) - 1);
		else
			put(&c->metadata, i * METADATA + NAMES_KEYS, NOWHERE);
	}
}

/* All have the largest cache of any crate, of which the size is a lie too. */
static void lie_of_many_crates(struct context *c)
{
	uint64_t metadata = (uint64_t)c->metadata.at + 10 * METADATA;

	c->crates = map((1ul << 14) * 8);
	for (uint32_t i = 0; i < 1u << 14; i++)
		put(&c->crates, i * 8ul, metadata);
	put(&c->store, NAMES_CRATES, (uint64_t)c->crates.at);
	put(&c->store, NAMES_N_CRATES, 1u << 14);
}

static void lie_of_files(struct context *c, enum names_lie lie)
{
	for (uint32_t i = 0; i < NAMES_SOURCES; i++) {
		size_t at = i * 256ul;

		if (lie == LIE_FILE)
			put(&c->list, i * 8ul, NOWHERE);
		if (lie == LIE_LINES)
			put(&c->files, at + NAMES_FILE_N_LINES, 1ul << 63);
		if (lie == LIE_FILE_TEXTS)
			put(&c->files, at + NAMES_FILE_NAME, NOWHERE);
		if (lie != LIE_FILE_NAMES)
			continue;
		put(&c->files, at + NAMES_FILE_NAME_LENGTH, 1ul << 63);
		put(&c->files, at + NAMES_FILE_CAPACITY, 1ul << 63);
	}
}

static void lie_of_many_files(struct context *c)
{
	c->list = map(65536 * 8);
	for (uint32_t i = 0; i < 65536; i++)
		put(&c->list, i * 8ul, (uint64_t)c->files.at + (NAMES_SOURCES - 2) * 256ul);
	put(&c->map, NAMES_FILES, (uint64_t)c->list.at);
	put(&c->map, NAMES_N_FILES, 65536);
}

static void lie_of_places(struct context *c, enum names_lie lie)
{
	switch (lie) {
	case LIE_SPANS:
		put(&c->context, NAMES_CONTEXT + NAMES_N_SPANS, 1ul << 63);
		break;
	case LIE_BUCKETS:
		for (uint32_t b = 0; b < 12; b++)
			put(&c->context, NAMES_CONTEXT + NAMES_SPANS + 8 * b, NOWHERE);
		break;
	case LIE_INTERNED:
		put(&c->globals, NAMES_INTERNED, NOWHERE);
		put(&c->globals, NAMES_N_INTERNED, 1ul << 63);
		break;
	case LIE_SOURCE_MAP:
		put(&c->globals, NAMES_SOURCE_MAP, NOWHERE);
		break;
	case LIE_FILES:
		put(&c->map, NAMES_N_FILES, 1ul << 63);
		break;
	case LIE_FILES_MANY:
		lie_of_many_files(c);
		break;
	case LIE_CONTEXTS:
		put(&c->globals, NAMES_N_CONTEXTS, 1ul << 63);
		break;
	case LIE_EXPANSIONS:
		put(&c->globals, NAMES_EXPANSIONS, NOWHERE);
		put(&c->globals, NAMES_N_EXPANSIONS, 1ul << 63);
		break;
	default:
		lie_of_files(c, lie);
	}
}

void names_lie(enum names_lie lie)
{
	struct context c = make(lie == LIE_MANY_TEXTS ? 1u << 20 : 256, 16,
				lie < LIE_STORE || lie >= LIE_SPANS ? 0 : CRATES);
	const size_t table = NAMES_CONTEXT + NAMES_TABLE, count = NAMES_CONTEXT + NAMES_COUNT;

	switch (lie) {
	case LIE_COUNT:
		put(&c.context, count, 1ul << 63);
		break;
	case LIE_TABLE:
		put(&c.context, table, NOWHERE);
		break;
	case LIE_TABLE_KERNEL:
		put(&c.context, table, 0xffffffff81000000);
		break;
	case LIE_SYMBOLS:
		put(&c.globals, NAMES_SYMBOL_TABLE, NOWHERE);
		break;
	case LIE_NUMBERS_MANY:
		put(&c.globals, NAMES_N_SYMBOLS, 1ul << 63);
		/* fall through */
	case LIE_NUMBERS:
		lie_of_numbers(&c);
		break;
	case LIE_LENGTH:
	case LIE_EDGE:
	case LIE_MANY_TEXTS:
		lie_of_texts(&c, lie);
		break;
	case LIE_GLOBALS:
		names_globals = NULL;
		break;
	case LIE_UNTOUCHED:
		put(&c.context, table, (uint64_t)map(PAGE).at);
		break;
	case LIE_STORE:
		put(&c.context, NAMES_CONTEXT + NAMES_STORE, NOWHERE);
		break;
	case LIE_CRATES:
		put(&c.store, NAMES_N_CRATES, 1ul << 63);
		break;
	case LIE_CRATES_MANY:
		lie_of_many_crates(&c);
		break;
	case LIE_METADATA:
	case LIE_MASK:
	case LIE_KEYS:
		lie_of_crates(&c, lie);
		break;
	case LIE_BLOCKS:
		put(&c.context, table, (uint64_t)map_blocking_page());
		break;
	default:
		if (lie >= LIE_SPANS)
			lie_of_places(&c, lie);
		break;
	}
	drop(&c, lie);
}

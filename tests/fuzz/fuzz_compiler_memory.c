// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Takes any bytes as the memory of a running compiler, and changes it between the reads. The
 * readers count results of queries in it, read active jobs, and copy and name definitions. Each
 * count is a number or unknown, the reads are few, and the records have the form of those that the
 * kernel half sends.
 *
 * An input is where things are (struct head), and the memory.
 */
#include <errno.h>

#include "capture/compiler_jobs.h"
#include "capture/compiler_results.h"
#include "decode/definitions.h"
#include "decode/results.h"
#include "fuzz.h"

#define MEMORY	  0x10000ul /* its address */
#define QUERIES	  40u
#define READS_MAX 4096u /* a copy is given up then, as one that takes too long is */

struct head {
	uint8_t tables[8]; /* of struct wire_tables */
	uint8_t layout[12];
	uint8_t query[6]; /* one of them; the next one's are a little further */
	uint8_t step;	  /* bytes from one that is changed to the next */
	uint8_t change;	  /* how it is changed; 0: none is */
};

static struct {
	uint8_t *bytes;
	size_t size;
	uint32_t reads, step, change;
	struct definitions definitions;
	struct results results;
	uint32_t counted;
} w;

static uint32_t labels[QUERIES], caches[QUERIES];
static uint8_t fed[QUERIES], items[QUERIES];
static const struct library library = {
	.labels = labels,
	.n_labels = QUERIES,
	.fed = fed,
	.items = items,
	.caches = caches,
};

static int read_memory(void *ctx, const struct broker_memory *ranges, uint32_t n, uint8_t *bytes)
{
	size_t all = 0;

	(void)ctx;
	expect(n && n <= BROKER_RANGES_MAX);
	if (w.change && w.size)
		w.bytes[w.reads * w.step % w.size] ^= w.change;
	if (w.reads++ == READS_MAX)
		return -ETIME;
	for (uint32_t i = 0; i < n; bytes += ranges[i++].size) {
		uint64_t at = ranges[i].addr - MEMORY;

		all += ranges[i].size;
		expect(all <= BROKER_MEMORY_MAX);
		if (at > w.size || ranges[i].size > w.size - at)
			return -EFAULT;
		memcpy(bytes, w.bytes + at, ranges[i].size);
	}
	return 0;
}

static int take_counts(const struct wire_counts *r, size_t size)
{
	uint64_t lost = 0;

	expect(size == offsetof(struct wire_counts, items) + r->n * sizeof(*r->items));
	expect(r->first == w.counted && r->n && r->n <= WIRE_COUNTS_MAX && r->of == QUERIES);
	w.counted += r->n;
	for (uint32_t i = 0; i < r->n; i++)
		expect(r->items[i].results <= WIRE_RESULTS_MAX
			       ? r->items[i].others <= WIRE_RESULTS_MAX
			       : r->items[i].results == WIRE_NO_COUNT);
	return results__add(&w.results, &library, RESULTS_NO_LOADS, r, &lost);
}

static int on_record(void *ctx, const void *record, size_t size)
{
	const struct wire_piece *piece = record;
	const struct wire_symbols *texts = record;

	(void)ctx;
	switch (*(const uint8_t *)record) {
	case WIRE_COUNTS:
		expect(!take_counts(record, size));
		return 0;
	case WIRE_PIECE:
		expect(size == offsetof(struct wire_piece, bytes) + piece->size);
		expect(!definitions__add(&w.definitions, piece));
		return 0;
	default:
		expect(texts->type == WIRE_SYMBOLS);
		expect(size == offsetof(struct wire_symbols, bytes) + texts->size);
		expect(!definitions__add_symbols(&w.definitions, texts));
		return 0;
	}
}

static int on_tally(void *ctx, const struct trace_tally *t)
{
	const enum wire_counts_moment *moment = ctx;

	expect(t->kind == TRACE_KIND_RESULTS_AT_LEAST ||
	       (t->kind == TRACE_KIND_RESULTS && *moment == WIRE_COUNTS_FINISHED));
	expect(t->events <= 3 * (uint64_t)WIRE_RESULTS_MAX && t->sum <= t->events);
	return 0;
}

static void count(const struct compiler_memory *m, const struct wire_context *c,
		  const struct head *h)
{
	enum wire_counts_moment moment =
		h->query[1] % 2 ? WIRE_COUNTS_FINISHED : WIRE_COUNTS_RUNNING;
	const struct decoder_sink sink = {.ctx = &moment, .tally = on_tally};
	struct wire_query_table queries[QUERIES];
	struct compiler_tables tables = {.queries = queries};
	uint64_t lost = 0;
	int err;

	tables.tables = (struct wire_tables){
		.n = QUERIES,
		.vec_count = h->tables[0],
		.items = h->tables[1],
		.mode = h->tables[2],
		.sharded = h->tables[3],
		.shards = h->tables[4],
		.n_shards = 2u * h->tables[5],
		.shard_size = 2u * h->tables[6],
		.once = h->tables[7],
	};
	for (uint32_t i = 0; i < QUERIES; i++)
		queries[i] = (struct wire_query_table){
			.text = h->query[0],
			.length = h->query[1],
			.name = h->query[2] + i * h->query[5],
			.cache = h->query[3] + i * h->query[5],
			.others = h->query[4] + i * h->query[5],
			.active = h->query[3] + (i + 1) * h->query[5],
			.kind = (uint8_t)((h->query[0] + i) % WIRE_CACHE_MAX),
		};
	err = compiler_results__copy(m, &tables, c, 1, 2, moment, on_record, NULL);
	expect(!err || err == -ENODATA || err == -ETIME);
	expect(err || w.counted == QUERIES);
	/* A name and three tables, and then each of three tables' shards. */
	expect(w.reads <= QUERIES * 4);
	expect(!results__show(&w.results, &library, RESULTS_NO_LOADS, &sink, 0));
	results__end(&w.results, &library, RESULTS_NO_LOADS, &lost);
	expect(!results__give(&w.results, &library, &sink, 0));
}

static void read_jobs(const struct compiler_memory *m, const struct head *h)
{
	static struct plan_query queries[QUERIES];
	static struct wire_job_tables tables;
	const struct plan plan = {
		.queries = queries,
		.n_queries = QUERIES,
		.layout.wire = {.size = 16,
				.globals = h->layout[0],
				.current = {.offset = h->layout[1],
					    .context = h->layout[2],
					    .known = 1}},
	};
	struct compiler_jobs jobs = {0};
	int err;

	tables = (struct wire_job_tables){
		.current = h->layout[3],
		.mode_at = h->tables[2] % (8 * WIRE_TABLE_WORDS),
		.sharded = h->tables[3],
		.ctrl = h->tables[4] % WIRE_TABLE_WORDS,
		.mask = h->tables[0] % WIRE_TABLE_WORDS,
		.n_entries = h->tables[1] % WIRE_TABLE_WORDS,
		.n_shards = h->tables[5] % (WIRE_JOB_SHARDS + 1),
		.shard = h->tables[6] % 9 * 8,
		.n = QUERIES,
	};
	for (uint32_t i = 0; i < QUERIES; i++) {
		queries[i].memory.offset = h->layout[4] % 64;
		tables.items[i] = (struct wire_job_table){
			.text = h->query[0],
			.length = h->query[1],
			.name = h->query[2] + i * h->query[5],
			.at = h->query[3] + i * h->query[5],
			.size = (uint8_t)(16 + h->layout[5] % 200),
			.key_at = h->layout[6] % 17,
			.job = h->layout[7] % 9,
			.parent = h->layout[8] % 9,
			.key = (uint8_t)((h->query[0] + i) % WIRE_KEY_MAX),
		};
	}
	w.reads = 0;
	err = compiler_jobs__read(m, &plan, &tables, MEMORY, MEMORY, &jobs);
	expect(err <= 0 && jobs.n <= COMPILER_JOBS_MAX);
	for (uint32_t i = 1; i < jobs.n && !err; i++)
		expect(jobs.items[i - 1].number <= jobs.items[i].number);
	compiler_jobs__clear(&jobs);
}

static void name(const struct compiler_memory *m, const struct compiler_context *c,
		 const struct head *h)
{
	struct plan_layout l = {
		.disambiguator = h->layout[0],
		.parent = h->layout[1],
		.root = h->layout[2],
		.no_parent = 0xffffffff,
	};
	struct wire_layout *wire = &l.wire;
	int err;

	wire->size = 8 + h->layout[3] % 57;
	wire->symbol_size = 16 + h->layout[4] % 49;
	wire->table = h->layout[5];
	wire->count = h->layout[6];
	wire->symbols = h->layout[7];
	wire->n_symbols = h->layout[8];
	wire->tag = h->layout[9] % (wire->size - 3);
	wire->symbol = h->layout[10] % (wire->size - 3);
	wire->text = h->layout[11] % (wire->symbol_size - 7);
	wire->length = (wire->text + 8) % (wire->symbol_size - 7);
	l.disambiguator %= wire->size - 3;
	l.parent %= wire->size - 3;
	memset(wire->tags, (int)WIRE_TAG_NAMED, sizeof(wire->tags));
	for (uint32_t i = 0; i < 64; i++) {
		char *path = NULL;

		w.reads = 0;
		err = compiler_names__path(m, &l, c, "a", i, &path);
		expect(err ? !path : !strncmp(path, "a", 1));
		/* Each segment takes a read of its row, of its symbol, and of the text. */
		expect(w.reads <= 2 + 3 * 200);
		free(path);
	}
	w.reads = 0;
	err = compiler_names__copy(m, &l, c, 1, 0, on_record, NULL);
	expect(!err || err == -EFAULT || err == -ETIME || err == -ENODATA);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct compiler_memory m = {NULL, read_memory};
	const struct wire_context c = {.context = MEMORY};
	const struct compiler_context names = {MEMORY, MEMORY + 64, 0};
	struct head h;

	if (size < sizeof(h))
		return 0;
	memcpy(&h, data, sizeof(h));
	memset(&w, 0, sizeof(w));
	w.size = size - sizeof(h);
	w.bytes = fuzz_copy(data + sizeof(h), w.size);
	w.step = h.step;
	w.change = h.change;
	count(&m, &c, &h);
	read_jobs(&m, &h);
	name(&m, &names, &h);
	definitions__clear(&w.definitions);
	results__clear(&w.results);
	free(w.bytes);
	return 0;
}

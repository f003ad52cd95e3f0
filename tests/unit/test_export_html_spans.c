// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <sys/mman.h>

#include "test.h"
#include "../fixtures/page.h"
#include "../fixtures/random.h"

#define SPANS 150000 /* more than two batches */

/* The spans that are read back from the page equal the original ones. */
static void assert_kept(const struct html_span *spans, size_t n)
{
	_close_ int fd = memfd_create("spans", MFD_CLOEXEC);
	_out_ struct out *out = NULL;
	_gzip_ struct gzip *p = NULL;
	struct html_spans s = {0};
	_free_ struct html_span *found = NULL;
	_free_ uint8_t *bytes = NULL;
	_free_ char *text = NULL;
	size_t size, n_found;

	assert_int_equal(out__new(fd, &out), 0);
	assert_int_equal(gzip__new(out, GZIP_BASE64, &p), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(html_spans__add(&s, &spans[i], p), 0);
	assert_int_equal(html_spans__finish(&s, p), 0);
	html_spans__destroy(&s);
	assert_int_equal(gzip__finish(p), 0);
	assert_int_equal(out__flush(out), 0);
	text = calloc(1, out__size(out) + 1);
	assert_int_equal(pread(fd, text, out__size(out), 0), out__size(out));
	bytes = page_unpack(text, &size);
	found = page_spans(bytes, size, &n_found);
	assert_int_equal(n_found, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(found[i].thread, spans[i].thread);
		assert_int_equal(found[i].depth, spans[i].depth);
		assert_int_equal(found[i].what, spans[i].what);
		assert_int_equal(found[i].key, spans[i].key);
		assert_int_equal(found[i].flags, spans[i].flags);
		assert_int_equal(found[i].start_ns, spans[i].start_ns);
		assert_int_equal(found[i].end_ns, spans[i].end_ns);
	}
}

/* Most spans are as a thread produces them; one in 50 has arbitrary times. */
static void random_spans_come_out_as_they_went_in(void **state)
{
	static struct html_span spans[SPANS];
	struct rng rng = rng_new();
	uint64_t now = 1000, depth = 0;

	for (size_t i = 0; i < SPANS; i++) {
		bool odd = !rng_below(&rng, 50);

		depth = depth && rng_below(&rng, 2) ? depth - 1 : depth + rng_below(&rng, 3);
		spans[i] = (struct html_span){
			.thread = i && rng_below(&rng, 100) ? spans[i - 1].thread
							    : (uint32_t)rng_below(&rng, 5),
			.depth = (uint32_t)depth,
			.what = (uint32_t)rng_below(&rng, 300),
			.key = rng_below(&rng, 3) ? HTML_NO_KEY : (uint32_t)rng_below(&rng, 1000),
			.flags = (uint8_t)rng_below(&rng, 8),
			.start_ns = odd ? rng_u64(&rng) : now,
		};
		now += rng_below(&rng, 3000);
		spans[i].end_ns = odd ? rng_u64(&rng) : now;
		now += rng_below(&rng, 30);
	}
	assert_kept(spans, SPANS);
}

static void there_may_be_none(void **state)
{
	assert_kept(NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_spans_come_out_as_they_went_in),
		cmocka_unit_test(there_may_be_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

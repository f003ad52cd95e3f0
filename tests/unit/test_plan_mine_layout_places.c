// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/layout.h"

#include <string.h>

#include "test.h"
#define LIBRARY "places.so"
#include "../fixtures/image.h"
#include "plan/check.h"

/* One function of each kind, by name; NULL: there is none. */
struct accessors {
	const char *spans, *map, *files, *by_name, *path, *lines, *bounds, *data;
};

#define GOOD                                                                                 \
	{                                                                                    \
		"a_spans", "a_map", "a_files", "a_by_name", "a_path", "a_lines", "a_bounds", \
			"a_data"                                                             \
	}

static const char *mine(struct accessors a, struct wire_layout_places *out)
{
	const char *names[] = {a.spans, a.map,	 a.files,  a.by_name,
			       a.path,	a.lines, a.bounds, a.data};
	static const enum name_kind kinds[] = {NAME_PROVIDER,	  NAME_SOURCE_MAP, NAME_FILE_INDEX,
					       NAME_FILE_BY_NAME, NAME_LOCAL_PATH, NAME_FILE_LINES,
					       NAME_LINE_BOUNDS,  NAME_SPAN_DATA};
	const struct wire_layout definitions = {.globals = symbol(img, "globals")->addr};
	struct layout_function functions[N_OF(names)];
	struct code_region regions[N_OF(names)];
	const char *problem = "not set";
	size_t n = 0;

	for (size_t i = 0; i < N_OF(names); i++) {
		const struct elf_symbol *sym = names[i] ? symbol(img, names[i]) : NULL;

		if (!sym)
			continue;
		regions[n] = (struct code_region){sym->addr, sym->size};
		functions[n] = (struct layout_function){.kind = kinds[i],
							.entry = sym->addr,
							.regions = &regions[n],
							.n_regions = 1};
		if (!i) {
			functions[n].query = "source_spanning";
			functions[n].query_len = strlen("source_span");
		}
		n++;
	}
	*out = (struct wire_layout_places){.ready = 77};
	assert_int_equal(layout_mine_places(img, functions, n, &definitions, out, &problem), 0);
	if (problem)
		assert_int_equal(out->ready, 77);
	return problem;
}

TEST_CASE(the_code_of_today_shows_all)
{
	struct wire_layout_places l;

	assert_null(mine((struct accessors)GOOD, &l));
	assert_null(plan_places_excess(&l));
	assert_int_equal(l.known, 1);
	assert_true(l.ready == 1ull << 63);
	assert_int_equal(l.spans, 0x1f448);
	assert_int_equal(l.n_spans, 0x1f548);
	assert_int_equal(l.first, 1);
	assert_int_equal(l.step, 2);
	assert_int_equal(l.source_map, 0x30);
	assert_int_equal(l.files, 0xe8);
	assert_int_equal(l.n_files, 0xf0);
	assert_int_equal(l.file_size, 0x160);
	assert_int_equal(l.file_start, 0x154);
	assert_int_equal(l.file_length, 0x158);
	assert_int_equal(l.name, 0x58);
	assert_int_equal(l.name_length, 0x60);
	assert_int_equal(l.name_capacity, 0x50);
	assert_int_equal(l.state, 0x118);
	assert_int_equal(l.lines, 0x128);
	assert_int_equal(l.n_lines, 0x130);
	assert_int_equal(l.interned, 0xb0);
	assert_int_equal(l.n_interned, 0xb8);
	assert_int_equal(l.interned_size, 24);
	assert_int_equal(l.position, 4);
	assert_int_equal(l.context, 12);
}

TEST_CASE(other_code_with_other_offsets_shows_them)
{
	struct wire_layout_places l;

	assert_null(mine((struct accessors){"b_spans", "b_map", "b_files", "b_by_name", "a_path",
					    "b_lines", "b_bounds", "b_data"},
			 &l));
	assert_true(l.ready == -3ull);
	assert_int_equal(l.spans, 0x400);
	assert_int_equal(l.n_spans, 0x500);
	assert_int_equal(l.first, 8);
	assert_int_equal(l.step, 1);
	assert_int_equal(l.source_map, 0x78);
	assert_int_equal(l.files, 0x28);
	assert_int_equal(l.n_files, 0x18);
	assert_int_equal(l.file_start, 0x34);
	assert_int_equal(l.file_length, 0x38);
	assert_int_equal(l.name, 0x20);
	assert_int_equal(l.state, 0x48);
	assert_int_equal(l.lines, 0x58);
	assert_int_equal(l.n_lines, 0x50);
	assert_int_equal(l.interned, 0x208);
}

TEST_CASE(code_with_less_inlining_shows_the_same)
{
	struct wire_layout_places l, expected;

	assert_null(mine((struct accessors)GOOD, &expected));
	assert_null(mine((struct accessors){"a_spans", "c_map", "a_files", "c_by_name", "b_path",
					    "a_lines", "c_bounds", "c_data"},
			 &l));
	/* The entries have something in front. */
	expected.position += 8;
	expected.context += 8;
	assert_memory_equal(&l, &expected, sizeof(l));
}

/* As 1.85 has them. The path is behind what says that it is one. */
TEST_CASE(older_code_shows_the_same)
{
	struct wire_layout_places l, expected;

	assert_null(mine((struct accessors)GOOD, &expected));
	assert_null(mine((struct accessors){"d_spans", "a_map", "a_files", "d_by_name", "d_path",
					    "a_lines", "a_bounds", "a_data"},
			 &l));
	assert_int_equal(l.spans, 0x400);
	assert_int_equal(l.n_spans, 0x500);
	assert_int_equal(l.first, WIRE_SPANS_IN_ONE);
	assert_int_equal(l.step, 1);
	assert_null(plan_places_excess(&l));
	assert_int_equal(l.name_capacity, 0x58);
	assert_int_equal(l.name, 0x60);
	assert_int_equal(l.name_length, 0x68);
	assert_int_equal(l.lines, expected.lines);
}

#define BROKEN(member, function, part)                                     \
	do {                                                               \
		struct accessors a_ = GOOD;                                \
		struct wire_layout_places l_;                              \
		const char *problem_;                                      \
                                                                           \
		a_.member = (function);                                    \
		problem_ = mine(a_, &l_);                                  \
		if (!problem_ || !strstr(problem_, part))                  \
			fail_msg("%s, not: %s", problem_ ?: "none", part); \
	} while (0)

TEST_CASE(a_missing_function_is_named)
{
	BROKEN(spans, NULL, "no provider of source_span");
	BROKEN(map, NULL, "no source_map::get_source_map");
	BROKEN(files, NULL, "no SourceMap::lookup_source_file_idx");
	BROKEN(by_name, NULL, "no SourceMap::get_source_file");
	BROKEN(path, NULL, "no FileName::into_local_path");
	BROKEN(lines, NULL, "no SourceFile::lines");
	BROKEN(bounds, NULL, "no SourceFile::line_bounds");
	BROKEN(data, NULL, "no Span::data_untracked");
}

TEST_CASE(functions_that_show_nothing_are_named)
{
	BROKEN(spans, "spans.skewed", "shows no table of spans");
	BROKEN(spans, "spans.uncounted", "shows no table of spans");
	BROKEN(map, "map.elsewhere", "get_source_map returns no part");
	BROKEN(files, "files.called", "compares no position");
	BROKEN(by_name, "by_name.other", "compares no name");
	BROKEN(by_name, "by_name.two_words", "compares no name");
	BROKEN(path, "path.kept", "returns no path");
	BROKEN(path, "path.freed_alone", "returns no path");
	BROKEN(lines, "lines.always", "no lines that are at hand");
	BROKEN(bounds, "bounds.far", "reads the start of a file elsewhere");
	BROKEN(data, "data.other", "Span::data_untracked");
	BROKEN(data, "data.called", "unpacks spans in another way");
	BROKEN(data, "data.unbounded", "returns no entry of a table");
	BROKEN(data, "data.of_others", "fills in no entry of the globals' table");
	BROKEN(data, "data.counted_otherwise", "fills in no entry of the globals' table");
	BROKEN(data, "data.of_other_size", "fills in no entry of the globals' table");
}

TEST_MAIN(image_setup, image_teardown)

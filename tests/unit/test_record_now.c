// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/now.h"

#include <errno.h>
#include <unistd.h>

#include "test.h"

#define SECOND	1000000000ull
#define LOCAL	wire_key(WIRE_KEY_LOCAL_CRATE, 5)
#define FOREIGN wire_key(3, 5)

struct world {
	struct summary *summary;
	struct now now;
	struct now_source source;
	struct top_nows answer;
	uint32_t asked;
	const char *path; /* of all keys */
};

static int ask(void *ctx, const uint32_t *tids, size_t n)
{
	struct world *w = ctx;

	assert_int_equal(tids[0], getpid());
	w->asked += (uint32_t)n;
	return 0;
}

static int item(void *ctx, pid_t pid, const char *crate, uint64_t key, char **out)
{
	const struct world *w = ctx;

	assert_int_equal(pid, getpid());
	assert_string_equal(crate, "hangs");
	assert_int_equal(key, LOCAL);
	if (!w->path)
		return -ENOENT;
	*out = strdup(w->path);
	return 0;
}

static const char *name(void *ctx, const struct wire_open_frame *f)
{
	static const char *const names[] = {"analysis", "typeck", "evaluate_obligation"};

	(void)ctx;
	return f->query < N_OF(names) ? names[f->query] : NULL;
}

/* One compiler runs, which is this process, and one has ended. */
static int begin(void **state)
{
	struct trace_process p = {.pid = (uint32_t)getpid(), .crate = (char *)"hangs"};
	struct trace_process ended = {.index = 1, .pid = 1, .end_ns = 7};
	struct world *w = calloc(1, sizeof(*w));

	*w = (struct world){.source = {w, ask, item, name}, .path = "hangs::planted"};
	assert_int_equal(summary__new(&w->summary), 0);
	assert_int_equal(summary__process(w->summary, &p), 0);
	assert_int_equal(summary__process(w->summary, &ended), 0);
	assert_true(now__ask(&w->now, &w->source, w->summary, SECOND));
	*state = w;
	return 0;
}

static int end(void **state)
{
	struct world *w = *state;

	summary__free(w->summary);
	free(w);
	return 0;
}

static void frame(struct world *w, uint16_t query, uint64_t key)
{
	now__frame(&w->now,
		   &(struct wire_open_frame){
			   .tid = (uint32_t)getpid(), .query = query, .key = key, .start_ns = 9});
}

static void stack(struct world *w, bool torn)
{
	now__stack(&w->now, &(struct wire_open_stack){.tid = (uint32_t)getpid(), .torn = torn});
}

/* What the answer tells of the compiler, as "name [item]"; "" if it tells nothing. */
static void assert_told(struct world *w, const char *expected)
{
	char text[256] = "";

	now__answer(&w->now, &w->source, w->summary, &w->answer);
	assert_in_range(w->answer.n, 0, 1);
	if (w->answer.n) {
		assert_int_equal(w->answer.at[0].pid, getpid());
		snprintf(text, sizeof(text), "%s [%s]", w->answer.at[0].name, w->answer.at[0].item);
	}
	assert_string_equal(text, expected);
}

TEST_CASE_WITH(the_innermost_with_an_item_is_told, begin, end)
{
	struct world *w = *state;

	assert_true(w->asked >= 1);
	frame(w, 0, 0);
	frame(w, 1, LOCAL);
	frame(w, 2, FOREIGN);
	stack(w, false);
	assert_told(w, "typeck [hangs::planted]");
	/* Without an item it is the innermost. */
	frame(w, 0, 0);
	frame(w, 2, FOREIGN);
	stack(w, false);
	assert_told(w, "evaluate_obligation []");
	/* A name that is gone leaves the query. */
	w->path = NULL;
	frame(w, 1, LOCAL);
	stack(w, false);
	assert_told(w, "typeck []");
}

TEST_CASE_WITH(what_is_not_known_is_not_told, begin, end)
{
	struct world *w = *state;

	assert_told(w, "");
	/* The frames of a stack that changed are of several moments. */
	frame(w, 1, LOCAL);
	stack(w, true);
	assert_told(w, "");
	stack(w, false);
	assert_told(w, "");
	/* An interval whose name is not known. */
	frame(w, 99, LOCAL);
	stack(w, false);
	assert_told(w, "");
	/* A thread that was not asked for. */
	now__frame(&w->now, &(struct wire_open_frame){.tid = 1, .query = 1});
	now__stack(&w->now, &(struct wire_open_stack){.tid = 1});
	assert_told(w, "");
}

TEST_CASE_WITH(it_is_asked_once_a_second, begin, end)
{
	struct world *w = *state;
	uint32_t asked = w->asked;

	frame(w, 1, LOCAL);
	stack(w, false);
	assert_false(now__ask(&w->now, &w->source, w->summary, SECOND + 1));
	assert_int_equal(w->asked, asked);
	assert_true(now__ask(&w->now, &w->source, w->summary, 2 * SECOND));
	assert_true(w->asked > asked);
	/* The answers of then are old. */
	assert_told(w, "");
}

static const char *argument(void *ctx, const struct wire_open_frame *f)
{
	return f->key == 7 ? "app.1-cgu.0" : NULL;
}

static void activity(struct world *w, uint16_t guard, uint64_t key)
{
	now__frame(&w->now, &(struct wire_open_frame){.tid = (uint32_t)getpid(),
						      .kind = WIRE_KIND_ACTIVITY,
						      .query = guard,
						      .key = key,
						      .start_ns = 9});
}

/* Names of guards are those of queries here. */
TEST_CASE_WITH(an_activity_has_its_argument, begin, end)
{
	struct world *w = *state;

	w->source.argument = argument;
	activity(w, 0, 7);
	activity(w, 1, 0);
	stack(w, false);
	assert_told(w, "analysis [app.1-cgu.0]");
	/* The argument did not come. */
	activity(w, 0, 7);
	activity(w, 1, 8);
	stack(w, false);
	assert_told(w, "typeck []");
	/* An item says more. */
	frame(w, 2, LOCAL);
	activity(w, 1, 7);
	stack(w, false);
	assert_told(w, "evaluate_obligation [hangs::planted]");
}

TEST_CASE_WITH(a_long_path_keeps_its_end, begin, end)
{
	struct world *w = *state;
	char path[1000];

	memset(path, 'a', sizeof(path));
	strcpy(path + sizeof(path) - 5, "::zz");
	w->path = path;
	frame(w, 1, LOCAL);
	stack(w, false);
	now__answer(&w->now, &w->source, w->summary, &w->answer);
	assert_int_equal(strlen(w->answer.at[0].item), sizeof(w->answer.at[0].item) - 1);
	assert_non_null(strstr(w->answer.at[0].item, "a::zz"));
}

TEST_MAIN(NULL, NULL)

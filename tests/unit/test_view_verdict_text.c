// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "view/verdict_text.h"

#include "../fixtures/output.h"

static void says(const struct verdict *v, const char *text, const char *fix)
{
	char buf[VERDICT_TEXT_MAX];

	assert_string_equal(verdict_text(v, buf), text);
	assert_contains(verdict_fix(v), fix);
}

TEST_CASE(a_loss_is_printed_with_its_cause)
{
	static const struct {
		struct verdict verdict;
		const char *text, *fix;
	} losses[] = {
		{{VERDICT_LOST_MAPPINGS, .cause = TRACE_LOST_MAPPINGS, .lost = 1234},
		 "no compiler was recorded, but 1,234 mappings or new programs were lost, and "
		 "compilers may be among them",
		 "doctor"},
		{{VERDICT_LOST_HITS, .cause = TRACE_LOST_NO_STORAGE, .lost = 1916, .of = 2000},
		 "1,916 of 2,000 probe hits were lost; the main cause: no memory for a thread's "
		 "stack of intervals",
		 "doctor"},
		{{VERDICT_LOST_INTERVALS, .cause = TRACE_LOST_RING_FULL, .lost = 2, .of = 3},
		 "2 of 3 intervals were lost; the main cause: ring buffer full",
		 "--ring-size"},
		{{VERDICT_LOST_INTERVALS, .cause = TRACE_LOST_STACK_FULL, .lost = 2, .of = 3},
		 "2 of 3 intervals were lost; the main cause: too many nested intervals on one "
		 "thread",
		 "--events"},
		{{VERDICT_LOST_COMPILERS, .cause = TRACE_LOST_COMPILERS, .lost = 2, .of = 2},
		 "2 of 2 compilers were lost; the main cause: compiler not recorded, or not to "
		 "its end",
		 "doctor"},
	};

	for (size_t i = 0; i < N_OF(losses); i++)
		says(&losses[i].verdict, losses[i].text, losses[i].fix);
}

TEST_CASE(a_late_start_proves_nothing)
{
	struct verdict v = {.state = VERDICT_NOTHING, .compiles = 2};

	says(&v, "no interval was recorded of 2 compilations: no probe fired", "doctor");
	v.hits = 1234;
	says(&v,
	     "no interval was recorded of 2 compilations, although 1,234 probe hits were counted",
	     "doctor");
	v.late = 2;
	says(&v,
	     "no interval was recorded of 2 compilations, which began before the probes were there",
	     "doctor");
	v.compiles = v.late = 1;
	says(&v,
	     "no interval was recorded of 1 compilation, which began before the probes were there",
	     "doctor");
	v.lost = 1;
	says(&v, "no interval was recorded of 1 compilation: 1 of the compilers was lost",
	     "doctor");
}

static char *lead(enum verdict_state state)
{
	const struct verdict v = {.state = state, .compiles = 2, .lost = 2, .of = 3};

	return printed_text((verdict_lead(out, &v), 0));
}

TEST_CASE(a_sound_recording_needs_no_lead)
{
	_free_ char *lost = lead(VERDICT_LOST_INTERVALS);

	assert_shows(lead(VERDICT_SOUND), "=");
	assert_string_equal(lost,
			    "2 of 3 intervals were lost; the main cause: ring buffer full\n\n");
}

TEST_MAIN(NULL, NULL)

// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <json-c/json.h>

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_snapshot.h"
#include "view/stuck_view.h"

static void a_snapshot_is_a_line(void **state)
{
	static const char want[] =
		"{\"schema\":\"qprof-stuck/1\",\"time_ns\":20000000000,\"watched_ns\":5000000000,"
		"\"processes\":[{\"pid\":4711,\"crate\":\"syn\",\"name\":\"syn "
		"(proc-macro)\",\"command\":\"rustc --crate-name "
		"syn\",\"age_ns\":65000000000,\"threads\":["
		"{\"tid\":4712,\"name\":\"ctrl-c\",\"state\":\"S\",\"cpu_ns\":0,\"off_ns\":null,"
		"\"preempted\":false,\"system_call\":\"futex\",\"stopped_ns\":60000,\"stack\":"
		"\"whole\",\"consistent\":true,\"open\":[],\"functions\":[\"libc.so.6\","
		"\"std::thread::park\",\"ctrlc::sem_wait_forever\"],\"calls\":8},"
		"{\"tid\":4713,\"name\":\"rustc\",\"state\":\"S\",\"cpu_ns\":3000000000,"
		"\"off_ns\":400000000,\"preempted\":false,\"system_call\":null,\"stopped_ns\":"
		"150000,\"stack\":\"whole\",\"consistent\":true,\"open\":["
		"{\"name\":\"analysis\",\"kind\":\"Query\",\"key\":null,\"entered\":\"before\","
		"\"start_ns\":"
		"null,\"elapsed_ns\":null},"
		"{\"name\":\"typeck\",\"kind\":\"Query\",\"key\":\"syn::parse\",\"entered\":"
		"\"exactly\",\"start_ns\":"
		"18000000000,\"elapsed_ns\":2000000000},"
		"{\"name\":null,\"kind\":\"Query\",\"key\":null,\"entered\":\"exactly\",\"start_"
		"ns\":"
		"19000000000,\"elapsed_ns\":1000000000},"
		"{\"name\":\"type_of\",\"kind\":\"QueryBlocked\",\"key\":null,\"entered\":"
		"\"exactly\","
		"\"start_ns\":19500000000,\"elapsed_ns\":500000000}],"
		"\"functions\":[\"libc.so.6\",\"rustc_middle::wait\\u001b[2J\",\"try_execute_"
		"query\",null],\"calls\":20},"
		"{\"tid\":4714,\"name\":\"opt a\",\"state\":\"R\",\"cpu_ns\":10000000,\"off_ns\":"
		"null,\"preempted\":false,\"system_call\":null,\"stopped_ns\":0,\"stack\":"
		"\"Operation not permitted\",\"consistent\":false,\"open\":[],\"functions\":[],"
		"\"calls\":0}]}],"
		"\"others\":[{\"pid\":70,\"parent_pid\":1,\"kind\":\"build script\",\"name\":"
		"\"build-script-build\",\"subject\":\"a\",\"command\":null,\"age_ns\":5,\"cpu_ns\":"
		"6,"
		"\"state\":\"S\",\"system_call\":\"wait4\",\"problem\":null}]}\n";
	struct other other = {.pid = 70,
			      .parent = 1,
			      .kind = OTHER_BUILD_SCRIPT,
			      .name = (char *)"build-script-build",
			      .subject = (char *)"a",
			      .age_ns = 5,
			      .cpu_ns = 6,
			      .state = 'S',
			      .waits = "wait4"};
	struct snapshot snapshot = sample_snapshot;
	struct json_object *parsed;
	_free_ char *text = NULL;

	snapshot.others = &other;
	snapshot.n_others = 1;
	text = printed_text(stuck_json(out, &snapshot));
	assert_string_equal(text, want);
	parsed = json_tokener_parse(text);
	assert_non_null(parsed);
	json_object_put(parsed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_snapshot_is_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

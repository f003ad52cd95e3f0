// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/arrivals.h"
#include "capture/ended.h"

#include <sys/eventfd.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "test.h"
#include "../fixtures/fake_arrivals.h"
#include "../fixtures/library_file.h"

/* ---- The session ----------------------------------------------------------------------------- */

static int on_record(void *ctx, const struct record *r)
{
	world.n_execs += r->kind == WIRE_EXEC;
	world.n_forks += r->kind == WIRE_FORK;
	world.n_late += r->kind == RECORD_LATE;
	return 0;
}

static const struct session_sink sink = {.take = on_record};

/* Stands for a part that is present. Nothing reads it. */
static char part;

static int wake_fd;
static struct arrivals *all;
static pid_t in_ring; /* a process whose exec waits in the ring; 0: none does */

static int drain_ring(void *ctx);

static void begin(bool whole_machine, bool mappings)
{
	const struct arrivals_parts parts = {
		.mappings = mappings ? (struct mappings *)(void *)&part : NULL,
		.wake_fd = wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		.drain = drain_ring,
	};

	memset(&world, 0, sizeof(world));
	world.file = make_library_file();
	world.dev = makedev(8, 1);
	world.pc = LOADER_START;
	assert_int_equal(arrivals__new(&parts, &sink, &all), 0);
	if (whole_machine)
		arrivals__set_scope(all, (struct scope *)(void *)&part);
	arrivals__set_started(all, 1);
}

static void end(void)
{
	arrivals__free(take_ptr(all));
	assert_int_equal(world.n_held, 0);
	library_file__free(take_ptr(world.file));
	close(wake_fd);
}

static struct wire_exec exec_of(pid_t pid, const char *last)
{
	struct wire_exec e = {
		.type = WIRE_EXEC, .pid = (wire_u32)pid, .comm = "rustc", .time_ns = 150};

	e.args_len = (wire_u32)snprintf(e.args, sizeof(e.args), "rustc%c%s", 0, last) + 1;
	return e;
}

static void read_exec(pid_t pid, const char *last)
{
	const struct wire_exec e = exec_of(pid, last);

	assert_int_equal(arrivals__on_exec(all, &e), 0);
}

static int drain_ring(void *ctx)
{
	const struct wire_exec e = exec_of(in_ring, "a.rs");

	return in_ring ? arrivals__on_exec(all, &e) : 0;
}

static void count_user(void *arg, pid_t pid, const struct library_file *file)
{
	assert_int_equal(pid, 0);
	assert_non_null(library_file__path(file));
	world.n_users++;
}

/* ---- Scenarios ------------------------------------------------------------------------------- */

/*
 * What happens, in words: "word", "word=pid", "word=pid@time" or "word=ERROR", and what is expected
 * then, "number:value".
 */
static const struct {
	const char *word;
	bool *set;
} flags[] = {
	{"known", &world.known},
	{"gone", &world.gone},
	{"threads", &world.threads},
	{"never_stop", &world.never_stop},
	{"no_tables", &world.no_tables},
	{"has_client", &world.has_client},
	{"no_patience", &world.no_patience},
	{"other_inodes", &world.other_inodes},
	{"detach_on_look", &world.detach_on_look},
};

static const struct {
	const char *word;
	const unsigned int *n;
} numbers[] = {
	{"stops", &world.n_stops},   {"held", &world.n_held},
	{"looks", &world.n_looks},   {"holds_at_look", &world.holds_at_look},
	{"execs", &world.n_execs},   {"forks", &world.n_forks},
	{"late", &world.n_late},     {"stops_at_comparison", &world.stops_at_comparison},
	{"needed", &world.n_needed}, {"sampled", &world.n_sampled},
	{"users", &world.n_users},
};

static int error_of(const char *name)
{
	static const struct {
		const char *name;
		int err;
	} errors[] = {{"0", 0},
		      {"ESRCH", -ESRCH},
		      {"ENOENT", -ENOENT},
		      {"ETIME", -ETIME},
		      {"EAGAIN", -EAGAIN},
		      {"ENOMEM", -ENOMEM},
		      {"EDQUOT", -EDQUOT},
		      {"ENOEXEC", -ENOEXEC}};

	for (size_t i = 0; i < N_OF(errors); i++)
		if (!strcmp(errors[i].name, name))
			return errors[i].err;
	fail_msg("no error %s", name);
	return 0;
}

static void check(const char *scenario, const char *word, long long value)
{
	long long got = -1;

	for (size_t i = 0; i < N_OF(numbers); i++)
		if (!strcmp(numbers[i].word, word))
			got = *numbers[i].n;
	if (!strcmp(word, "waiting"))
		got = arrivals__n(all);
	else if (!strcmp(word, "missing"))
		got = arrivals__missing(all);
	else if (!strcmp(word, "followed"))
		got = world.followed[value] ? value : -1;
	else if (!strcmp(word, "unfollowed"))
		got = world.followed[value] ? -1 : value;
	if (got != value)
		fail_msg("%s: %s is %lld, not %lld", scenario, word, got, value);
}

static void drain(void)
{
	assert_int_equal(arrivals__take(all), 0);
	assert_int_equal(arrivals__release(all), 0);
}

static void happen(const char *scenario, const char *word, const char *value, pid_t pid,
		   uint64_t time_ns)
{
	const bool off = *word == '!';

	for (size_t i = 0; i < N_OF(flags); i++)
		if (!strcmp(flags[i].word, word + off)) {
			*flags[i].set = !off;
			return;
		}
	if (!strcmp(word, "attached")) /* when it will be */
		world.attached_ns = (uint64_t)pid;
	else if (!strcmp(word, "planned")) /* and attached to at that time */
		world.lib = (struct library_state){.planned = true, .attached_ns = (uint64_t)pid};
	else if (!strcmp(word, "failed"))
		world.lib = (struct library_state){.planned = true, .err = error_of(value)};
	else if (!strcmp(word, "threads_at"))
		world.lib.part_ns[PLAN_PART_THREADS] = (uint64_t)pid;
	else if (!strcmp(word, "look_err"))
		world.look_err = error_of(value);
	else if (!strcmp(word, "expect_err"))
		world.expect_err = error_of(value);
	else if (!strcmp(word, "part_err"))
		world.part_err = error_of(value);
	else if (!strcmp(word, "outside_loader"))
		world.pc = LOADER_END;
	else if (!strcmp(word, "served"))
		world.served = pid;
	else if (!strcmp(word, "follow"))
		world.followed[pid] = true;
	else if (!strcmp(word, "unfollow"))
		world.followed[pid] = false;
	else if (!strcmp(word, "ring"))
		in_ring = pid;
	else if (!strcmp(word, "exec"))
		read_exec(pid, "a.rs");
	else if (!strcmp(word, "exec_threads"))
		read_exec(pid, "-Zthreads=4");
	else if (!strcmp(word, "forget_looks"))
		world.n_looks = 0;
	else if (!strcmp(word, "map") || !strcmp(word, "arrive"))
		add_mapping(pid, time_ns);
	else if (!strcmp(word, "meanwhile"))
		world.meanwhile = (struct mapping){pid, time_ns};
	else if (!strcmp(word, "let_go"))
		assert_int_equal(arrivals__let_all_go(all), 0);
	else if (!strcmp(word, "each_user"))
		assert_int_equal(arrivals__each_user(all, count_user, NULL), 0);
	else if (strcmp(word, "drain"))
		fail_msg("%s: what is %s?", scenario, word);
	if (!strcmp(word, "drain") || !strcmp(word, "arrive"))
		drain();
}

static void play(const char *scenario, const char *steps)
{
	char *text = strdup(steps), *rest = NULL;

	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		char *value = word + strcspn(word, "=:"), *time, kind = *value;

		if (kind)
			*value++ = '\0';
		time = strchr(value, '@');
		if (kind == ':')
			check(scenario, word, atoll(value));
		else
			happen(scenario, word, value, (pid_t)atoi(value),
			       time ? strtoull(time + 1, NULL, 10) : 0);
	}
	free(text);
}

enum where { COMMAND, MACHINE, NO_MAPPINGS };

#define NONE " waiting:0 late:0 missing:0"

static const struct {
	const char *name;
	enum where where;
	const char *steps;
} scenarios[] = {
	/* 8 is not followed */
	{"a process in time is not stopped", COMMAND,
	 "known planned=100 follow=7 exec=7 forget_looks map=7@200 map=8@200 drain stops:0 "
	 "looks:1" NONE},
	{"an exec that waits in the ring is read first", COMMAND,
	 "known planned=100 follow=7 ring=7 arrive=7@200 ring=0 stops:0" NONE},
	{"a newcomer is stopped and followed", MACHINE,
	 "attached=300 arrive=7@200 followed:7 forks:1 execs:1" NONE},
	/* It is stopped before it is looked at, as its loader does not take long. */
	{"only a compiler with threads waits for their probes", COMMAND,
	 "known planned=100 follow=7 follow=8 follow=9 exec=7 arrive=7@200 stops:0 needed:0 "
	 "threads exec_threads=8 arrive=8@300 stops:1 holds_at_look:1 needed:1 "
	 "exec_threads=9 arrive=9@500 stops:1 needed:1" NONE},
	/* The record of its mapping is read after another compiler needed probes for threads. */
	{"a compiler without threads needs no probes for them", COMMAND,
	 "known planned=100 threads_at=400 follow=7 exec=7 arrive=7@200 stops:0" NONE},
	{"a newcomer with threads gets their probes", MACHINE,
	 "threads attached=300 arrive=7@200 followed:7 needed:1" NONE},
	{"one without threads does not", MACHINE,
	 "attached=300 arrive=7@200 followed:7 needed:0" NONE},
	/* All but what threads wait for is recorded. */
	{"without their probes a compiler with threads is late", COMMAND,
	 "known threads part_err=ENOMEM planned=100 follow=7 arrive=7@200 waiting:0 late:1 "
	 "missing:0"},
	/* Nothing follows it any more. Records of its exec and its mapping come in any order. */
	{"a compiler with threads that is gone is missing", COMMAND,
	 "known gone look_err=ESRCH planned=100 exec_threads=7" NONE
	 " arrive=7@200 waiting:0 late:0 missing:1 arrive=7@210 waiting:0 late:0 missing:1"},
	{"a compiler with threads that is gone is missing, its mapping first", COMMAND,
	 "known gone look_err=ESRCH planned=100 arrive=7@200" NONE
	 " exec_threads=7 waiting:0 late:0 missing:1 arrive=7@210 waiting:0 late:0 missing:1"},
	{"without mappings it is missing as well", NO_MAPPINGS,
	 "known gone look_err=ESRCH planned=100 exec_threads=7 waiting:0 late:0 missing:1"},
	/* It ran when its exec was read. */
	{"a compiler that ends before its mapping is read is missing", COMMAND,
	 "known follow=7 planned=100 exec_threads=7 gone unfollow=7 look_err=ESRCH arrive=7@200 "
	 "waiting:0 late:0 missing:1"},
	/* Nor is one whose mapping is of another process with its number. */
	{"a compiler that is gone and was in time is not missing", COMMAND,
	 "known gone look_err=ESRCH planned=100 map=8@200 map=9@140 drain exec=8 exec_threads=9 "
	 "threads_at=180 arrive=7@200 exec_threads=7" NONE},
	/* Its exec is still in the ring; the look shows what it needs. */
	{"one that may need more is stopped before it is looked at", COMMAND,
	 "known follow=7 follow=8 planned=100 arrive=7@200 stops:1 holds_at_look:1 needed:0 "
	 "exec=8 arrive=8@200 stops:1" NONE},
	/* Of a command's recording, only one that a compile server runs for it. */
	{"a compile server's compiler is followed for its client", COMMAND,
	 "attached=300 served=7 arrive=7@200 arrive=8@200 followed:7 unfollowed:8 stops:1 "
	 "execs:1" NONE},
	/*
	 * It may be a short compile, which ends while its arguments are compared with those of
	 * clients. Nobody waits for 8: it runs on, and does not count as one that waited for
	 * probes.
	 */
	{"a compiler waits while it is compared with clients", COMMAND,
	 "attached=300 has_client served=7 arrive=7@200 stops_at_comparison:1 stops:1 followed:7 "
	 "arrive=8@200 stops_at_comparison:2 stops:2 held:0 unfollowed:8 "
	 "!has_client arrive=9@200 stops:2"},
	/* A look may take longer than the loader. */
	{"a process is stopped before it is looked at", COMMAND,
	 "attached=300 follow=7 arrive=7@200 holds_at_look:1 stops:1"},
	/* The second mapping does not stop the process again. */
	{"a segment mapped during the attaching makes no process late", MACHINE,
	 "attached=300 meanwhile=7@210 arrive=7@200 drain stops:1" NONE},
	/* The record of its exec may still be in the ring. */
	{"a process that arrives during the attaching waits for the next drain", MACHINE,
	 "attached=300 meanwhile=8@210 arrive=7@200 followed:7 unfollowed:8 waiting:1 "
	 "drain followed:7 followed:8" NONE},
	{"a process that is stopped waits for its tables", MACHINE,
	 "attached=300 no_tables arrive=7@200 sampled:1 waiting:1 !no_tables drain "
	 "followed:7" NONE},
	{"a process that stops outside its loader is late", MACHINE,
	 "attached=300 outside_loader arrive=7@200 followed:7 waiting:0 late:1 missing:0"},
	{"a process that has not stopped yet waits", MACHINE,
	 "attached=300 never_stop arrive=7@200 waiting:1 !never_stop drain" NONE},
	{"one that runs on without a plan is missing if that fails", COMMAND,
	 "follow=7 arrive=7@200 waiting:1 let_go waiting:0 late:1 missing:0 "
	 "failed=ENOEXEC drain missing:1"},
	{"one that ends before its plan is made is missing", COMMAND,
	 "follow=7 follow=8 map=7@200 arrive=8@200 let_go unfollow=7 planned=300 drain missing:1"},
	/* Each segment of the library is a mapping. */
	{"a refused process counts once", COMMAND,
	 "known failed=EDQUOT follow=7 map=7@200 arrive=7@210 waiting:0 late:0 missing:1"},
	{"a closed process is missing unless it was in time", COMMAND,
	 "known planned=100 follow=7 follow=8 look_err=ESRCH gone arrive=7@200 missing:0 "
	 "arrive=8@50 missing:1"},
	/* A record from before a look holds nothing new. */
	{"a process is looked at once for all that it mapped", MACHINE,
	 "look_err=ENOENT map=7@200 map=7@201 map=7@202 map=7@203 map=7@204 drain looks:1 stops:1 "
	 "waiting:0 missing:0 arrive=7@18446744073709551615 looks:2"},
	{"a process is not stopped if it may not be looked at", MACHINE,
	 "no_patience look_err=ETIME arrive=7@200 stops:0 missing:1"},
	/* Btrfs is such a file system. Only the first compiler is stopped in vain. */
	{"where inodes are recorded otherwise a look comes first", COMMAND,
	 "known other_inodes planned=100 follow=7 arrive=7@200 follow=8 arrive=8@200 follow=9 "
	 "arrive=9@200 stops:1 late:0 missing:0"},
	/* A library that failed proves nothing about the inodes of its file system. */
	{"after a library that failed others are stopped first all the same", COMMAND,
	 "known other_inodes failed=ENOEXEC follow=7 arrive=7@200 follow=8 arrive=8@200 stops:2 "
	 "missing:2"},
	/* An answer from before the write must not release a waiting process. */
	{"a library that is detached meanwhile is waited for", MACHINE,
	 "attached=300 detach_on_look arrive=7@200 waiting:1 !detach_on_look drain" NONE},
	{"waiting processes use their library", MACHINE,
	 "map=7@200 arrive=8@200 waiting:2 each_user users:2 let_go each_user users:2"},
	{"without mappings a compiler is late and runs", NO_MAPPINGS,
	 "follow=7 attached=300 exec=7 drain stops:0 waiting:0 late:1 missing:0"},
	{"to be asked again is no refusal", NO_MAPPINGS,
	 "follow=7 expect_err=EAGAIN exec=7 drain waiting:1 late:0 missing:0 "
	 "expect_err=0 attached=300 drain waiting:0 late:1 missing:0"},
};

TEST_CASE(processes_arrive)
{
	for (size_t i = 0; i < N_OF(scenarios); i++) {
		begin(scenarios[i].where == MACHINE, scenarios[i].where != NO_MAPPINGS);
		play(scenarios[i].name, scenarios[i].steps);
		end();
	}
}

static void end_one(struct ended *e, pid_t pid)
{
	char path[] = "librustc_driver-1.so";
	const struct mapped_library library = {path, 100, 1, 2};

	ended__add(e, pid, &library);
	memset(path, 'x', sizeof(path) - 1);
}

TEST_CASE(the_last_ones_that_ended_are_kept)
{
	struct ended e = {0};

	for (pid_t pid = 1; pid <= ENDED_KEPT + 1; pid++)
		end_one(&e, pid);
	assert_null(ended__find(&e, 1, 0));
	assert_string_equal(ended__find(&e, 2, 0)->path, "librustc_driver-1.so");
	assert_non_null(ended__find(&e, ENDED_KEPT + 1, 0));
	ended__destroy(&e);
}

TEST_MAIN(NULL, NULL)

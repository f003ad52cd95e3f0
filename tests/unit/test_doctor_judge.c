// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "doctor/judge.h"
#include "doctor/facts.h"
#include "doctor/toolchains.h"

#include "../fixtures/output.h"
#include "../fixtures/sample_doctor.h"
#include "../fixtures/fake_root.h"
#include "../fixtures/sample_plan.h"

/* The facts and trials of a machine without problems. A test changes them. */
static struct doctor_facts facts;
static struct doctor_trials trials;

/* What the last judge() found. */
static struct findings f;

static int setup(void **state)
{
	sample_facts(&facts);
	sample_trials(&trials);
	return 0;
}

static int teardown(void **state)
{
	findings__clear(&f);
	return 0;
}
#define JUDGE_CASE(name) TEST_CASE_WITH(name, setup, teardown)

/* Judge `what` anew: what follows the findings of judge_kernel() and others. */
#define JUDGE(what, ...) (findings__clear(&f), judge_##what(&f, ##__VA_ARGS__))

/* The first finding of that name. */
static const struct finding *find(const char *name)
{
	for (uint32_t i = 0; i < f.n; i++) {
		if (!strcmp(f.items[i].name, name))
			return &f.items[i];
	}
	fail_msg("no finding '%s'", name);
	return NULL;
}

static void expect(const char *name, enum finding_state state, const char *says, const char *fix)
{
	const struct finding *one = find(name);

	assert_int_equal(one->state, state);
	assert_contains(one->says, says);
	if (fix)
		assert_contains(one->fix, fix);
	else
		assert_null(one->fix);
}

JUDGE_CASE(a_sound_machine_has_no_problems)
{
	const struct doctor_limits limits = {UINT64_MAX, UINT64_C(1) << 40, true};
	const struct other_recordings none = {0};

	judge_kernel(&f, &facts, &trials);
	judge_privileges(&f, &facts, &trials, "me (1000)");
	judge_recording(&f, &facts, &trials, &none);
	judge_limits(&f, &limits, &trials);
	assert_int_equal(findings__problems(&f), 0);
	expect("uprobe_multi", FINDING_OK, "one link", NULL);
	expect("perf events", FINDING_NOTE, "CAP_SYS_ADMIN", NULL);
	expect("other users", FINDING_NOTE, "Permission denied", "cap_sys_ptrace");
	expect("probes", FINDING_OK, "450 ns", NULL);
	expect("open files", FINDING_OK, "no limit", NULL);
}

JUDGE_CASE(a_missing_kernel_feature_is_a_problem_or_a_note)
{
	facts.btf = facts.first_pid_ns = false;
	strcpy(facts.lockdown, "confidentiality");
	trials.ring = -EINVAL;
	trials.uprobe_multi = -EINVAL;
	JUDGE(kernel, &facts, &trials);
	expect("BTF", FINDING_PROBLEM, "vmlinux", "CONFIG_DEBUG_INFO_BTF");
	expect("lockdown", FINDING_PROBLEM, "confidentiality", "integrity");
	expect("ring buffer", FINDING_PROBLEM, "Invalid argument", "6.1");
	expect("uprobe_multi", FINDING_NOTE, "does not work", "6.6");
	expect("process numbers", FINDING_PROBLEM, "container", "--pid=host");
	assert_int_equal(findings__problems(&f), 4);
}

JUDGE_CASE(a_refusal_is_distinguished_from_missing_capabilities)
{
	trials.load = -EPERM;
	trials.bpf_filtered = true;
	for (int capable = 0; capable < 2; capable++) {
		facts.capabilities = capable ? UINT64_C(3) << 38 : 0;
		JUDGE(kernel, &facts, &trials);
		if (capable)
			expect("BPF programs", FINDING_PROBLEM, "a seccomp filter refuses bpf(2)",
			       "seccomp profile");
		else
			expect("BPF programs", FINDING_NOTE, "unknown", NULL);
	}
}

JUDGE_CASE(the_cause_of_a_refusal_is_named_only_if_proven)
{
	trials.load = trials.record = -EPERM;
	JUDGE(kernel, &facts, &trials);
	expect("BPF programs", FINDING_PROBLEM, "the kernel refuses bpf(2)", "dmesg");
	assert_lacks(find("BPF programs")->says, "seccomp");
	facts.first_user_ns = false;
	JUDGE(kernel, &facts, &trials);
	expect("BPF programs", FINDING_PROBLEM, "those of a user namespace", "on the host");
}

JUDGE_CASE(the_ring_of_mappings_is_judged_by_trying_it)
{
	JUDGE(kernel, &facts, &trials);
	expect("mappings", FINDING_OK, "reports which process", NULL);
	expect("perf_event_paranoid", FINDING_OK, "4", NULL);
	assert_lacks(find("perf_event_paranoid")->says, "mappings");
	trials.mappings = -EACCES;
	trials.no_mappings = (struct perf_refusal){
		.err = -EACCES, .paranoid = 3, .capabilities = facts.capabilities};
	JUDGE(kernel, &facts, &trials);
	expect("mappings", FINDING_NOTE, "kernel.perf_event_paranoid is 3",
	       "sysctl kernel.perf_event_paranoid=2");
	expect("perf_event_paranoid", FINDING_OK, "see mappings below", NULL);
	assert_int_equal(findings__problems(&f), 0);
	facts.capabilities = 0;
	JUDGE(kernel, &facts, &trials);
	expect("mappings", FINDING_NOTE, "unknown", NULL);
}

JUDGE_CASE(samples_are_a_trial_of_their_own)
{
	const struct other_recordings none = {0};

	JUDGE(recording, &facts, &trials, &none);
	expect("samples", FINDING_OK, "perf events run them", NULL);
	trials.samples = -E2BIG;
	strcpy(trials.samples_why, "the verifier refuses sample_cpu");
	JUDGE(recording, &facts, &trials, &none);
	expect("samples", FINDING_NOTE, "refuses sample_cpu", "without --sample");
	trials.samples = -EACCES;
	trials.no_samples = (struct perf_refusal){
		.err = -EACCES, .paranoid = 3, .capabilities = facts.capabilities};
	JUDGE(recording, &facts, &trials, &none);
	expect("samples", FINDING_NOTE, "kernel.perf_event_paranoid is 3",
	       "sysctl kernel.perf_event_paranoid=2");
	assert_int_equal(findings__problems(&f), 0);
	/* Without a rehearsal nothing is known of samples either. */
	trials.record = trials.samples = -EPERM;
	JUDGE(recording, &facts, &trials, &none);
	for (uint32_t i = 0; i < f.n; i++)
		assert_string_not_equal(f.items[i].name, "samples");
}

JUDGE_CASE(missing_capabilities_come_with_a_command)
{
	facts.capabilities = UINT64_C(1) << 39;
	JUDGE(privileges, &facts, &trials, "me (1000)");
	expect("capabilities", FINDING_PROBLEM, "missing CAP_PERFMON",
	       "sudo setcap cap_bpf,cap_perfmon+ep /usr/bin/qprof-bpf");
	facts.file_has_caps = facts.no_new_privs = true;
	JUDGE(privileges, &facts, &trials, "me (1000)");
	expect("capabilities", FINDING_PROBLEM, "no_new_privs", "without what takes");
	facts.no_new_privs = false;
	facts.file_is_nosuid = true;
	JUDGE(privileges, &facts, &trials, "me (1000)");
	expect("capabilities", FINDING_PROBLEM, "nosuid", "without what takes");
}

/* Missing capabilities, and containers. */
JUDGE_CASE(where_the_kernel_does_not_help_a_command_is_recorded_from_outside)
{
	const struct doctor_facts all = facts;

	for (int i = 0; i < 4; i++) {
		facts = all;
		facts.capabilities = i == 1 ? 0 : facts.capabilities;
		facts.first_user_ns = i != 2;
		facts.first_pid_ns = i != 3;
		JUDGE(privileges, &facts, &trials, "me");
		assert_int_equal(findings__has_outside(&f), i > 0);
		if (i)
			expect("from outside", FINDING_NOTE, "without the kernel's help", NULL);
	}
}

JUDGE_CASE(other_users_are_judged_by_what_was_tried)
{
	trials.others = 0;
	JUDGE(privileges, &facts, &trials, "me");
	expect("other users", FINDING_OK, "can be recorded", NULL);
	trials.others = -ESRCH;
	JUDGE(privileges, &facts, &trials, "me");
	expect("other users", FINDING_NOTE, "unknown", NULL);
	facts.capabilities = UINT64_MAX;
	JUDGE(privileges, &facts, &trials, "me");
	expect("other users", FINDING_OK, "can be recorded", NULL);
}

JUDGE_CASE(a_rehearsal_reports_what_a_recording_would)
{
	const struct other_recordings others = {.n = 3, .held = 1, .pid = 77},
				      unknown = {.err = -EPERM};

	trials.record = -EINVAL;
	strcpy(trials.why, "the verifier says no");
	JUDGE(recording, &facts, &trials, &others);
	expect("rehearsal", FINDING_PROBLEM, "the verifier says no", "-vv");
	expect("other recordings", FINDING_NOTE, "1 in progress (process 77)", "wait");
	assert_contains(f.items[f.n - 1].says, "2 that ended");
	facts.capabilities = 0;
	JUDGE(recording, &facts, &trials, &unknown);
	expect("rehearsal", FINDING_NOTE, "not done", NULL);
	expect("other recordings", FINDING_NOTE, "CAP_SYS_ADMIN", NULL);
}

static void probes_say(const struct probe_rehearsal *r, enum finding_state state, const char *says,
		       const char *fix)
{
	const struct other_recordings none = {0};

	trials.costs.emulated.hit_ps = 0;
	trials.costs.rehearsal = *r;
	JUDGE(recording, &facts, &trials, &none);
	expect("probes", state, says, fix);
}

JUDGE_CASE(the_counters_show_what_became_of_the_hits)
{
	struct probe_rehearsal r = {.called = true, .written = true};

	probes_say(&r, FINDING_PROBLEM, "the kernel ran no program at them", NULL);
	r.counters[WIRE_COUNT_HITS_OTHER] = 416;
	probes_say(&r, FINDING_PROBLEM, "by another number", NULL);
	r.counters[WIRE_LOST_RECURSION] = 5;
	probes_say(&r, FINDING_PROBLEM, "refused to run our programs at 5 hits", NULL);
	r.written = false;
	probes_say(&r, FINDING_PROBLEM, "wrote no breakpoint", NULL);
	r.called = false;
	probes_say(&r, FINDING_PROBLEM, "unknown", NULL);
	r = (struct probe_rehearsal){.called = true, .written = true};
	r.counters[WIRE_COUNT_HITS] = 416;
	probes_say(&r, FINDING_PROBLEM, "fired 416 times, but no record", "newer");
	r.counters[WIRE_LOST_RING_FULL] = 3;
	probes_say(&r, FINDING_PROBLEM, "3 records were lost: the ring buffer", "newer");
	r.counters[WIRE_LOST_NO_STORAGE] = 416;
	probes_say(&r, FINDING_PROBLEM, "416 of 416 hits were lost: the kernel gives no memory",
		   "newer");
	r.counters[WIRE_LOST_NO_STORAGE] = 0;
	r.spans = 200;
	probes_say(&r, FINDING_NOTE, "they fire", "idle");
}

JUDGE_CASE(limits_are_notes)
{
	const struct doctor_limits few = {1024, UINT64_C(1) << 20, true}, none = {1024, 0, false};

	JUDGE(limits, &none, &trials);
	expect("open files", FINDING_OK, "1024", NULL);
	expect("this directory", FINDING_NOTE, "cannot be written", "-o");
	JUDGE(limits, &(struct doctor_limits){.files = 32, .can_write_here = true}, &trials);
	expect("open files", FINDING_PROBLEM, "32, and a recording takes about 128", "ulimit");
	trials.uprobe_multi = -EINVAL;
	JUDGE(limits, &few, &trials);
	expect("open files", FINDING_NOTE, "1024", "ulimit");
	expect("this directory", FINDING_NOTE, "1.00 MiB", "-o");
	assert_int_equal(findings__problems(&f), 0);
}

JUDGE_CASE(what_recovered_names_leave_out_is_said)
{
	_toolchains_ struct toolchains list = {0};
	struct toolchain *t;

	sample_toolchains(&list);
	t = &list.items[0];
	t->complete = t->queries;
	t->sites[PLAN_STEPPED] = 0;
	JUDGE(toolchains, &list);
	expect(t->name, FINDING_OK, "all of its 2 queries can be recorded", NULL);
	t->symbols = SYMBOLS_RECOVERED;
	JUDGE(toolchains, &list);
	expect(t->name, FINDING_OK,
	       "names, in some versions not those of items and macros, are recovered from the "
	       "library's code",
	       NULL);
}

JUDGE_CASE(a_toolchain_is_a_problem_only_if_it_matters)
{
	_toolchains_ struct toolchains list = {0}, none = {0};

	sample_toolchains(&list);
	JUDGE(toolchains, &list);
	expect("stable-x86_64", FINDING_NOTE, "1 of its 2 queries", "qprof-bpf plan --full");
	expect("/usr/bin/rustc", FINDING_NOTE, "stripped", "rustup.rs");
	list.items[1].wanted = true;
	JUDGE(toolchains, &list);
	expect("/usr/bin/rustc", FINDING_PROBLEM, "stripped", "rustup.rs");
	JUDGE(toolchains, &none);
	expect("none", FINDING_PROBLEM, "no Rust compiler", "rustup.rs");
}

/* ---- Findings -------------------------------------------------------------------------------- */

TEST_CASE(findings_keep_their_texts)
{
	_findings_ struct findings f = {0};
	char text[] = "BTF";

	findings__add(&f, FINDING_KERNEL, FINDING_OK, text, NULL, "%s %d", "is there", 1);
	findings__add(&f, FINDING_LIMITS, FINDING_PROBLEM, "disk", "make room", "full");
	strcpy(text, "...");
	assert_struct(f, err, 0, n, 2, items[0].name, "BTF", items[0].says, "is there 1",
		      items[0].fix, NULL, items[1].fix, "make room");
}

TEST_CASE(problems_are_counted_and_notes_are_not)
{
	_findings_ struct findings f = {0};

	assert_int_equal(findings__problems(&f), 0);
	for (int i = 0; i < 30; i++)
		findings__add(&f, FINDING_KERNEL, (enum finding_state)(i % 3), "x", NULL, "%d", i);
	assert_int_equal(f.n, 30);
	assert_int_equal(findings__problems(&f), 10);
}

TEST_CASE(sections_and_states_have_names)
{
	for (int i = 0; i < FINDING_SECTIONS; i++)
		assert_true(strlen(finding_section_name((enum finding_section)i)) > 3);
	assert_string_equal(finding_state_name(FINDING_OK), "ok");
	assert_string_equal(finding_state_name(FINDING_NOTE), "note");
	assert_string_equal(finding_state_name(FINDING_PROBLEM), "problem");
}

/* ---- Facts ----------------------------------------------------------------------------------- */

TEST_CASE_WITH(nothing_is_known_of_an_empty_root, fake_root_make, fake_root_remove)
{
	facts__read(fake_root, &facts);
	assert_struct(facts, release, "", btf, false, first_pid_ns, true, first_user_ns, true,
		      perf_event_paranoid, FACTS_UNKNOWN, lockdown, "", capabilities, 0,
		      file_has_caps, false, exe, "");
}

TEST_CASE_WITH(kernel_facts_are_read_from_proc_and_sys, fake_root_make, fake_root_remove)
{
	fake_root_file("/proc/sys/kernel/osrelease", "6.8.0-test\n");
	fake_root_file("/proc/sys/kernel/perf_event_paranoid", "-1\n");
	fake_root_file("/proc/sys/kernel/unprivileged_bpf_disabled", "2\n");
	fake_root_file("/sys/kernel/btf/vmlinux", "");
	fake_root_file("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	fake_root_file("/sys/kernel/security/lsm", "capability,yama");
	fake_root_file("/proc/self/status", "Name:\tx\nCapPrm:\t0000000000000001\n"
					    "CapEff:\t000000c000000000\nNoNewPrivs:\t1\n"
					    "Seccomp:\t2\nSeccomp_filters:\t0\n");
	assert_int_equal(symlink("pid:[4026532000]", fake_root_path("/proc/self/ns/pid")), 0);
	assert_int_equal(symlink("user:[4026532001]", fake_root_path("/proc/self/ns/user")), 0);
	fake_root_file("/bin/q", "");
	assert_int_equal(symlink("/bin/q", fake_root_path("/proc/self/exe")), 0);
	facts__read(fake_root, &facts);
	assert_struct(facts, release, "6.8.0-test", perf_event_paranoid, -1,
		      unprivileged_bpf_disabled, 2, btf, true, lockdown, "integrity", lsm,
		      "capability,yama", capabilities, UINT64_C(3) << 38, no_new_privs, true,
		      first_pid_ns, false, first_user_ns, false, exe, "/bin/q");
}

TEST_CASE_WITH(odd_files_are_unknown, fake_root_make, fake_root_remove)
{
	fake_root_file("/proc/sys/kernel/perf_event_paranoid", "many\n");
	fake_root_file("/sys/kernel/security/lockdown", "[none");
	fake_root_file("/proc/self/status", "CapEff: zz\n");
	facts__read(fake_root, &facts);
	assert_struct(facts, perf_event_paranoid, FACTS_UNKNOWN, lockdown, "none", capabilities, 0);
}

/* ---- Other recordings ------------------------------------------------------------------------ */

TEST_CASE_WITH(no_program_is_no_recording, fake_root_make, fake_root_remove)
{
	struct other_recordings c;

	other_recordings__find_holders(fake_root, NULL, 0, &c);
	assert_int_equal(c.n + c.held + (uint32_t)c.pid, 0);
	assert_int_equal(c.err, 0);
}

TEST_CASE_WITH(holders_are_distinguished_from_leftovers, fake_root_make, fake_root_remove)
{
	const uint32_t ids[] = {17, 18};
	struct other_recordings c;

	fake_root_file("/proc/40/fdinfo/3", "pos:\t0\nlink_type:\tuprobe_multi\nprog_id:\t170\n");
	fake_root_file("/proc/41/fdinfo/9", "pos:\t0\nprog_type:\t2\nprog_id:\t18\n");
	fake_root_file("/proc/self/fdinfo/9", "prog_id:\t17\n");
	other_recordings__find_holders(fake_root, ids, 2, &c);
	assert_struct(c, n, 2, held, 1, pid, 41);
	fake_root_file("/proc/40/fdinfo/4", "prog_id:\t17\n");
	other_recordings__find_holders(fake_root, ids, 2, &c);
	assert_int_equal(c.held, 2);
}

/* ---- Toolchains ------------------------------------------------------------------------------ */

/* Make a toolchain whose library is not an ELF file. */
static void put_toolchain(const char *dir)
{
	char name[256];

	snprintf(name, sizeof(name), "%s/bin/rustc", dir);
	fake_root_file(name, "");
	snprintf(name, sizeof(name), "%s/lib/librustc_driver-1.so", dir);
	fake_root_file(name, "not an ELF file, but long enough for the header of one: "
			     "sixty-four bytes");
}

TEST_CASE_WITH(rustups_have_the_names_of_their_directories, fake_root_make, fake_root_remove)
{
	_toolchains_ struct toolchains list = {0};
	char home[64];

	put_toolchain("/home/.rustup/toolchains/nightly");
	put_toolchain("/home/.rustup/toolchains/stable");
	fake_root_file("/home/.rustup/toolchains/broken/bin/rustc", "");
	snprintf(home, sizeof(home), "%s/home/.rustup", fake_root);
	assert_int_equal(toolchains__add_rustup(&list, home), 0);
	assert_struct(list, n, 2, items[0].name, "nightly", items[1].name, "stable");
	assert_contains(list.items[1].library, "/stable/lib/librustc_driver-1.so");
	assert_false(list.items[0].wanted);
	assert_int_equal(toolchains__add_rustup(&list, "/nonexistent"), 0);
	assert_int_equal(list.n, 2);
}

TEST_CASE_WITH(systems_have_the_names_of_their_executables, fake_root_make, fake_root_remove)
{
	_toolchains_ struct toolchains list = {0};

	put_toolchain("/usr");
	put_toolchain("/usr/lib/rust-1.85");
	assert_int_equal(toolchains__add_system(&list, fake_root), 0);
	assert_int_equal(list.n, 2);
	assert_contains(list.items[0].name, "/usr/bin/rustc");
	assert_contains(list.items[1].name, "/usr/lib/rust-1.85/bin/rustc");
}

TEST_CASE_WITH(one_library_is_one_toolchain, fake_root_make, fake_root_remove)
{
	_toolchains_ struct toolchains list = {0};

	assert_int_equal(toolchains__add(&list, "stable", "/a.so", false), 0);
	assert_int_equal(toolchains__add(&list, "rustc", "/a.so", true), 0);
	assert_int_equal(toolchains__add(&list, "stable", "/b.so", false), 0);
	assert_struct(list, n, 2, items[0].name, "stable", items[0].wanted, true, items[1].wanted,
		      false);
}

TEST_CASE_WITH(a_survey_keeps_errors_of_plans_and_prints_none, fake_root_make, fake_root_remove)
{
	_toolchains_ struct toolchains list = {0};
	struct output o;

	put_toolchain("/usr");
	assert_int_equal(toolchains__add_system(&list, fake_root), 0);
	assert_int_equal(toolchains__add(&list, "gone", "/nonexistent.so", false), 0);
	output_begin(&o);
	toolchains__survey(&list);
	output_end(&o);
	assert_string_equal(o.text[1], "");
	output_free(&o);
	assert_int_equal(list.items[0].err, -ENOEXEC);
	assert_contains(list.items[0].why, "is not an ELF file");
	assert_int_equal(list.items[1].err, -ENOENT);
	assert_contains(list.items[1].why, "/nonexistent.so");
}

TEST_CASE_WITH(a_plan_is_summed_up, fake_root_make, fake_root_remove)
{
	_plan_ struct plan *plan = sample_plan();
	struct toolchain t = {0};

	assert_int_equal(toolchain__take(&t, plan), 0);
	assert_struct(t, version, plan->rustc_version, queries, 2, complete, 1,
		      sites[PLAN_EMULATED], 6, sites[PLAN_STEPPED], 2, events[WIRE_KIND_ACTIVITY].n,
		      1, events[WIRE_KIND_ACTIVITY].exact, 1, events[WIRE_KIND_BLOCKED].exact, 0);
	free(t.version);
}

TEST_MAIN(NULL, NULL)

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "doctor/judge.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include "../fixtures/output.h"
#include "../fixtures/sample_doctor.h"

/* The nth finding of that name, from 0. */
static const struct finding *find(const struct findings *f, const char *name)
{
	for (uint32_t i = 0; i < f->n; i++) {
		if (!strcmp(f->items[i].name, name))
			return &f->items[i];
	}
	fail_msg("no finding '%s'", name);
	return NULL;
}

static void expect(const struct findings *f, const char *name, enum finding_state state,
		   const char *says, const char *fix)
{
	const struct finding *one = find(f, name);

	assert_int_equal(one->state, state);
	assert_contains(one->says, says);
	if (fix)
		assert_contains(one->fix, fix);
	else
		assert_null(one->fix);
}

static void a_sound_machine_has_no_problems(void **state)
{
	const struct doctor_limits limits = {UINT64_MAX, UINT64_C(1) << 40, true};
	const struct captures none = {0};
	_findings_ struct findings f = {0};
	struct doctor_facts facts;
	struct doctor_trials trials;

	(void)state;
	sample_facts(&facts);
	sample_trials(&trials);
	judge_kernel(&f, &facts, &trials);
	judge_privileges(&f, &facts, &trials, "me (1000)");
	judge_recording(&f, &facts, &trials, &none);
	judge_limits(&f, &limits, &trials);
	assert_int_equal(findings__problems(&f), 0);
	expect(&f, "uprobe_multi", FINDING_OK, "one link", NULL);
	expect(&f, "perf events", FINDING_NOTE, "CAP_SYS_ADMIN", NULL);
	expect(&f, "other users", FINDING_NOTE, "Permission denied", "cap_sys_ptrace");
	expect(&f, "probes", FINDING_OK, "450 ns", NULL);
	expect(&f, "open files", FINDING_OK, "no limit", NULL);
}

static void what_a_kernel_lacks_is_a_problem_or_a_note(void **state)
{
	_findings_ struct findings f = {0};
	struct doctor_facts facts;
	struct doctor_trials trials;

	(void)state;
	sample_facts(&facts);
	sample_trials(&trials);
	facts.btf = facts.first_pid_ns = false;
	strcpy(facts.lockdown, "confidentiality");
	trials.ring = -EINVAL;
	trials.uprobe_multi = -EINVAL;
	judge_kernel(&f, &facts, &trials);
	expect(&f, "BTF", FINDING_PROBLEM, "vmlinux", "CONFIG_DEBUG_INFO_BTF");
	expect(&f, "lockdown", FINDING_PROBLEM, "confidentiality", "integrity");
	expect(&f, "ring buffer", FINDING_PROBLEM, "Invalid argument", "6.1");
	expect(&f, "uprobe_multi", FINDING_NOTE, "does not work", "6.6");
	expect(&f, "process numbers", FINDING_PROBLEM, "container", "--pid=host");
	assert_int_equal(findings__problems(&f), 4);
}

static void a_refusal_is_told_from_missing_capabilities(void **state)
{
	struct doctor_facts facts;
	struct doctor_trials trials;

	(void)state;
	sample_facts(&facts);
	sample_trials(&trials);
	trials.load = -EPERM;
	facts.seccomp = true;
	for (int capable = 0; capable < 2; capable++) {
		_findings_ struct findings f = {0};

		facts.capabilities = capable ? UINT64_C(3) << 38 : 0;
		judge_kernel(&f, &facts, &trials);
		if (capable)
			expect(&f, "BPF programs", FINDING_PROBLEM, "a seccomp filter is in force",
			       "seccomp profile");
		else
			expect(&f, "BPF programs", FINDING_NOTE, "not known", NULL);
	}
}

static void missing_capabilities_come_with_a_command(void **state)
{
	_findings_ struct findings f = {0}, of_file = {0}, nosuid = {0};
	struct doctor_facts facts;
	struct doctor_trials trials;

	(void)state;
	sample_facts(&facts);
	sample_trials(&trials);
	facts.capabilities = UINT64_C(1) << 39;
	judge_privileges(&f, &facts, &trials, "me (1000)");
	expect(&f, "capabilities", FINDING_PROBLEM, "missing CAP_PERFMON",
	       "sudo setcap cap_bpf,cap_perfmon+ep /usr/bin/qprof-bpf");
	facts.file_has_caps = facts.no_new_privs = true;
	judge_privileges(&of_file, &facts, &trials, "me (1000)");
	expect(&of_file, "capabilities", FINDING_PROBLEM, "no_new_privs", "without what takes");
	facts.no_new_privs = false;
	facts.file_is_nosuid = true;
	judge_privileges(&nosuid, &facts, &trials, "me (1000)");
	expect(&nosuid, "capabilities", FINDING_PROBLEM, "nosuid", "without what takes");
}

static void other_users_are_judged_by_what_was_tried(void **state)
{
	_findings_ struct findings f = {0}, none = {0}, root = {0};
	struct doctor_facts facts;
	struct doctor_trials trials;

	(void)state;
	sample_facts(&facts);
	sample_trials(&trials);
	trials.others = 0;
	judge_privileges(&f, &facts, &trials, "me");
	expect(&f, "other users", FINDING_OK, "can be recorded", NULL);
	trials.others = -ESRCH;
	judge_privileges(&none, &facts, &trials, "me");
	expect(&none, "other users", FINDING_NOTE, "not known", NULL);
	facts.capabilities = UINT64_MAX;
	judge_privileges(&root, &facts, &trials, "me");
	expect(&root, "other users", FINDING_OK, "can be recorded", NULL);
}

static void a_rehearsal_tells_what_a_recording_would(void **state)
{
	const struct captures others = {.n = 3, .held = 1, .pid = 77}, unknown = {.err = -EPERM};
	_findings_ struct findings f = {0}, silent = {0}, unable = {0};
	struct doctor_facts facts;
	struct doctor_trials trials;

	(void)state;
	sample_facts(&facts);
	sample_trials(&trials);
	trials.record = -EINVAL;
	strcpy(trials.why, "the verifier says no");
	judge_recording(&f, &facts, &trials, &others);
	expect(&f, "rehearsal", FINDING_PROBLEM, "the verifier says no", "-vv");
	expect(&f, "other recordings", FINDING_NOTE, "1 in progress (process 77)", "wait");
	assert_contains(f.items[f.n - 1].says, "2 that ended");
	facts.capabilities = 0;
	judge_recording(&unable, &facts, &trials, &unknown);
	expect(&unable, "rehearsal", FINDING_NOTE, "not done", NULL);
	expect(&unable, "other recordings", FINDING_NOTE, "CAP_SYS_ADMIN", NULL);
	sample_trials(&trials);
	trials.costs.emulated.hit_ps = 0;
	judge_recording(&silent, &facts, &trials, &others);
	expect(&silent, "probes", FINDING_PROBLEM, "did not fire", "tracer");
}

static void limits_are_notes(void **state)
{
	const struct doctor_limits few = {1024, UINT64_C(1) << 20, true}, none = {1024, 0, false};
	_findings_ struct findings f = {0}, unwritable = {0};
	struct doctor_trials trials;

	(void)state;
	sample_trials(&trials);
	judge_limits(&unwritable, &none, &trials);
	expect(&unwritable, "open files", FINDING_OK, "1024", NULL);
	expect(&unwritable, "this directory", FINDING_NOTE, "cannot be written", "-o");
	trials.uprobe_multi = -EINVAL;
	judge_limits(&f, &few, &trials);
	expect(&f, "open files", FINDING_NOTE, "1024", "ulimit");
	expect(&f, "this directory", FINDING_NOTE, "1 MiB", "-o");
	assert_int_equal(findings__problems(&f), 0);
}

static void a_toolchain_is_a_problem_only_if_it_matters(void **state)
{
	_toolchains_ struct toolchains list = {0}, none = {0};
	_findings_ struct findings f = {0}, g = {0}, h = {0};

	(void)state;
	sample_toolchains(&list);
	judge_toolchains(&f, &list);
	expect(&f, "stable-x86_64", FINDING_NOTE, "1 of its 2 queries", "qprof-bpf plan --full");
	expect(&f, "/usr/bin/rustc", FINDING_NOTE, "stripped", "rustup.rs");
	list.items[1].wanted = true;
	judge_toolchains(&g, &list);
	expect(&g, "/usr/bin/rustc", FINDING_PROBLEM, "stripped", "rustup.rs");
	judge_toolchains(&h, &none);
	expect(&h, "none", FINDING_PROBLEM, "no Rust compiler", "rustup.rs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sound_machine_has_no_problems),
		cmocka_unit_test(what_a_kernel_lacks_is_a_problem_or_a_note),
		cmocka_unit_test(a_refusal_is_told_from_missing_capabilities),
		cmocka_unit_test(missing_capabilities_come_with_a_command),
		cmocka_unit_test(other_users_are_judged_by_what_was_tried),
		cmocka_unit_test(a_rehearsal_tells_what_a_recording_would),
		cmocka_unit_test(limits_are_notes),
		cmocka_unit_test(a_toolchain_is_a_problem_only_if_it_matters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

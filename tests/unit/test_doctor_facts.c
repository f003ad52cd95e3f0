// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "doctor/facts.h"

#include "../fixtures/fake_root.h"

static void nothing_is_known_of_an_empty_root(void **state)
{
	struct doctor_facts facts;

	facts__read(fake_root, &facts);
	assert_string_equal(facts.release, "");
	assert_false(facts.btf);
	assert_true(facts.first_pid_ns);
	assert_true(facts.first_user_ns);
	assert_int_equal(facts.perf_event_paranoid, FACTS_UNKNOWN);
	assert_string_equal(facts.lockdown, "");
	assert_int_equal(facts.capabilities, 0);
	assert_false(facts.file_has_caps);
	assert_string_equal(facts.exe, "");
}

static void kernel_facts_are_read_from_proc_and_sys(void **state)
{
	struct doctor_facts facts;

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
	assert_string_equal(facts.release, "6.8.0-test");
	assert_int_equal(facts.perf_event_paranoid, -1);
	assert_int_equal(facts.unprivileged_bpf_disabled, 2);
	assert_true(facts.btf);
	assert_string_equal(facts.lockdown, "integrity");
	assert_string_equal(facts.lsm, "capability,yama");
	assert_int_equal(facts.capabilities, UINT64_C(3) << 38);
	assert_true(facts.no_new_privs);
	assert_true(facts.seccomp);
	assert_false(facts.first_pid_ns);
	assert_false(facts.first_user_ns);
	assert_string_equal(facts.exe, "/bin/q");
}

static void odd_files_are_unknown(void **state)
{
	struct doctor_facts facts;

	fake_root_file("/proc/sys/kernel/perf_event_paranoid", "many\n");
	fake_root_file("/sys/kernel/security/lockdown", "[none");
	fake_root_file("/proc/self/status", "CapEff: zz\n");
	facts__read(fake_root, &facts);
	assert_int_equal(facts.perf_event_paranoid, FACTS_UNKNOWN);
	assert_string_equal(facts.lockdown, "none");
	assert_int_equal(facts.capabilities, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, fake_root_make, fake_root_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_known_of_an_empty_root),
		TEST(kernel_facts_are_read_from_proc_and_sys),
		TEST(odd_files_are_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

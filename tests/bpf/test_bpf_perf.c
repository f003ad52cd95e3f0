// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The same through perf events, one per site, as on kernels before 6.6. */
#include "capture.h"

#include <dirent.h>
#include <errno.h>
#include <time.h>

/* A single capture, as the kernel takes long to remove a perf event. */
TEST_CASE(every_shape_panics_stacks_and_threads)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	capture_open(&c, KERNEL_ATTACH_PERF, 4u << 20, 0);
	assert_string_equal(attachments__kind(kernel__attachments(c.kernel)), "perf events");
	capture_script(&c, "abcCdDehz a(b(c(C(d(D(e(h(z))))))))"
			   "a({a(b(c(d(e(h(!))))))}b)c({b({c(!)}a!)}d){aaa!}"
			   "a({a(b(^))}c)a(s(b(S(c)))d)r600(a)p4(*50(a(b)c))t(a(b(y)))");
	assert_int_equal(c.status, 0);
	assert_as_expected(&c);
	assert_whole(&c);
}

/* The number of entries of a directory. */
static unsigned int count(const char *path)
{
	_closedir_ DIR *dir = opendir(path);
	unsigned int n = 0;

	while (readdir(dir))
		n++;
	return n;
}

/* As for a library that was written to: its probes are removed, then its number is free again. */
TEST_CASE(a_detached_library_has_no_probes)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	uint64_t begun, done;
	_capture_ struct capture c = CAPTURE_NONE;
	uint8_t lib, again;
	unsigned int n, threads;

	need_capture();
	capture_open(&c, KERNEL_ATTACH_PERF, 4u << 20, 0);
	n = count("/proc/self/fd");
	threads = count("/proc/self/task");
	assert_int_equal(kernel__attach(c.kernel, c.plan, NULL, &lib), 0);
	assert_true(count("/proc/self/fd") > n + 3);
	attachments__begin_detach(kernel__attachments(c.kernel), lib);
	assert_int_equal(kernel__attached(c.kernel, lib, &begun, &done), -ENODATA);
	attachments__release(kernel__attachments(c.kernel), lib);
	/* The last descriptor is closed before its probe is removed. */
	while (count("/proc/self/task") > threads)
		nanosleep(&pause, NULL);
	assert_int_equal(count("/proc/self/fd"), n);
	attachments__release(kernel__attachments(c.kernel), WIRE_MAX_LIBS - 1);
	assert_int_equal(kernel__attach(c.kernel, c.plan, NULL, &again), 0);
	assert_int_equal(again, lib);
}

TEST_MAIN(NULL, NULL)

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The same through perf events, one per site: kernels before 6.6 have nothing else. */
#include "capture.h"

/* One capture for all, as the kernel takes long to remove a perf event. */
static void every_shape_panics_stacks_and_threads(void **state)
{
	struct capture c;

	(void)state;
	need_capture();
	capture_open(&c, KERNEL_ATTACH_PERF, 4u << 20, 0);
	assert_string_equal(kernel__attach_name(c.kernel), "perf events");
	capture_script(&c, "abcCdDehz a(b(c(C(d(D(e(h(z))))))))"
			   "a({a(b(c(d(e(h(!))))))}b)c({b({c(!)}a!)}d){aaa!}"
			   "a({a(b(^))}c)a(s(b(S(c)))d)r600(a)p4(*50(a(b)c))t(a(b(y)))");
	assert_int_equal(c.status, 0);
	assert_as_expected(&c);
	assert_whole(&c);
	capture_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_shape_panics_stacks_and_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

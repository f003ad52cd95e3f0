// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/library/mount.h"

#include <fcntl.h>
#include <unistd.h>

#include "test.h"
#include "base/cleanup.h"

static const char mounts[] =
	"21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
	"40 21 0:50 / /home/a/mnt rw,nosuid - fuse.sshfs a\\040b:/x rw,user_id=1000,group_id=1000\n"
	"41 21 0:51 / /mnt rw shared:7 master:3 - fuse /dev/fuse "
	"rw,user_id=0,group_id=0,allow_other\n"
	"42 21 0:52 / /share rw - virtiofs share rw\n"
	"43 21 0:53 / /user_id=7 rw - fuse user_id=7 rw,user_id=1001\n"
	"140 21 0:54 / /cut rw\n";

static struct file_mount find(int id)
{
	_fclose_ FILE *f = fmemopen((void *)(uintptr_t)mounts, sizeof(mounts) - 1, "r");
	struct file_mount m = {.fuse = true};

	file_mount__find(f, id, &m);
	return m;
}

static void the_server_is_the_user_of_the_mount(void **state)
{
	assert_true(find(40).has_server);
	assert_int_equal(find(40).server, 1000);
	assert_int_equal(find(43).server, 1001);
	assert_true(find(42).ours);
	assert_false(find(42).has_server);
	assert_false(find(4).ours);
	assert_false(find(140).ours);
}

static void only_unprivileged_servers_are_foreign(void **state)
{
	const struct file_mount disk = {0};
	struct file_mount m;

	assert_false(file_mount__is_foreign(&disk, 1000));
	m = find(40);
	assert_false(file_mount__is_foreign(&m, 1000));
	assert_true(file_mount__is_foreign(&m, 1001));
	assert_true(file_mount__is_foreign(&m, 0));
	m = find(41);
	assert_false(file_mount__is_foreign(&m, 1000));
	m = find(42);
	assert_false(file_mount__is_foreign(&m, 1000));
	/* In another namespace, user 0 may be the root of a user namespace. */
	m = find(4);
	assert_true(file_mount__is_foreign(&m, 0));
}

static void an_open_file_has_a_mount(void **state)
{
	_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct file_mount m;

	assert_int_equal(file_mount__of(fd, &m), 0);
	assert_true(!m.overlay || m.ours);
	assert_true(file_mount__of(-1, &m) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_server_is_the_user_of_the_mount),
		cmocka_unit_test(only_unprivileged_servers_are_foreign),
		cmocka_unit_test(an_open_file_has_a_mount),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

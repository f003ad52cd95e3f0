// SPDX-License-Identifier: Apache-2.0 OR MIT
/* tests/bpf tests attaching and detaching. */
#include "capture/links.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/uprobe_multi.h"
#include "test.h"

/* Stands for a link: the end of a pipe, whose other end shows when the last copy is closed. */
static int fake_link = -1;

int uprobe_multi_link(int prog_fd, const struct library_file *file, const uint64_t *offsets,
		      const uint64_t *cookies, uint32_t n)
{
	return fake_link;
}

TEST_CASE(a_library_without_links_has_nothing_to_detach)
{
	links__begin_free(NULL);
	links__inherit(NULL);
	links__abandon(NULL);
	links__free(NULL);
}

/* Nothing is attached before links__attach(), so a file that is no library does no harm. */
TEST_CASE(links_that_were_never_attached_are_freed)
{
	struct bpf_program *const progs[ATTACH_ROLES] = {0};
	struct plan_site sites[] = {{.role = WIRE_ROLE_CAUGHT}, {.role = WIRE_ROLE_END}};
	_library_file_ struct library_file *file = NULL;
	struct plan plan = {.sites = sites, .n_sites = 2};
	struct attach_set set = {.plan = &plan};
	struct links *links;

	assert_int_equal(library_file__open("/bin/sh", &file), 0);
	plan.file = file;
	/* No role has a program. */
	assert_int_equal(links__new(progs, &set, &links), 0);
	assert_int_equal(links__attach(links, PLAN_PART_ALWAYS), 0);
	assert_int_equal(links__attach(links, PLAN_PART_THREADS), 0);
	assert_int_equal(links__sites(links), 0);
	links__free(links);
}

static struct links *with_one_link(struct library_file *file, int fd)
{
	struct bpf_program *const progs[ATTACH_ROLES] = {0};
	struct plan plan = {.file = file};
	struct attach_set set = {.plan = &plan};
	struct plan_hit hit = {.offset = 1};
	const struct plan_hits hits = {.items = &hit, .n = 1};
	struct links *links;

	assert_int_equal(links__new(progs, &set, &links), 0);
	fake_link = fd;
	assert_int_equal(links__attach_hits(links, NULL, &set, &hits), 0);
	return links;
}

static bool is_closed(int other_end)
{
	struct pollfd fd = {.fd = other_end, .events = POLLIN};

	return poll(&fd, 1, 0) == 1 && fd.revents & POLLHUP;
}

/* Detaches once the other end of `go` is closed. */
static pid_t fork_heir(struct links *links, const int go[2])
{
	pid_t pid = fork();
	char byte;

	if (pid)
		return pid;
	close(go[1]);
	if (read(go[0], &byte, 1))
		_exit(1);
	links__inherit(links);
	links__begin_free(links);
	links__free(links);
	_exit(0);
}

/* We close our link without detaching: the child's copy is the last. */
TEST_CASE(a_child_detaches_what_we_abandon)
{
	_library_file_ struct library_file *file = NULL;
	int link[2], go[2], status;
	struct links *links;
	pid_t heir;

	assert_int_equal(library_file__open("/bin/sh", &file), 0);
	assert_int_equal(pipe(link), 0);
	assert_int_equal(pipe(go), 0);
	links = with_one_link(file, link[1]);
	heir = fork_heir(links, go);
	assert_true(heir > 0);

	links__abandon(links);
	assert_int_equal(close(link[1]), -1);
	assert_false(is_closed(link[0]));
	close(go[1]);
	assert_int_equal(waitpid(heir, &status, 0), heir);
	assert_int_equal(status, 0);
	assert_true(is_closed(link[0]));
	close(link[0]);
	close(go[0]);
}

TEST_CASE(links_are_closed_once_they_are_freed)
{
	_library_file_ struct library_file *file = NULL;
	int link[2];

	assert_int_equal(library_file__open("/bin/sh", &file), 0);
	assert_int_equal(pipe(link), 0);
	links__free(with_one_link(file, link[1]));
	assert_true(is_closed(link[0]));
	close(link[0]);
}

TEST_MAIN(NULL, NULL)

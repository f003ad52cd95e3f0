// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/broker.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/invoker.h"
#include "base/sandbox.h"
#include "capture/wait_quota.h"
#include "capture/privilege.h"
#include "plan/library/file.h"
#include "plan/library/find.h"
#include "proc/processes.h"
#include "proc/programs.h"

/* Children that were given up and have not ended yet. */
#define LEFT_MAX 64
/* See wait_for_answer(). */
#define SLICE_MS 20

uint64_t broker_ns = 500000000;

enum question {
	BROKER_LIBRARY,
	BROKER_BESIDE,
	BROKER_FILE,
	BROKER_ARGUMENTS,
	BROKER_VARIABLE,
	BROKER_MEMORY,
	BROKER_MAPPINGS,
	BROKER_MAPPED,
};

struct request {
	enum question question;
	pid_t pid;
	union {
		uint64_t from; /* BROKER_ARGUMENTS: the first byte that is wanted */
		/* BROKER_BESIDE: of the executable; BROKER_FILE: itself; BROKER_VARIABLE: the name
		 */
		char path[PATH_MAX];
		struct {
			uint32_t n;
			struct broker_memory ranges[BROKER_RANGES_MAX];
		} memory;
		struct {
			uint64_t start, end;
			char path[PATH_MAX];
		} mapped;
	};
};

struct answer {
	int err;
	struct broker_range loader;
	bool several;		    /* libraries are mapped */
	bool more;		    /* arguments follow */
	bool cut;		    /* as in struct arguments */
	struct library_identity id; /* of the library, whose descriptor comes with the answer */
	size_t len;
	/* The path with its end, the arguments, the variable's value, or memory. */
	char bytes[BROKER_MEMORY_MAX];
};

struct broker {
	pid_t child; /* 0: none could be had */
	int fd;	     /* -1 without a child */
	pid_t left[LEFT_MAX];
	unsigned int n_left;
	struct wait_quota patience;
};

/* ---- The child ------------------------------------------------------------------------------- */

/* Where the kernel put the program's interpreter; 0: the program has none. */
static uint64_t read_loader(pid_t pid)
{
	_fclose_ FILE *f = process_file(pid, "auxv");
	Elf64_auxv_t entry;

	while (f && fread(&entry, sizeof(entry), 1, f) == 1 && entry.a_type != AT_NULL)
		if (entry.a_type == AT_BASE)
			return entry.a_un.a_val;
	return 0;
}

/* The segments of a file are mapped in a row: all of those of the file that begins at its base. */
static void find_loader(pid_t pid, struct broker_range *r)
{
	uint64_t base = process_threads(pid) == 1 ? read_loader(pid) : 0;
	_fclose_ FILE *maps = base ? process_file(pid, "maps") : NULL;
	_free_ char *line = NULL;
	size_t size = 0;
	unsigned long inode = 0;

	while (maps && getline(&line, &size, maps) > 0) {
		unsigned long of;
		uint64_t lo, hi;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %lu", &lo, &hi, &of) != 3)
			continue;
		if (lo == base) {
			inode = of;
			r->start = lo;
		}
		if (inode && of == inode)
			r->end = hi;
	}
	if (!r->end)
		r->start = 0;
}

/* A process may map another file under the name of a compiler's library. */
static bool maps_several(pid_t pid)
{
	unsigned long first = 0, inode;
	_fclose_ FILE *maps = process_file(pid, "maps");
	_free_ char *line = NULL;
	char device[32], of_first[32];
	size_t size = 0;
	bool several = false;

	while (maps && !several && getline(&line, &size, maps) > 0) {
		if (!strstr(line, "/librustc_driver") ||
		    sscanf(line, "%*s %*s %*s %31s %lu", device, &inode) != 2)
			continue;
		several = first && (inode != first || strcmp(device, of_first));
		first = inode;
		strcpy(of_first, device);
	}
	return several;
}

/* A part of a range that cannot be read makes all of it unreadable. */
static void read_memory(const struct request *r, struct answer *a)
{
	uint32_t n = r->memory.n < BROKER_RANGES_MAX ? r->memory.n : BROKER_RANGES_MAX;
	struct iovec from[BROKER_RANGES_MAX], to = {.iov_base = a->bytes};

	for (uint32_t i = 0; i < n && !a->err; i++) {
		const struct broker_memory *range = &r->memory.ranges[i];

		from[i] = (struct iovec){(void *)(uintptr_t)range->addr, range->size};
		if (range->size > sizeof(a->bytes) - to.iov_len)
			a->err = -E2BIG;
		else
			to.iov_len += range->size;
	}
	if (!a->err && to.iov_len &&
	    process_vm_readv(r->pid, &to, 1, from, n, 0) != (ssize_t)to.iov_len)
		a->err = -EFAULT;
	a->len = a->err ? 0 : to.iov_len;
}

static void read_mappings(const struct request *r, struct answer *a)
{
	struct mapped_files found;

	_Static_assert(sizeof(found) <= sizeof(a->bytes), "an answer has room");
	a->err = mapped_files__read(r->pid, &found);
	if (a->err)
		return;
	a->len = offsetof(struct mapped_files, text) + found.n_text;
	memcpy(a->bytes, &found, a->len);
}

/* Open the file, for the answer. */
static int answer_file(struct answer *a, const char *path, uid_t invoker,
		       struct library_file **file)
{
	_library_file_ struct library_file *f = NULL;
	size_t len = strlen(path) + 1;
	struct file_mount mount;
	int err;

	if (len > sizeof(a->bytes))
		return -ENAMETOOLONG;
	err = library_file__try(path, &f) ?: file_mount__of(library_file__fd(f), &mount);
	if (err)
		return err;
	if (file_mount__is_foreign(&mount, invoker))
		return -BROKER_SERVED;
	a->id = *library_file__identity(f);
	a->len = len;
	memcpy(a->bytes, path, len);
	*file = take_ptr(f);
	return 0;
}

static void read_arguments(const struct request *r, uid_t invoker, struct answer *a)
{
	_arguments_ struct arguments all = {0};
	size_t from;

	a->err = arguments__read(r->pid, invoker, &all);
	from = r->from < all.size ? r->from : all.size;
	a->more = all.size - from > sizeof(a->bytes);
	a->cut = all.cut;
	a->len = a->more ? sizeof(a->bytes) : all.size - from;
	if (a->len)
		memcpy(a->bytes, all.bytes + from, a->len);
}

static void find_answer(const struct request *r, uid_t invoker, struct answer *a,
			struct library_file **file)
{
	_free_ char *path = NULL;

	switch (r->question) {
	case BROKER_LIBRARY:
		a->err = plan_find__of_pid(r->pid, &path);
		if (!a->err)
			find_loader(r->pid, &a->loader);
		a->several = !a->err && maps_several(r->pid);
		break;
	case BROKER_BESIDE:
		a->err = library_beside(r->path, &path);
		break;
	case BROKER_FILE:
		path = strdup(r->path);
		a->err = path ? 0 : -ENOMEM;
		break;
	case BROKER_ARGUMENTS:
		read_arguments(r, invoker, a);
		return;
	case BROKER_VARIABLE:
		a->len = process_variable(r->pid, r->path, a->bytes, sizeof(a->bytes));
		return;
	case BROKER_MEMORY:
		read_memory(r, a);
		return;
	case BROKER_MAPPINGS:
		read_mappings(r, a);
		return;
	case BROKER_MAPPED:
		a->err = mapped_files__path(r->pid, r->mapped.start, r->mapped.end, r->mapped.path,
					    &path);
		break;
	}
	if (!a->err)
		a->err = answer_file(a, path, invoker, file);
	if (!a->err && r->question == BROKER_LIBRARY)
		a->err = plan_find__check_mapped(r->pid, *file);
}

/* Room for one descriptor beside a message. */
union one_fd {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static bool send_answer(int fd, struct answer *a, const struct library_file *file)
{
	struct iovec iov = {a, offsetof(struct answer, bytes) + a->len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	union one_fd control = {0};

	if (file) {
		int library = library_file__fd(file);

		msg.msg_control = control.bytes;
		msg.msg_controllen = sizeof(control.bytes);
		control.header = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.header), &library, sizeof(library));
	}
	return sendmsg(fd, &msg, MSG_NOSIGNAL) >= 0;
}

/*
 * A child that is left behind lives as long as what it waits for, so it owns nothing: no probe, no
 * pipe whose end somebody waits for, no directory that somebody may want to unmount.
 */
static void own_nothing_but(int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i < 3; i++)
		dup2(null, i);
	if (fd > 3)
		syscall(SYS_close_range, 3, fd - 1, 0);
	syscall(SYS_close_range, fd + 1, ~0u, 0);
	if (chdir("/"))
		_exit(1);
}

/* Signals are the parent's to handle, but the one for its death. */
static __attribute__((noreturn)) void serve(int fd, pid_t parent, uid_t invoker)
{
	bool sent = true;
	struct request r;
	struct answer a;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	prctl(PR_SET_NAME, "qprof-bpf: look");
	own_nothing_but(fd);
	if (sandbox__enter(SANDBOX_LOOK, privilege_to_look(privilege_effective())))
		_exit(1);
	while (sent && recv(fd, &r, sizeof(r), 0) == sizeof(r)) {
		_library_file_ struct library_file *file = NULL;

		memset(&a, 0, offsetof(struct answer, bytes));
		find_answer(&r, invoker, &a, &file);
		sent = send_answer(fd, &a, file);
	}
	_exit(0);
}

/* ---- The parent ------------------------------------------------------------------------------ */

/* Those that were left and have ended since. */
static void reap(struct broker *l)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < l->n_left; i++)
		if (!waitpid(l->left[i], NULL, WNOHANG))
			l->left[kept++] = l->left[i];
	l->n_left = kept;
}

static int start_child(struct broker *l)
{
	_close_ int theirs = -1;
	pid_t parent = getpid();
	int pair[2];

	reap(l);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	l->fd = pair[0];
	/* The child's descriptor must lie above the three that it replaces. */
	theirs = fcntl(pair[1], F_DUPFD_CLOEXEC, 3);
	close(pair[1]);
	l->child = theirs < 0 ? -1 : fork();
	if (!l->child)
		serve(theirs, parent, l->patience.invoker);
	if (l->child > 0)
		return 0;
	l->child = 0;
	close(take_fd(l->fd));
	return -EAGAIN;
}

/* The kill takes effect at once, or when the child's call returns. */
static void give_up_child(struct broker *l)
{
	if (!l->child)
		return;
	kill(l->child, SIGKILL);
	close(take_fd(l->fd));
	reap(l);
	if (l->n_left < LEFT_MAX)
		l->left[l->n_left++] = l->child;
	l->child = 0;
}

uint64_t broker__cpu_ns(const struct broker *l)
{
	clockid_t clock;

	return l->child && !clock_getcpuclockid(l->child, &clock) ? clock_ns(clock) : 0;
}

int broker__new(struct broker **out)
{
	_broker_ struct broker *l = calloc(1, sizeof(*l));
	_invoker_ struct invoker inv = {0};
	int err;

	if (!l)
		return -ENOMEM;
	l->fd = -1;
	l->patience.invoker = invoker__get(&inv) ? getuid() : inv.uid;
	err = start_child(l);
	if (err)
		return err;
	*out = take_ptr(l);
	return 0;
}

/*
 * 1: it is there; 0: not in time; or a negative errno. Counts slices and does not ask the clock:
 * while a machine stands still the child cannot answer, so that time takes up one slice at most. A
 * slice that a signal interrupts counts as a whole one, so the wait ends even if many signals come.
 */
static int wait_for_answer(const struct broker *l)
{
	struct pollfd pfd = {.fd = l->fd, .events = POLLIN};
	int n = 0;

	for (uint64_t waited_ns = 0; !n && waited_ns < broker_ns; waited_ns += SLICE_MS * 1000000) {
		n = poll(&pfd, 1, SLICE_MS);
		if (n < 0 && errno == EINTR)
			n = 0;
	}
	return n < 0 ? -errno : n;
}

/* *file is the descriptor that came with the answer, or -1. */
static int receive(int fd, struct answer *a, int *file)
{
	struct iovec iov = {a, sizeof(*a)};
	union one_fd control = {0};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t n = recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&msg);

	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(file, CMSG_DATA(c), sizeof(*file));
	if (n < (ssize_t)offsetof(struct answer, bytes))
		return -EIO;
	return n == (ssize_t)(offsetof(struct answer, bytes) + a->len) ? 0 : -EIO;
}

static int ask_child(const struct broker *l, const struct request *r, struct answer *a, int *file)
{
	int err;

	if (send(l->fd, r, sizeof(*r), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return -errno;
	err = wait_for_answer(l);
	if (err <= 0)
		return err ?: -ETIME;
	return receive(l->fd, a, file);
}

bool broker__may_ask(const struct broker *l, uid_t user)
{
	return wait_quota__is_left(&l->patience, user, clock_ns(CLOCK_MONOTONIC));
}

static int ask(struct broker *l, const struct request *r, struct answer *a, int *file)
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	uid_t uid = process_uid(r->pid);
	int err;

	if (!wait_quota__is_left(&l->patience, uid, begin_ns))
		return -ETIME;
	err = l->child ? 0 : start_child(l);
	if (err)
		return err;
	err = ask_child(l, r, a, file);
	wait_quota__waited(&l->patience, uid, begin_ns, clock_ns(CLOCK_MONOTONIC));
	if (err) {
		give_up_child(l);
		wait_quota__strike(&l->patience, uid, clock_ns(CLOCK_MONOTONIC));
	}
	return err ?: a->err;
}

static int ask_for_file(struct broker *l, const struct request *r, struct answer *a,
			struct library_file **file)
{
	_close_ int fd = -1;
	int err = ask(l, r, a, &fd);

	if (err)
		return err;
	if (fd < 0 || !a->len || a->bytes[a->len - 1])
		return -EIO;
	return library_file__take(take_fd(fd), a->bytes, &a->id, file);
}

int broker__library(struct broker *l, pid_t pid, struct library_file **file,
		    struct broker_range *loader)
{
	struct request r = {.question = BROKER_LIBRARY, .pid = pid};
	struct answer a;
	int err = ask_for_file(l, &r, &a, file);

	if (!err && loader)
		*loader = a.loader;
	return err;
}

int broker__only_library(struct broker *l, pid_t pid, struct library_file **file)
{
	struct request r = {.question = BROKER_LIBRARY, .pid = pid};
	_library_file_ struct library_file *first = NULL;
	struct answer a;
	int err = ask_for_file(l, &r, &a, &first);

	if (err)
		return err;
	if (a.several)
		return -EMLINK;
	*file = take_ptr(first);
	return 0;
}

static int ask_about_path(struct broker *l, enum question question, pid_t pid, const char *path,
			  struct library_file **file)
{
	struct request r = {.question = question, .pid = pid};
	struct answer a;

	if (strlen(path) >= sizeof(r.path))
		return -ENAMETOOLONG;
	strcpy(r.path, path);
	return ask_for_file(l, &r, &a, file);
}

int broker__library_beside(struct broker *l, pid_t pid, const char *exe, struct library_file **file)
{
	/* Most programs are none of a toolchain: that is known by the name alone. */
	if (!is_toolchain_program(exe))
		return -ENOENT;
	return ask_about_path(l, BROKER_BESIDE, pid, exe, file);
}

int broker__file(struct broker *l, pid_t pid, const char *path, struct library_file **file)
{
	return ask_about_path(l, BROKER_FILE, pid, path, file);
}

int broker__arguments(struct broker *l, pid_t pid, struct arguments *out)
{
	struct request r = {.question = BROKER_ARGUMENTS, .pid = pid};
	_arguments_ struct arguments all = {0};
	struct answer a = {.more = true};
	size_t capacity = 0;

	while (a.more && all.size < WIRE_COMMAND_MAX) {
		_close_ int none = -1;
		int err;

		r.from = all.size;
		err = ask(l, &r, &a, &none);
		/* Some of the arguments may be without the rest, but not with that of others. */
		if (!err &&
		    ((a.more && a.len != sizeof(a.bytes)) || a.len > WIRE_COMMAND_MAX - all.size))
			err = -EIO;
		err = err ?: bytes__append(&all.bytes, &all.size, &capacity, a.bytes, a.len);
		if (err)
			return err;
		all.cut |= a.cut;
	}
	*out = all;
	all = (struct arguments){0};
	return 0;
}

void broker__variable(struct broker *l, pid_t pid, const char *name, char *buf, size_t size)
{
	struct request r = {.question = BROKER_VARIABLE, .pid = pid};
	_close_ int none = -1;
	struct answer a;
	size_t len = 0;

	snprintf(r.path, sizeof(r.path), "%s", name);
	if (!ask(l, &r, &a, &none))
		len = a.len < size ? a.len : size - 1;
	memcpy(buf, a.bytes, len);
	buf[len] = '\0';
}

int broker__memory(struct broker *l, pid_t pid, const struct broker_memory *ranges, uint32_t n,
		   uint8_t *bytes)
{
	struct request r = {.question = BROKER_MEMORY, .pid = pid};
	_close_ int none = -1;
	struct answer a;
	size_t len = 0;
	int err;

	if (n > BROKER_RANGES_MAX)
		return -E2BIG;
	r.memory.n = n;
	for (uint32_t i = 0; i < n; i++) {
		r.memory.ranges[i] = ranges[i];
		len += ranges[i].size;
	}
	err = ask(l, &r, &a, &none);
	if (!err && a.len != len)
		err = -EIO;
	if (!err && len)
		memcpy(bytes, a.bytes, len);
	return err;
}

int broker__mapped_files(struct broker *l, pid_t pid, struct mapped_files *out)
{
	struct request r = {.question = BROKER_MAPPINGS, .pid = pid};
	const size_t fixed = offsetof(struct mapped_files, text);
	_close_ int none = -1;
	struct answer a;
	int err = ask(l, &r, &a, &none);

	if (err)
		return err;
	if (a.len < fixed || a.len > sizeof(*out))
		return -EIO;
	memcpy(out, a.bytes, a.len);
	if (out->n > MAPPED_FILES_MAX || out->n_text != a.len - fixed)
		return -EIO;
	return out->n_text && out->text[out->n_text - 1] ? -EIO : 0;
}

int broker__mapped_file(struct broker *l, pid_t pid, const struct mapped_files *all,
			const struct mapped_file *m, struct library_file **file)
{
	struct request r = {.question = BROKER_MAPPED, .pid = pid};
	const char *path = mapped_files__text(all, m);
	_library_file_ struct library_file *found = NULL;
	const struct library_identity *id;
	_close_ int fd = -1;
	struct answer a;
	int err;

	if (strlen(path) >= sizeof(r.mapped.path))
		return -ENAMETOOLONG;
	r.mapped.start = m->start;
	r.mapped.end = m->end;
	strcpy(r.mapped.path, path);
	err = ask(l, &r, &a, &fd);
	if (err)
		return err;
	if (fd < 0)
		return -EIO;
	/* The path by which it was opened is of no use to people. */
	err = library_file__take(take_fd(fd), path, &a.id, &found);
	if (err)
		return err;
	id = library_file__identity(found);
	if (id->dev != m->id.dev || id->ino != m->id.ino || !library_identity_is_same(id, &m->id))
		return -ESTALE;
	*file = take_ptr(found);
	return 0;
}

/* A child that has not ended after some 20 ms is init's. */
void broker__free(struct broker *l)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	if (!l)
		return;
	give_up_child(l);
	reap(l);
	for (int i = 0; l->n_left && i < 20; i++) {
		nanosleep(&pause, NULL);
		reap(l);
	}
	free(l);
}

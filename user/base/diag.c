// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/diag.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/format.h"

static enum diag_level current_level = DIAG_NORMAL;

static struct {
	char *text; /* NULL: errors are printed */
	size_t size;
} held;

void diag_set_level(enum diag_level level)
{
	current_level = level;
}

enum diag_level diag_level(void)
{
	return current_level;
}

void diag_hold_errors(char *text, size_t size)
{
	held.text = text;
	held.size = size;
}

static bool may_drop;
static unsigned int n_dropped; /* any thread adds to it */
static struct {
	int fd;
	bool (*go_on)(void *ctx);
	void *ctx;
} waiting = {.fd = -1};

void diag_drop_blocked(bool on)
{
	may_drop = on;
}

void diag_wait_with(int fd, bool (*go_on)(void *ctx), void *ctx)
{
	waiting.fd = fd;
	waiting.go_on = go_on;
	waiting.ctx = ctx;
}

/* A pipe that poll(2) reports writable takes a line at once. After one line waited, none waits. */
static bool is_blocked(void)
{
	bool waited = __atomic_load_n(&n_dropped, __ATOMIC_RELAXED);
	struct pollfd fds[] = {
		{.fd = STDERR_FILENO, .events = POLLOUT},
		{.fd = waiting.fd, .events = POLLIN},
	};

	if (may_drop)
		return !poll(fds, 1, waited ? 0 : DIAG_PATIENCE_MS);
	if (waiting.fd < 0)
		return false;
	do {
		while (poll(fds, 2, -1) < 0)
			;
	} while (!fds[0].revents && waiting.go_on(waiting.ctx));
	return !fds[0].revents;
}

static void vsay(const char *prefix, const char *fmt, va_list ap)
{
	/* One write per line: rustc and cargo share our stderr. */
	char line[2048];
	int n = snprintf(line, sizeof(line), "qprof-bpf: %s", prefix);
	unsigned int dropped;

	vsnprintf(line + n, sizeof(line) - n, fmt, ap);
	/*
	 * Lines hold paths and names that other users chose: they must not write to the terminal of
	 * the user who records. format_clean() in place, as there may be no memory.
	 */
	for (char *at = line; *at;) {
		uint32_t cp;
		size_t len = format_utf8(at, &cp);
		bool is_clean = len && !format_is_unsafe(cp);

		for (len = len ?: 1; len; len--, at++)
			*at = is_clean ? *at : '?';
	}
	if (is_blocked()) {
		__atomic_add_fetch(&n_dropped, 1, __ATOMIC_RELAXED);
		return;
	}
	dropped = __atomic_exchange_n(&n_dropped, 0, __ATOMIC_RELAXED);
	if (dropped)
		fprintf(stderr, "qprof-bpf: %u line%s not printed: the reader did not read them\n",
			dropped, dropped == 1 ? " was" : "s were");
	fprintf(stderr, "%s\n", line);
}

#define DEFINE_SAY(name, prefix, least)      \
	void name(const char *fmt, ...)      \
	{                                    \
		va_list ap;                  \
                                             \
		if (current_level < (least)) \
			return;              \
		va_start(ap, fmt);           \
		vsay(prefix, fmt, ap);       \
		va_end(ap);                  \
	}

static unsigned int n_errors; /* any thread adds to it */

unsigned int diag_errors(void)
{
	return __atomic_load_n(&n_errors, __ATOMIC_RELAXED);
}

void diag_error(const char *fmt, ...)
{
	va_list ap;

	__atomic_add_fetch(&n_errors, 1, __ATOMIC_RELAXED);
	va_start(ap, fmt);
	if (held.text)
		vsnprintf(held.text, held.size, fmt, ap);
	else
		vsay("error: ", fmt, ap);
	va_end(ap);
}

DEFINE_SAY(diag_warn, "warning: ", DIAG_NORMAL)
DEFINE_SAY(diag_info, "", DIAG_NORMAL)
DEFINE_SAY(diag_verbose, "", DIAG_VERBOSE)

const char *diag_step(int err, const char *otherwise)
{
	switch (err) {
	case -EMFILE:
		return "; raise the limit of open files (ulimit -n)";
	case -ENFILE:
		return "; raise the machine's limit of open files (fs.file-max)";
	case -ENOMEM:
		return "; give it more memory: the limits of the process (ulimit -v, -d), of its "
		       "control group, or the machine's";
	case -EAGAIN: /* of a thread or a process */
		return "; raise the limits of processes (ulimit -u) and of memory (ulimit -v, -d)";
	case -EFBIG:
		return "; raise the limit of the size of a file (ulimit -f)";
	default:
		return otherwise;
	}
}

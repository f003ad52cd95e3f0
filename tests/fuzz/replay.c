// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * replay SEED RUNS CRASH_FILE DIRECTORY...: a deterministic main for a fuzzer. It runs each file of
 * the directories, sorted by name, and then RUNS random mutations of these, which depend on SEED
 * only: not on time, coverage or addresses. The closing line has a checksum over all inputs as the
 * proof.
 *
 * libFuzzer depends on coverage and on the order of directory entries, so it serves to search.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <sanitizer/allocator_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>

#include "base/array.h"
#include "base/cleanup.h"

#define FILE_MAX_BYTES (1u << 20)
/* CPU seconds per input: far more than any input needs on a slow CPU. */
#define INPUT_SECONDS 60

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

struct input {
	char *name; /* of its file */
	uint8_t *data;
	size_t size;
};

struct corpus {
	struct input *inputs;
	size_t n;
};

/* The running input, which a signal handler saves. */
static const uint8_t *current;
static size_t current_size;
static const char *crash_file;

static atomic_size_t n_allocated, n_freed;

static void fail(const char *what, const char *which)
{
	printf("replay: %s %s: %s\n", what, which, strerror(errno));
	exit(1);
}

/* ---- Deaths ---------------------------------------------------------------------------------- */

static void keep_current(void)
{
	int fd = open(crash_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, current, current_size) != (ssize_t)current_size)
		return;
	close(fd);
}

static void on_timer(int sig)
{
	static const char text[] = "replay: an input takes too long\n";

	(void)sig;
	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		_exit(2);
	abort();
}

/* abort() ends the program when this returns. */
static void on_abort(int sig)
{
	(void)sig;
	keep_current();
}

/* The limit restarts with each input. */
static void set_timer(void)
{
	const struct itimerval limit = {.it_value.tv_sec = INPUT_SECONDS};

	setitimer(ITIMER_VIRTUAL, &limit, NULL);
}

static void on_malloc(const volatile void *p, size_t size)
{
	(void)p;
	(void)size;
	atomic_fetch_add(&n_allocated, 1);
}

static void on_free(const volatile void *p)
{
	if (p)
		atomic_fetch_add(&n_freed, 1);
}

static void set_handlers(void)
{
	const struct sigaction timer = {.sa_handler = on_timer};
	const struct sigaction aborted = {.sa_handler = on_abort};

	__sanitizer_set_death_callback(keep_current);
	__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
	if (sigaction(SIGVTALRM, &timer, NULL) || sigaction(SIGABRT, &aborted, NULL))
		fail("cannot handle", "signals");
}

/* ---- The corpus ------------------------------------------------------------------------------ */

static void read_input(struct input *in, const char *path, off_t size)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	in->size = (size_t)size;
	in->data = malloc(in->size + 1);
	if (fd < 0 || !in->data || read(fd, in->data, in->size) != (ssize_t)in->size)
		fail("cannot read", path);
}

static void read_directory(struct corpus *c, const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;

	if (!dir)
		fail("cannot open", directory);
	while ((entry = readdir(dir))) {
		_free_ char *path = NULL;
		struct stat st;

		if (asprintf(&path, "%s/%s", directory, entry->d_name) < 0 || stat(path, &st))
			fail("cannot look at", entry->d_name);
		if (S_ISDIR(st.st_mode) && entry->d_name[0] != '.')
			read_directory(c, path);
		if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX_BYTES)
			continue;
		c->inputs = realloc(c->inputs, (c->n + 1) * sizeof(*c->inputs));
		if (!c->inputs)
			fail("cannot keep", path);
		read_input(&c->inputs[c->n], path, st.st_size);
		c->inputs[c->n++].name = strdup(entry->d_name);
	}
	closedir(dir);
}

static int by_name(const void *a, const void *b)
{
	const struct input *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (!order)
		order = (x->size > y->size) - (x->size < y->size);
	return order ?: memcmp(x->data, y->data, x->size);
}

static void corpus__clear(struct corpus *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->inputs[i].name);
		free(c->inputs[i].data);
	}
	free(c->inputs);
}

/* ---- Chance ---------------------------------------------------------------------------------- */

/* splitmix64: the same numbers everywhere. */
static uint64_t random_state;

static uint64_t random64(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* A number below `n`, which is not 0. */
static size_t below(size_t n)
{
	return (size_t)(random64() % n);
}

/* An input that can grow to `room` bytes. */
struct mutant {
	uint8_t *data;
	size_t size, room;
};

static void change_bit(struct mutant *m)
{
	if (m->size)
		m->data[below(m->size)] ^= (uint8_t)(1u << below(8));
}

/* Most fields are numbers of 1 to 8 bytes. */
static void change_number(struct mutant *m)
{
	static const uint64_t edges[] = {0,	     1,		 2,	    0x7f,      0x80,
					 0xff,	     0x7fff,	 0x8000,    0xffff,    0x7fffffff,
					 0x80000000, 0xffffffff, INT64_MAX, UINT64_MAX};
	size_t width = (size_t)1 << below(4);
	uint64_t n = edges[below(N_OF(edges))];

	if (below(2))
		n = below(2) ? random64() : below(256);
	if (m->size >= width)
		memcpy(m->data + below(m->size - width + 1), &n, width);
}

static void change_letter(struct mutant *m)
{
	static const char letters[] = "NvCIMXYBRTKEs_0123abufhDLAp.$\n";

	if (m->size)
		m->data[below(m->size)] = (uint8_t)letters[below(sizeof(letters) - 1)];
}

static void take_out(struct mutant *m)
{
	size_t at, len;

	if (!m->size)
		return;
	at = below(m->size);
	len = 1 + below(below(4) ? 8 : m->size);
	if (len > m->size - at)
		len = m->size - at;
	memmove(m->data + at, m->data + at + len, m->size - at - len);
	m->size -= len;
}

/* Insert a part of an input, or overwrite with it; `from` may be the parent itself. */
static void put_in(struct mutant *m, const struct input *from)
{
	size_t at = below(m->size + 1), start, len;

	if (!from->size)
		return;
	start = below(from->size);
	len = 1 + below(below(4) ? 16 : from->size);
	if (len > from->size - start)
		len = from->size - start;
	if (below(2)) {
		if (len > m->size - at)
			len = m->size - at;
	} else {
		if (len > m->room - m->size)
			len = m->room - m->size;
		memmove(m->data + at + len, m->data + at, m->size - at);
		m->size += len;
	}
	memcpy(m->data + at, from->data + start, len);
}

static void mutate(struct mutant *m, const struct corpus *c, const struct input *parent)
{
	for (size_t n = 1 + below(4); n; n--) {
		switch (below(8)) {
		case 0:
			change_bit(m);
			break;
		case 1:
		case 2:
			change_number(m);
			break;
		case 3:
			change_letter(m);
			break;
		case 4:
			take_out(m);
			break;
		case 5:
			put_in(m, &c->inputs[below(c->n)]);
			break;
		default:
			put_in(m, parent);
		}
	}
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* FNV-1a, over all bytes and lengths. */
static uint64_t sum = 0xcbf29ce484222325;

static void add_to_sum(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sum = (sum ^ data[i]) * 0x100000001b3;
	sum = (sum ^ size) * 0x100000001b3;
}

/* The copy has the exact size, so a sanitizer reports a read past the end. */
static void run(const uint8_t *data, size_t size)
{
	_free_ uint8_t *copy = malloc(size ?: 1);

	if (!copy)
		fail("cannot copy", "an input");
	if (size)
		memcpy(copy, data, size);
	add_to_sum(data, size);
	current = copy;
	current_size = size;
	n_allocated = n_freed = 0;
	set_timer();
	LLVMFuzzerTestOneInput(copy, size);
	if (n_allocated > n_freed && __lsan_do_recoverable_leak_check()) {
		keep_current();
		printf("replay: an input leaks\n");
		_exit(1);
	}
}

static void run_mutants(const struct corpus *c, size_t runs)
{
	size_t largest = 4096;
	_free_ uint8_t *buf = NULL;

	for (size_t i = 0; i < c->n; i++)
		largest = c->inputs[i].size > largest ? c->inputs[i].size : largest;
	buf = malloc(2 * largest);
	if (!buf)
		fail("cannot make", "inputs");
	for (; runs; runs--) {
		const struct input *parent = &c->inputs[below(c->n)];
		struct mutant m = {buf, parent->size, 2 * largest};

		memcpy(buf, parent->data, parent->size);
		mutate(&m, c, parent);
		run(m.data, m.size);
	}
}

int main(int argc, char **argv)
{
	__cleanup(corpus__clear) struct corpus c = {0};
	size_t runs;

	if (argc < 5)
		return 2;
	random_state = strtoull(argv[1], NULL, 10);
	runs = strtoul(argv[2], NULL, 10);
	crash_file = argv[3];
	for (int i = 4; i < argc; i++)
		read_directory(&c, argv[i]);
	if (!c.n)
		fail("no inputs in", argv[4]);
	qsort(c.inputs, c.n, sizeof(*c.inputs), by_name);
	if (LLVMFuzzerInitialize && LLVMFuzzerInitialize(&argc, &argv))
		return 2;
	set_handlers();
	for (size_t i = 0; i < c.n; i++)
		run(c.inputs[i].data, c.inputs[i].size);
	run_mutants(&c, runs);
	printf("%zu kept and %zu seeded inputs, seed %s, sum %016" PRIx64 "\n", c.n, runs, argv[1],
	       sum);
	return 0;
}

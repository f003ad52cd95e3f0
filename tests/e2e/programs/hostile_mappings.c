// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * hostile_mappings WAY LIBRARY ELF: has a librustc_driver mapped, so it is sampled as a compiler,
 * and maps as code what a recording would not like to read. ELF is a file to make others of, in the
 * working directory. Spends CPU time in what it has mapped, and prints "told" at the end.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define PAGE	 4096
#define MAPPINGS 10000
#define FILES	 2000
#define LIES	 200
#define SWAPS	 300
#define EXECS	 1000

static uint8_t elf[1 << 16];
static size_t elf_size;
static sigjmp_buf back;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void *map(const char *path, size_t size)
{
	int fd = open(path, O_RDONLY);
	void *at =
		fd < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (at == MAP_FAILED)
		fail(path);
	close(fd);
	return at;
}

static void make(const char *path, const uint8_t *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		fail(path);
	close(fd);
}

static void on_signal(int sig)
{
	siglongjmp(back, 1);
}

/* Run what is at `at` for so long, whatever it is. */
static void run(void *at, unsigned int ms)
{
	const struct itimerval timer = {.it_value = {0, ms * 1000}};

	if (sigsetjmp(back, 1))
		return;
	setitimer(ITIMER_PROF, &timer, NULL);
	for (;;)
		((void (*)(void))at)();
}

/* A copy of ELF whose code, from its first executable segment on, is an endless loop. */
static void *loop_in(uint8_t *bytes)
{
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)bytes;
	const Elf64_Phdr *phdr = (const Elf64_Phdr *)(bytes + ehdr->e_phoff);

	for (int i = 0; i < ehdr->e_phnum; i++)
		if (phdr[i].p_type == PT_LOAD && phdr[i].p_flags & PF_X) {
			memcpy(bytes + phdr[i].p_offset, "\xeb\xfe", 2);
			return bytes + phdr[i].p_offset;
		}
	exit(1);
}

static void many(const char *path)
{
	void *at = NULL;

	for (int i = 0; i < MAPPINGS; i++)
		at = map(path, PAGE);
	run(at, 300);
}

static void files(const char *path)
{
	char name[32];

	for (int i = 0; i < FILES; i++) {
		void *at;

		snprintf(name, sizeof(name), "f%d.so", i);
		make(name, elf, elf_size);
		at = map(name, elf_size);
		if (i % 50 == 0)
			run(at, 20);
		if (i % 200 != 199)
			munmap(at, elf_size);
	}
}

/* Every few bytes of the headers, and of the tables of sections, are something else. */
static void lies(const char *path)
{
	uint8_t *bytes = malloc(elf_size);
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)elf;
	size_t offset = (size_t)((uint8_t *)loop_in(elf) - elf);
	char name[32];

	for (int i = 0; i < LIES; i++) {
		size_t sections = ehdr->e_shoff;
		uint8_t *at;

		memcpy(bytes, elf, elf_size);
		srand((unsigned int)i);
		for (int k = 0; k < 12; k++) {
			size_t where = (size_t)rand() % 512;

			where += k % 2 ? sections : 16;
			if (where < elf_size)
				bytes[where] = (uint8_t)(k % 3 ? rand() : 0xff);
		}
		snprintf(name, sizeof(name), "l%d.so", i);
		make(name, bytes, elf_size);
		if (i % 4 == 0 && truncate(name, 1ll << 32))
			fail(name);
		at = map(name, elf_size);
		run(at + offset, 10);
		munmap(at, elf_size);
	}
}

static void swap(const char *path)
{
	uint8_t *at;

	for (int i = 0; i < SWAPS; i++) {
		unlink("s.so");
		make("s.so", elf, elf_size);
		at = map("s.so", elf_size);
		unlink("s.so");
		if (i % 3 == 0 && symlink("/etc/shadow", "s.so"))
			fail("symlink");
		if (i % 3 == 1 && mkfifo("s.so", 0644))
			fail("fifo");
		if (i % 3 == 2)
			make("s.so", elf, 64);
		run(at + ((uint8_t *)loop_in(elf) - elf), 5);
		munmap(at, elf_size);
	}
}

static void shrink(const char *path)
{
	for (int i = 0; i < SWAPS; i++) {
		uint8_t *at;

		make("g.so", elf, elf_size);
		at = map("g.so", elf_size);
		run(at + ((uint8_t *)loop_in(elf) - elf), 5);
		if (truncate("g.so", i % 2 ? 1 : 1 << 30))
			fail("truncate");
		run(at, 2);
		munmap(at, elf_size);
	}
}

static void again(char **argv)
{
	const char *before = getenv("EXECS");
	int n = before ? atoi(before) : 0;
	char text[16];

	if (n == EXECS)
		return;
	snprintf(text, sizeof(text), "%d", n + 1);
	setenv("EXECS", text, 1);
	execv(argv[0], argv);
	fail(argv[0]);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*tell)(const char *path);
	} ways[] = {{"many", many},
		    {"files", files},
		    {"lies", lies},
		    {"swap", swap},
		    {"shrink", shrink}};
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	const stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	FILE *f;

	if (argc != 4)
		return 1;
	map(argv[2], PAGE);
	if (!strcmp(argv[1], "again"))
		again(argv);
	f = fopen(argv[3], "re");
	elf_size = f ? fread(elf, 1, sizeof(elf), f) : 0;
	if (!elf_size)
		fail(argv[3]);
	fclose(f);
	sigaltstack(&stack, NULL);
	sigaction(SIGPROF, &sa, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
	sigaction(SIGILL, &sa, NULL);
	loop_in(elf);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(argv[1], ways[i].name))
			ways[i].tell(argv[3]);
	puts("told");
	return 0;
}

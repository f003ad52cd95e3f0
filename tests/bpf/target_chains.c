// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "target_chains.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone, noipa))
/* Keeps a call from being the last of a function, which would be a jump. */
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")
#define PAGE	       4096ul

typedef void leaf_fn(unsigned int arg);

static unsigned long cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (unsigned long)ts.tv_sec * 1000000000ul + (unsigned long)ts.tv_nsec;
}

/* No other function is called but by this loop's end, every some 100 us. */
APART void chain_spin(unsigned int ms)
{
	unsigned long end = cpu_ns() + ms * 1000000ul;

	while (cpu_ns() < end)
		for (volatile int i = 0; i < 100000; i++)
			;
}

/*
 * As the prologue of a function with a large frame, which touches its pages: meanwhile its CFA is
 * by r11. This one counts down from `n` instead.
 */
void spin_by_r11(unsigned long n);
__asm__(".text\n"
	".globl spin_by_r11\n"
	".type spin_by_r11, @function\n"
	"spin_by_r11:\n"
	".cfi_startproc\n"
	"lea -0x2000(%rsp), %r11\n"
	".cfi_def_cfa %r11, 0x2008\n"
	"sub $0x1000, %rsp\n"
	"1: dec %rdi\n"
	"jnz 1b\n"
	"add $0x1000, %rsp\n"
	".cfi_def_cfa %rsp, 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size spin_by_r11, . - spin_by_r11\n");

APART void chain_frame(unsigned int ms)
{
	unsigned long end = cpu_ns() + ms * 1000000ul;

	while (cpu_ns() < end)
		spin_by_r11(100000);
}

APART void chain_read(unsigned int ms)
{
	unsigned long end = cpu_ns() + ms * 1000000ul;
	static char bytes[1 << 20];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	while (cpu_ns() < end)
		if (read(fd, bytes, sizeof(bytes)) != sizeof(bytes))
			abort();
	close(fd);
}

APART void chain_touch(unsigned int n)
{
	char *pages =
		mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		abort();
	madvise(pages, n * PAGE, MADV_NOHUGEPAGE);
	for (unsigned long i = 0; i < n; i++)
		*(volatile char *)(pages + i * PAGE) = 1;
	munmap(pages, n * PAGE);
}

APART void chain_sleep(unsigned int us)
{
	usleep(us);
	NO_TAIL_CALL();
}

static unsigned int levels_left;

APART void chain_recursive(unsigned int ms)
{
	if (levels_left--)
		chain_recursive(ms);
	else
		chain_spin(ms);
	NO_TAIL_CALL();
}

APART void chain_middle(leaf_fn *leaf, unsigned int arg)
{
	leaf(arg);
	NO_TAIL_CALL();
}

APART void chain_outer(leaf_fn *leaf, unsigned int arg)
{
	chain_middle(leaf, arg);
	NO_TAIL_CALL();
}

void chain_of_spin(unsigned int ms)
{
	chain_outer(chain_spin, ms);
}

void chain_of_frames(unsigned int ms)
{
	chain_outer(chain_frame, ms);
}

void chain_of_reads(unsigned int ms)
{
	chain_outer(chain_read, ms);
}

void chain_of_pages(unsigned int n)
{
	chain_outer(chain_touch, n);
}

void chain_of_sleep(unsigned int us)
{
	chain_outer(chain_sleep, us);
}

void chain_of_recursion(unsigned int ms)
{
	levels_left = CHAIN_RECURSION;
	chain_outer(chain_recursive, ms);
}

static void *lock_mappings(void *page)
{
	for (;;)
		if (mprotect(page, PAGE, PROT_READ) || mprotect(page, PAGE, PROT_NONE))
			abort();
}

const char *dropped_text(const char *text)
{
	const uintptr_t page = (uintptr_t)text & ~(PAGE - 1);
	static pthread_t thread;

	if (!thread) {
		void *own = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (own == MAP_FAILED || pthread_create(&thread, NULL, lock_mappings, own))
			abort();
	}
	/* A text has two pages at most. */
	if (madvise((void *)page, 2 * PAGE, MADV_DONTNEED))
		abort();
	return text;
}

const char *absent_text(const char *text, int is_in_program)
{
	int fd = is_in_program ? open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
			       : memfd_create("text", MFD_CLOEXEC);
	size_t len = strlen(text) + 1;
	struct stat st;
	char *at, *found;

	if (!is_in_program && write(fd, text, len) != (ssize_t)len)
		abort();
	if (fstat(fd, &st))
		abort();
	at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		abort();
	found = memmem(at, (size_t)st.st_size, text, len);
	if (!found || madvise(at, (size_t)st.st_size, MADV_DONTNEED))
		abort();
	return found;
}

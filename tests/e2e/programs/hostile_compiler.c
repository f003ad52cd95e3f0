// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * hostile_compiler LIBRARY DROP START END [--crate-name NAME]: has a librustc_driver mapped, and
 * lies in all that a recording reads of a compiler's memory. Addresses are those of `plan --json`:
 * where the query context is dropped, where a query about a DefId starts, and where that ends.
 *
 * Each lie is told by a process of its own, named after it: it executes the query, then drops the
 * context. The instructions at these places run, and what follows them crashes, as there is no
 * compiler; the process goes on after the crash. It prints a line for each lie that was told to the
 * end.
 *
 * Where the compiler's tables are is not known here. So every word of the context, of the globals
 * and of the thread-local memory of the library is an address or a length, in turns, and each lie
 * is told in all eight ways to begin; and in four of them by a process that is killed instead of
 * dropping its context.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONTEXT_BYTES (1u << 18)
#define GLOBALS_BYTES (1u << 16)
#define CONTEXT_WORDS 8 /* of the globals; below what else is read of them */
#define STACK_BYTES   (1u << 20)
#define SYMBOLS	      64u
#define MANY	      (1u << 20)
#define FEW	      16u
#define NOWHERE	      0x10000000000ul
#define KERNEL	      0xffffffff81000000ul
#define THREADS	      8

/* A row of 1.95's table: tag, symbol, disambiguator, parent. */
enum { ROOT = 0, NAMED = 5, NO_PARENT = 0xffffff01 };
enum { KEY = 3, ID = 77 };

/* Ways to tell a lie, in bits; and which of them there are. */
enum { CONTEXT_ODD = 1, GLOBALS_ODD = 2, TEXT_SECOND = 4, IS_KILLED = 8, WAYS = 12 };

struct lie {
	const char *name;
	uint32_t rows;
	uint32_t parent;       /* of row i: i + parent, modulo their number; 0: the root */
	uint64_t count;	       /* claimed; 0: the truth */
	uint64_t table;	       /* the address claimed; 0: the truth */
	uint64_t n_symbols;    /* claimed; 0: the truth */
	uint64_t symbols;      /* the address claimed; 0: the truth */
	uint64_t length;       /* of each text; 0: the truth */
	uint64_t text;	       /* address of each text; 0: the truth */
	int fill;	       /* every byte of everything; 0: none of that, -1: random */
	uint32_t first_symbol; /* of row 0 */
	uint32_t drops, threads;
	uint64_t context; /* the address claimed; 0: the truth */
	int no_globals;
};

static const struct lie lies[] = {
	{.name = "truth"},
	{.name = "cycle", .parent = 1},
	{.name = "self", .parent = FEW},
	{.name = "cycle of all", .rows = MANY, .parent = MANY - 1},
	{.name = "count", .count = 1ul << 63},
	{.name = "all counts", .count = UINT64_MAX},
	{.name = "table nowhere", .table = NOWHERE},
	{.name = "table in kernel", .table = KERNEL},
	{.name = "symbols nowhere", .symbols = NOWHERE},
	{.name = "symbols beyond", .n_symbols = 1ul << 63, .first_symbol = 1u << 30},
	{.name = "texts of 1 GiB", .length = 1ul << 30},
	{.name = "texts of 2^63", .length = 1ul << 63},
	{.name = "texts nowhere", .length = 1ul << 30, .text = NOWHERE},
	{.name = "texts in kernel", .text = KERNEL},
	{.name = "many texts", .rows = MANY, .length = 1024, .n_symbols = MANY},
	{.name = "ones", .fill = 0xff},
	{.name = "random", .fill = -1},
	{.name = "no globals", .no_globals = 1},
	{.name = "context nowhere", .context = NOWHERE},
	{.name = "context in kernel", .context = KERNEL},
	{.name = "context at the end", .context = UINT64_MAX - 7},
	{.name = "again and again", .drops = 100},
	{.name = "large again", .rows = MANY, .drops = 8},
	{.name = "threads", .rows = MANY, .threads = THREADS},
};

static uint64_t base, drop_site, start_site, end_site;
static struct dl_phdr_info library;

static __thread sigjmp_buf back;

static void handle(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

/* Set all registers, and go on at an address. Does not return. */
void enter(uint64_t address, uint64_t sp, uint64_t rdi, uint64_t rsi, uint64_t others);
__asm__(".text\n"
	"enter:\n"
	"	lea	-8(%rsi), %rsp\n"
	"	mov	%rdi, (%rsp)\n"
	"	mov	%rdx, %rdi\n"
	"	mov	%rcx, %rsi\n"
	"	mov	%r8, %rax\n"
	"	mov	%r8, %rbx\n"
	"	mov	%r8, %rcx\n"
	"	mov	%r8, %rdx\n"
	"	mov	%r8, %rbp\n"
	"	mov	%r8, %r9\n"
	"	mov	%r8, %r10\n"
	"	mov	%r8, %r11\n"
	"	mov	%r8, %r12\n"
	"	mov	%r8, %r13\n"
	"	mov	%r8, %r14\n"
	"	mov	%r8, %r15\n"
	"	ret\n");

static void *map(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		abort();
	return at;
}

static void execute(uint64_t address, uint64_t sp, uint64_t rdi, uint64_t rsi, uint64_t others)
{
	const struct itimerval soon = {.it_value.tv_usec = 300000}, never = {};

	if (!sigsetjmp(back, 1)) {
		setitimer(ITIMER_REAL, &soon, NULL);
		enter(base + address, sp, rdi, rsi, others);
	}
	setitimer(ITIMER_REAL, &never, NULL);
}

static uint64_t word(const struct lie *lie, uint32_t i, uint64_t address, uint64_t length)
{
	if (lie->fill > 0)
		return UINT64_MAX / 0xff * (uint64_t)lie->fill;
	if (lie->fill < 0)
		return (uint64_t)mrand48() << 32 ^ (uint64_t)mrand48();
	return i & 1 ? length : address;
}

static void fill(const struct lie *lie, void *at, size_t bytes, uint32_t from, uint64_t address,
		 uint64_t length)
{
	uint64_t *words = at;

	for (uint32_t i = 0; i < bytes / 8; i++)
		words[i] = word(lie, i + from, address, length);
}

static uint64_t make_table(const struct lie *lie, uint32_t n)
{
	uint32_t *rows = map((size_t)n * 16);

	if (lie->fill)
		fill(lie, rows, (size_t)n * 16, 0, 0, 0);
	for (uint32_t i = 0; i < n && !lie->fill; i++) {
		rows[4 * i] = i || lie->parent ? NAMED : ROOT;
		rows[4 * i + 1] = lie->first_symbol + (lie->n_symbols ? i : i % SYMBOLS);
		rows[4 * i + 3] = lie->parent ? (i + lie->parent) % n : i ? 0 : NO_PARENT;
	}
	return (uint64_t)rows;
}

/* Entries of three words, of which two are the address of the text and its length. */
static uint64_t make_symbols(const struct lie *lie, uint32_t first)
{
	uint32_t n = lie->n_symbols == MANY ? MANY : SYMBOLS;
	uint64_t *entries = map((size_t)n * 24);
	char *texts = map(2u << 20);

	memset(texts, 'x', 1u << 20);
	for (uint32_t i = 0; i < n; i++) {
		char *own = texts + (i % SYMBOLS) * 1024;
		uint64_t *entry = entries + 3 * i;

		if (!lie->length)
			sprintf(own, "item%u", i);
		entry[first] = lie->text ?: (uint64_t)own;
		entry[first + 1] = lie->length ?: strlen(own);
	}
	return (uint64_t)entries;
}

static uint64_t context;

static void drop(uint32_t times)
{
	char *stack = map(STACK_BYTES);

	for (uint32_t i = 0; i < times; i++)
		execute(drop_site, (uint64_t)stack + STACK_BYTES / 2, context, 0, 0);
}

static uint64_t globals;

/* Of the library, in this thread. */
static void fill_thread_local(void)
{
	uint64_t *at = library.dlpi_tls_data;
	size_t bytes = 0;

	for (int i = 0; i < library.dlpi_phnum; i++)
		if (library.dlpi_phdr[i].p_type == PT_TLS)
			bytes = library.dlpi_phdr[i].p_memsz;
	for (size_t i = 0; at && i < bytes / 8; i++)
		at[i] = globals;
}

static int find_library(struct dl_phdr_info *info, size_t size, void *name)
{
	(void)size;
	if (!strstr(info->dlpi_name, name))
		return 0;
	library = *info;
	return 1;
}

/* The alarm is for a thread that has somewhere to go back to. */
static void mask_alarm(int how)
{
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(how, &alarm, NULL);
}

static void prepare_thread(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGALRM};
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK | SA_NODEFER};
	const stack_t stack = {.ss_sp = map(STACK_BYTES), .ss_size = STACK_BYTES};

	sigaltstack(&stack, NULL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
	mask_alarm(SIG_UNBLOCK);
	dl_iterate_phdr(find_library, "librustc_driver");
	fill_thread_local();
}

static void execute_query(void)
{
	char *stack = map(STACK_BYTES);
	uint64_t sp = (uint64_t)stack + STACK_BYTES / 2;

	execute(start_site, sp, context, KEY, 0);
	/* The id, in whatever register or slot. */
	for (uint32_t i = STACK_BYTES / 2; i < STACK_BYTES - 8; i += 4)
		memcpy(stack + i, &(uint32_t){ID}, 4);
	execute(end_site, sp + 8, ID, ID, ID);
}

static void *run_thread(void *lie)
{
	prepare_thread();
	drop(((const struct lie *)lie)->drops ?: 1);
	return NULL;
}

static bool is_killed;

/* In a thread: the first one has the library's thread-local memory only once it was used. */
static void *run_query(void *lie)
{
	prepare_thread();
	execute_query();
	if (is_killed)
		raise(SIGKILL);
	drop(((const struct lie *)lie)->drops ?: 1);
	return NULL;
}

static void run(pthread_t *thread, void *(*does)(void *lie), const struct lie *lie)
{
	if (pthread_create(thread, NULL, does, (void *)lie))
		_exit(1);
}

static void tell(const struct lie *lie, unsigned way)
{
	uint32_t n = lie->rows ?: FEW;
	uint64_t table = lie->table ?: make_table(lie, n);
	uint64_t symbols = lie->symbols ?: make_symbols(lie, way & TEXT_SECOND ? 1 : 0);
	pthread_t first, threads[THREADS];

	context = (uint64_t)map(CONTEXT_BYTES);
	fill(lie, (void *)context, CONTEXT_BYTES, way & CONTEXT_ODD ? 1 : 0, table,
	     lie->count ?: n);
	globals = (uint64_t)map(GLOBALS_BYTES);
	fill(lie, (void *)globals, GLOBALS_BYTES, way & GLOBALS_ODD ? 1 : 0, symbols,
	     lie->n_symbols ?: SYMBOLS);
	if (lie->no_globals)
		globals = 0;
	context = lie->context ?: context;
	is_killed = way & IS_KILLED;
	/* The thread-local memory leads here, too, where the compiler has its context at hand. */
	for (uint32_t i = 0; globals && !lie->fill && i < CONTEXT_WORDS; i++)
		((uint64_t *)globals)[i] = context;
	prctl(PR_SET_NAME, lie->name);
	mask_alarm(SIG_BLOCK);
	run(&first, run_query, lie);
	pthread_join(first, NULL);
	for (uint32_t i = 0; i < lie->threads; i++)
		run(&threads[i], run_thread, lie);
	for (uint32_t i = 0; i < lie->threads; i++)
		pthread_join(threads[i], NULL);
}

static int told(const struct lie *lie, unsigned way)
{
	int status, expected = way & IS_KILLED ? SIGKILL : 0;
	pid_t child = fork();

	if (!child) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		tell(lie, way);
		_exit(0);
	}
	waitpid(child, &status, 0);
	printf("%d %u %s: %s\n", child, way, lie->name, status == expected ? "told" : "failed");
	fflush(stdout);
	return status != expected;
}

int main(int argc, char **argv)
{
	struct link_map *loaded;
	int failed = 0;

	if (argc < 5)
		return 2;
	loaded = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
	if (!loaded) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	base = loaded->l_addr;
	drop_site = strtoull(argv[2], NULL, 16);
	start_site = strtoull(argv[3], NULL, 16);
	end_site = strtoull(argv[4], NULL, 16);
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++)
		for (unsigned way = 0; way < WAYS; way++)
			failed += told(&lies[i], way);
	return failed ? 1 : 0;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The process that is looked at is the test itself. */
#include "capture/sampling.h"

#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <sys/mman.h>

#include "test.h"
#include "../fixtures/cache_home.h"
#include "../fixtures/fake_kernel_samples.h"
#include "../fixtures/output.h"
#include "base/clock.h"
#include "plan/file_job.h"
#include "proc/processes.h"

/* Numbers that no process has. */
#define NOBODY 0x40000000
/* As many as the kernel half has room for, and what foreign users may have of it. */
#define FOREIGN_MOST 2048

static struct kernel_samples kernel;
static struct broker *broker;
static struct sampling *sampling;

static char noted[256]; /* why LLVM is not shown */
static uint32_t n_noted;

static int on_record(void *ctx, const struct record *r)
{
	if (r->kind != RECORD_NO_LLVM)
		return 0;
	assert_int_equal(r->pid, getpid());
	snprintf(noted, sizeof(noted), "%s", r->text);
	n_noted++;
	return 0;
}

static const struct session_sink sink = {.take = on_record};

static void send(struct sampling *to, const void *bytes, size_t size)
{
	const struct record r = record_of(bytes, size);

	sampling__take(to, &r);
}

static int begin(void **state)
{
	const struct sampling_options opt = {.hz = 499};

	library_file_settled_ns = 0;
	/* On a busy machine answers may take long. */
	broker_ns = file_job_end_ns = 60000000000;
	if (cache_home_make(state) || broker__new(&broker))
		return -1;
	fake_kernel_samples(&kernel, 32);
	return sampling__open(&opt, &kernel, broker, &sink, 0, &sampling);
}

static int end(void **state)
{
	sampling__free(take_ptr(sampling));
	broker__free(take_ptr(broker));
	close(kernel.area);
	return cache_home_remove(state);
}

static void wait_and_settle(void)
{
	struct pollfd pfd = {.fd = sampling__fd(sampling), .events = POLLIN};

	assert_int_equal(poll(&pfd, 1, -1), 1);
	assert_int_equal(sampling__settle(sampling), 0);
}

static void expect_ourselves(void)
{
	assert_int_equal(sampling__expect(sampling, getpid()), 0);
	while (!sampling__is_ready(sampling, getpid()))
		wait_and_settle();
}

/* The mapping that the kernel half has of an address, or NULL. */
static const struct wire_mapping *mapping_of(const void *addr)
{
	for (uint32_t i = 0; i < WIRE_MAPPINGS_MAX; i++) {
		const struct wire_mapping *m = &fake.mappings.items[i];

		if ((uintptr_t)addr >= m->start && (uintptr_t)addr < m->end)
			return m;
	}
	return NULL;
}

struct loaded_at {
	const void *addr;
	uint64_t base;
};

static int find_base(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct loaded_at *at = ctx;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		uint64_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    (uintptr_t)at->addr - start < info->dlpi_phdr[i].p_memsz)
			at->base = info->dlpi_addr;
	}
	return 0;
}

/* Where the dynamic loader put a file is what is subtracted from its addresses. */
static void assert_mapped(const void *addr)
{
	const struct wire_mapping *m = mapping_of(addr);
	struct loaded_at at = {.addr = addr, .base = UINT64_MAX};

	assert_non_null(m);
	dl_iterate_phdr(find_base, &at);
	assert_int_equal(m->bias, at.base);
	assert_in_range(m->file, 1, FAKE_FILES_MAX - 1);
	assert_true(fake.files[m->file].pages > 0);
}

TEST_CASE_WITH(code_of_a_process_is_mapped, begin, end)
{
	const struct wire_mapping *items = fake.mappings.items;

	expect_ourselves();
	assert_int_equal(fake.mappings.pid, getpid());
	assert_mapped((const void *)(uintptr_t)expect_ourselves);
	assert_mapped((const void *)(uintptr_t)dl_iterate_phdr);
	/* As the kernel half searches them. */
	for (uint32_t i = 0; i < WIRE_MAPPINGS_MAX; i++) {
		if (items[i].start == WIRE_MAPPING_NONE)
			assert_int_equal(items[i].end, 0);
		else
			assert_true(items[i].start < items[i].end);
		assert_true(!i || items[i].start == WIRE_MAPPING_NONE ||
			    items[i - 1].end <= items[i].start);
	}
}

TEST_CASE_WITH(other_processes_are_ready, begin, end)
{
	assert_true(sampling__is_ready(sampling, getpid()));
	assert_int_equal(sampling__expect(sampling, NOBODY), 0);
	assert_true(sampling__is_ready(sampling, NOBODY));
	assert_int_equal(fake.n_mappings, 0);
}

static void send_exec(uint64_t time_ns)
{
	const struct wire_exec e = {
		.type = WIRE_EXEC, .pid = (uint32_t)getpid(), .time_ns = time_ns};

	send(sampling, &e, sizeof(e));
}

/* The kernel half has forgotten the old program; this half wrote it again, or looks at the new. */
TEST_CASE_WITH(an_exec_ends_what_was_before, begin, end)
{
	uint64_t before_ns = clock_ns(CLOCK_MONOTONIC);

	expect_ourselves();
	send_exec(before_ns);
	assert_int_equal(fake.n_removed, 0);
	send_exec(clock_ns(CLOCK_MONOTONIC));
	assert_int_equal(fake.n_removed, 1);
	assert_int_equal(fake.removed[0], getpid());
	send_exec(clock_ns(CLOCK_MONOTONIC));
	assert_int_equal(fake.n_removed, 1);
}

TEST_CASE_WITH(the_end_of_a_process_is_the_end, begin, end)
{
	const struct wire_exit e = {.type = WIRE_EXIT, .pid = (uint32_t)getpid()};
	const struct wire_exit other = {.type = WIRE_EXIT, .pid = NOBODY};

	expect_ourselves();
	send(sampling, &other, sizeof(other));
	/* Not an exit. */
	send(sampling, &e, sizeof(e) - 1);
	send(sampling, &e, 0);
	assert_int_equal(fake.n_removed, 0);
	send(sampling, &e, sizeof(e));
	assert_int_equal(fake.n_removed, 1);
	assert_int_equal(fake.removed[0], getpid());
}

static void *map_code(size_t *size)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *at;

	assert_true(fd >= 0);
	*size = (size_t)lseek(fd, 0, SEEK_END);
	at = mmap(NULL, *size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	close(fd);
	return at;
}

static void send_sample(enum wire_sample_cut cut)
{
	const struct wire_sample s = {
		.type = WIRE_SAMPLE, .pid = (uint32_t)getpid(), .cut = (uint8_t)cut};

	send(sampling, &s, offsetof(struct wire_sample, frames));
}

/* Only a sample says that the sink knows the process by now. */
TEST_CASE_WITH(why_llvm_is_not_shown_comes_with_a_sample, begin, end)
{
	char path[256], command[512];
	void *at;
	int fd;

	snprintf(path, sizeof(path), "%s/librustc_codegen_gcc.so", cache_home);
	snprintf(command, sizeof(command), "cp /proc/%d/exe %s", getpid(), path);
	assert_int_equal(system(command), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	at = mmap(NULL, 65536, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	close(fd);
	n_noted = 0;
	expect_ourselves();
	assert_int_equal(n_noted, 0);
	send_sample(WIRE_CUT_NOT);
	send_sample(WIRE_CUT_NOT);
	assert_int_equal(n_noted, 1);
	assert_string_equal(noted, "librustc_codegen_gcc.so generates code, not LLVM");
	munmap(at, 65536);
}

/* A stack that ended there says that more is mapped, and so may somebody who watches mappings. */
TEST_CASE_WITH(new_code_is_found, begin, end)
{
	uint32_t n;
	size_t size;
	void *at;

	expect_ourselves();
	at = map_code(&size);
	n = fake.n_mappings;
	send_sample(WIRE_CUT_NO_RULE);
	assert_int_equal(sampling__settle(sampling), 0);
	assert_int_equal(fake.n_mappings, n);
	send_sample(WIRE_CUT_NO_MAP);
	while (fake.n_mappings == n)
		wait_and_settle();
	munmap(at, size);
	n = fake.n_mappings;
	sampling__mapped(sampling, getpid());
	while (fake.n_mappings == n)
		wait_and_settle();
}

/* They are killed before they are followed, so there is no record of their end. */
TEST_CASE_WITH(processes_that_are_gone_make_room, begin, end)
{
	_output_ struct output o = {};

	/* A process whose user is unknown counts for the kernel's nobody. */
	if (getuid() == PROCESS_USER_UNKNOWN)
		skip();
	output_begin(&o);
	for (int i = 0; i <= FOREIGN_MOST; i++)
		sampling__expect(sampling, NOBODY + i);
	output_end(&o);
	assert_string_equal(o.text[1], "");
	assert_int_equal(fake.n_removed, FOREIGN_MOST);
}

TEST_CASE_WITH(without_perf_events_there_may_be_waits, begin, end)
{
	const struct sampling_options opt = {.off_cpu = true};

	assert_int_equal(sampling__start(sampling), -ENODATA);
	sampling__free(take_ptr(sampling));
	kernel.waits = true;
	assert_int_equal(sampling__open(&opt, &kernel, broker, &sink, 0, &sampling), 0);
	assert_int_equal(sampling__start(sampling), 0);
	sampling__stop(sampling);
}

TEST_CASE(a_session_without_samples_has_none)
{
	const struct wire_exit e = {.type = WIRE_EXIT, .pid = 1};
	uint64_t counters[WIRE_COUNTER_MAX] = {0};

	assert_int_equal(sampling__expect(NULL, 1), 0);
	assert_int_equal(sampling__expect_running(NULL, 1), 0);
	assert_true(sampling__is_ready(NULL, 1));
	sampling__mapped(NULL, 1);
	send(NULL, &e, sizeof(e));
	assert_int_equal(sampling__settle(NULL), 0);
	assert_int_equal(sampling__fd(NULL), -1);
	sampling__stop(NULL);
	sampling__count(NULL, counters);
	sampling__free(NULL);
}

TEST_MAIN(NULL, NULL)

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Samples of a thread with a list as LLVM keeps it. A list that lies in any field makes the
 * sample's pass and function unknown, which is counted; the sample comes all the same, and the list
 * behind it is read again.
 */
#include "llvm_of_target.h"
#include "sampled_target.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <gelf.h>

/* The file's number, once it is known. */
static uint32_t target_number(void)
{
	for (uint32_t i = 1; i < MOST_FILES; i++)
		if (w.files[i] && !strcmp(w.files[i], w.c.target))
			return i;
	return 0;
}

static uint64_t address(const char *symbol)
{
	return address_of(w.syms, w.n_syms, symbol);
}

static uint64_t constant(const char *symbol)
{
	size_t len;
	const uint8_t *p = elf_image__code(w.img, address(symbol), &len);
	uint64_t value;

	assert_true(p && len >= sizeof(value));
	memcpy(&value, p, sizeof(value));
	return value;
}

/* A program's thread-local memory ends where the thread's base is. */
static uint64_t memory_before_base(void)
{
	_close_ int fd = open(w.c.target, O_RDONLY | O_CLOEXEC);
	uint64_t size = 0;
	GElf_Phdr p;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	assert_non_null(elf);
	for (int i = 0; gelf_getphdr(elf, i, &p); i++)
		if (p.p_type == PT_TLS)
			size = (p.p_memsz + p.p_align - 1) / p.p_align * p.p_align;
	elf_end(elf);
	assert_true(size > 0);
	return size;
}

static struct wire_llvm layout_of(enum llvm_lie lie)
{
	bool components =
		lie == LLVM_COMPONENT || lie == LLVM_RELEASES_IN_COMPONENT || lie >= LLVM_LIES;
	uint64_t vtables = address("llvm_vtables");

	return (struct wire_llvm){
		.module = address(lie == LLVM_NO_MEMORY ? "llvm_no_module" : "llvm_module"),
		.size = 1ul << 32,
		.vtables = {vtables, vtables + 1, vtables + 2},
		.head = memory_before_base() + constant("llvm_head_offset"),
		.next = LLVM_NEXT,
		.pass = {LLVM_PASS, LLVM_PASS, LLVM_LEGACY_PASS},
		.unit = {LLVM_UNIT, LLVM_UNIT, LLVM_UNIT},
		.kind_at = LLVM_KIND_AT,
		.kind = LLVM_KIND,
		.named_at = LLVM_NAMED_AT,
		.named = LLVM_NAMED,
		.type_at = LLVM_TYPE_AT,
		.length = LLVM_LENGTH,
		.bytes = LLVM_BYTES,
		.context = LLVM_CONTEXT,
		.impl = LLVM_IMPL,
		.names = LLVM_NAMES,
		.count = LLVM_COUNT,
		.passes_return = components ? address("asked_for_pass") : 0,
		.component = LLVM_COMPONENT_AT,
		.nodes = LLVM_NODES,
		.node_function = LLVM_NODE_FUNCTION,
	};
}

static void tell_layout(enum llvm_lie lie)
{
	const struct wire_llvm layout = layout_of(lie);
	uint32_t number = target_number();
	struct kernel_samples k;

	assert_true(number && kernel__samples(w.c.kernel, &k) && k.llvm >= 0);
	assert_int_equal(bpf_map_update_elem(k.llvm, &number, &layout, BPF_ANY), 0);
	k.llvm_files[number] = wire_place(number, layout.passes_return);
}

/* A sample of the chain that spins; NULL: there is none. */
static const struct wire_sample *sample_in_chain(void)
{
	for (size_t i = 0; i < w.n; i++)
		if (find(&w.samples[i], 0, "chain_spin") < w.samples[i].n)
			return &w.samples[i];
	return NULL;
}

/* Spin with that list until there was a sample. All samples there are alike. */
static const struct wire_sample *sample_of(enum llvm_lie lie)
{
	const struct wire_sample *s = NULL;
	char script[32];

	snprintf(script, sizeof(script), ".%%%d(F30)", lie);
	tell_layout(lie);
	for (int i = 0; i < TRIES && !s; i++) {
		end_run();
		w.n_names = 0;
		w.c.got.n_execs = w.c.got.n_exits = 0;
		run_once(script);
		s = sample_in_chain();
	}
	assert_non_null(s);
	for (size_t i = 0; i < w.n; i++)
		if (find(&w.samples[i], 0, "chain_spin") < w.samples[i].n) {
			assert_int_equal(w.samples[i].llvm, s->llvm);
			assert_int_equal(w.samples[i].llvm_function, s->llvm_function);
		}
	return s;
}

static void open_llvm(void)
{
	w.keys = true;
	open_with(&(struct sampling_options){.hz = HZ});
	/* The user half finds the program's file. */
	run_once(".F1");
}

/* The name comes once, however many samples have it. */
static void assert_named(const struct wire_sample *s, const char *name)
{
	assert_int_not_equal(s->llvm_function, 0);
	assert_int_equal(w.n_names, 1);
	assert_int_equal(w.names[0].number, s->llvm_function);
	assert_int_equal(w.names[0].pid, w.c.pid);
	assert_int_equal(w.names[0].size, strlen(name));
	assert_memory_equal(w.names[0].bytes, name, strlen(name));
}

static void assert_pass(const struct wire_sample *s)
{
	assert_int_equal(s->llvm_pass, wire_place(target_number(), address("llvm_vtables") + 4));
}

TEST_CASE_WITH(a_sample_has_the_pass_and_the_function, NULL, teardown)
{
	static const enum llvm_lie same[] = {LLVM_TRUTH, LLVM_OTHER_ENTRY, LLVM_COLLIDING};
	const struct wire_sample *s;

	need_capture();
	open_llvm();
	for (size_t i = 0; i < N_OF(same); i++) {
		s = sample_of(same[i]);
		assert_int_equal(s->llvm, WIRE_LLVM_FUNCTION);
		assert_named(s, LLVM_INNER);
		assert_pass(s);
		assert_int_equal(w.c.counters[WIRE_LOST_LLVM], 0);
	}
}

TEST_CASE_WITH(of_legacy_entries_the_outermost_value_counts, NULL, teardown)
{
	const struct wire_sample *s;

	need_capture();
	open_llvm();
	s = sample_of(LLVM_LEGACIES);
	assert_int_equal(s->llvm, WIRE_LLVM_FUNCTION | WIRE_LLVM_CODEGEN);
	assert_named(s, LLVM_OUTER);
	assert_pass(s);
	s = sample_of(LLVM_RELEASING);
	assert_int_equal(s->llvm, WIRE_LLVM_MODULE | WIRE_LLVM_CODEGEN);
	assert_int_equal(s->llvm_function, 0);
	assert_pass(s);
	assert_int_equal(w.c.counters[WIRE_LOST_LLVM], 0);
}

TEST_CASE_WITH(without_a_function_the_scope_is_another, NULL, teardown)
{
	const struct wire_sample *s;

	need_capture();
	open_llvm();
	s = sample_of(LLVM_OF_MODULE);
	assert_int_equal(s->llvm, WIRE_LLVM_MODULE);
	assert_pass(s);
	s = sample_of(LLVM_EMPTY_LIST);
	assert_int_equal(s->llvm, WIRE_LLVM_NONE);
	assert_int_equal(s->llvm_pass, 0);
	s = sample_of(LLVM_NO_MEMORY);
	assert_int_equal(s->llvm, WIRE_LLVM_NONE);
	s = sample_of(LLVM_UNNAMED);
	assert_int_equal(s->llvm, WIRE_LLVM_FUNCTION);
	assert_int_equal(s->llvm_function, 0);
	assert_int_equal(w.n_names, 0);
	assert_int_equal(w.c.counters[WIRE_LOST_LLVM], 0);
}

TEST_CASE_WITH(of_a_component_the_first_function_is_known, NULL, teardown)
{
	const struct wire_sample *s;

	need_capture();
	open_llvm();
	s = sample_of(LLVM_COMPONENT);
	assert_int_equal(s->llvm, WIRE_LLVM_COMPONENT);
	assert_named(s, LLVM_INNER);
	assert_pass(s);
	for (int i = LLVM_LIES; i < LLVM_CASES; i++) {
		s = sample_of((enum llvm_lie)i);
		if (s->llvm != WIRE_LLVM_COMPONENT || s->llvm_function || w.n_names)
			fail_msg("case %d has a function, or is in no component", i);
		assert_pass(s);
	}
	s = sample_of(LLVM_RELEASES_IN_COMPONENT);
	assert_int_equal(s->llvm, WIRE_LLVM_MODULE | WIRE_LLVM_CODEGEN);
	assert_int_equal(w.c.counters[WIRE_LOST_LLVM], 0);
}

TEST_CASE_WITH(a_name_has_up_to_2047_bytes, NULL, teardown)
{
	char name[LLVM_LONGEST + 1] = {0};

	need_capture();
	open_llvm();
	memset(name, 'x', LLVM_LONGEST);
	assert_named(sample_of(LLVM_LONG_NAME), name);
}

TEST_CASE_WITH(a_list_that_lies_is_unknown_and_counted, NULL, teardown)
{
	const struct wire_sample *s;

	need_capture();
	open_llvm();
	for (int lie = LLVM_TRUTHS; lie < LLVM_LIES; lie++) {
		s = sample_of((enum llvm_lie)lie);
		if (s->llvm)
			fail_msg("lie %d is believed", lie);
		assert_int_equal(s->llvm_function, 0);
		assert_int_equal(s->llvm_pass, 0);
		assert_int_equal(w.n_names, 0);
		assert_true(w.c.counters[WIRE_LOST_LLVM] > 0);
		assert_int_equal(kernel__reset_counters(w.c.kernel), 0);
	}
	assert_named(sample_of(LLVM_TRUTH), LLVM_INNER);
}

/* The process is another one, although it has the same function. */
TEST_CASE_WITH(each_process_has_names_of_its_own, NULL, teardown)
{
	uint64_t first;

	need_capture();
	open_llvm();
	first = sample_of(LLVM_TRUTH)->llvm_function;
	assert_int_not_equal(sample_of(LLVM_TRUTH)->llvm_function, first);
	assert_int_equal(w.n_names, 1);
}

TEST_CASE_WITH(without_keys_functions_have_no_names, NULL, teardown)
{
	const struct wire_sample *s;

	need_capture();
	open_with(&(struct sampling_options){.hz = HZ});
	run_once(".F1");
	s = sample_of(LLVM_TRUTH);
	assert_int_equal(s->llvm, WIRE_LLVM_FUNCTION);
	assert_int_equal(s->llvm_function, 0);
	assert_int_equal(w.n_names, 0);
	assert_pass(s);
}

/* No file has a layout. */
TEST_CASE_WITH(other_programs_have_no_list, NULL, teardown)
{
	need_capture();
	open_with(&(struct sampling_options){.hz = HZ});
	sample_chain(".%0(F30)", "chain_spin", WIRE_SAMPLE_CPU);
	for (size_t i = 0; i < w.n; i++)
		assert_int_equal(w.samples[i].llvm, WIRE_LLVM_UNKNOWN);
	assert_int_equal(w.c.counters[WIRE_LOST_LLVM], 0);
}

TEST_MAIN(make_cache, remove_cache)

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The programs as this kernel loads them: their stacks, and features that its types lack. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "base/array.h"
#include "capture.h"
#include "capture/kernel_load.h"
#include "capture/loads.h"
#include "capture/uprobe_multi.h"
#include "execs.skel.h"
#include "qprof.skel.h"

#define MAX_PROGRAM (1 << 20)

/*
 * "add r9, gs:[this_cpu_off]": how the x86 JIT begins a function whose frame is a private stack
 * (emit_priv_frame_ptr() in arch/x86/net/bpf_jit_comp.c, since 6.13).
 */
static const uint8_t PRIVATE_STACK[] = {0x65, 0x4c, 0x03, 0x0c, 0x25};

/* The number of the program's functions with a private stack; -1 if the kernel hides the code. */
static int count_private_stacks(int prog)
{
	_free_ uint8_t *code = malloc(MAX_PROGRAM);
	struct bpf_prog_info info = {
		.jited_prog_len = MAX_PROGRAM,
		.jited_prog_insns = (uintptr_t)code,
	};
	uint32_t size = sizeof(info);
	const uint8_t *at = code, *end;
	int n = 0;

	assert_non_null(code);
	assert_int_equal(bpf_obj_get_info_by_fd(prog, &info, &size), 0);
	if (!info.jited_prog_insns || !info.jited_prog_len)
		return -1;
	assert_in_range(info.jited_prog_len, 1, MAX_PROGRAM);
	end = code + info.jited_prog_len;
	while ((at = memmem(at, (size_t)(end - at), PRIVATE_STACK, sizeof(PRIVATE_STACK)))) {
		at++;
		n++;
	}
	return n;
}

/* A uprobe program with a frame of `bytes`. */
static int load_with_frame(int16_t bytes)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_10, .off = -bytes},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int prog = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "frame", "GPL", insns, 3, NULL);

	assert_true(prog >= 0);
	return prog;
}

/* Load all programs, with the kernel's types or those of the file `btf`. */
static struct qprof_bpf *load_all(const char *btf)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = btf);
	struct qprof_bpf *skel;

	assert_int_equal(programs__register(), 0);
	skel = qprof_bpf__open_opts(&opts);
	assert_non_null(skel);
	if (uprobe_multi_is_available()) {
		int type = uprobe_multi_attach_type();

		bpf_program__set_expected_attach_type(skel->progs.qprof_site, type);
		bpf_program__set_expected_attach_type(skel->progs.qprof_label_site, type);
	}
	assert_int_equal(qprof_bpf__load(skel), 0);
	return skel;
}

/* False if the kernel hides the code. */
static bool have_no_private_stack(const struct bpf_object *obj)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, obj)
	{
		int n = count_private_stacks(bpf_program__fd(prog));

		if (n < 0)
			return false;
		if (n)
			print_message("%s has %d\n", bpf_program__name(prog), n);
		assert_int_equal(n, 0);
	}
	return true;
}

/*
 * A private stack exists once per CPU, but a uprobe's program can be preempted. The next program on
 * this CPU overwrites the stack, and the first one continues with the remains.
 */
TEST_CASE(no_function_has_a_private_stack)
{
	struct execs_bpf *execs;
	struct qprof_bpf *skel;
	bool shown;

	need_capture();
	skel = load_all(NULL);
	execs = execs_bpf__open_and_load();
	assert_non_null(execs);
	shown = have_no_private_stack(skel->obj) && have_no_private_stack(execs->obj);
	execs_bpf__destroy(execs);
	qprof_bpf__destroy(skel);
	if (!shown) {
		print_message("skipped: this kernel does not show its code "
			      "(kernel.kptr_restrict, net.core.bpf_jit_enable)\n");
		skip();
	}
}

/* Linux 6.13 and later; only the version number shows it. */
static bool has_private_stacks(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname name;

	assert_int_equal(uname(&name), 0);
	assert_int_equal(sscanf(name.release, "%u.%u", &major, &minor), 2);
	return major > 6 || (major == 6 && minor >= 13);
}

/* Checks the detection: a frame of 64 bytes gets a private stack on kernels that have them. */
TEST_CASE(private_stacks_begin_above_our_limit)
{
	int at_limit, above, n;

	need_capture();
	at_limit = load_with_frame(48);
	above = load_with_frame(64);
	n = count_private_stacks(above);
	print_message("a frame of 64 bytes: %s\n", n > 0   ? "private stack"
						   : n < 0 ? "not shown"
							   : "the thread's own stack");
	assert_true(count_private_stacks(at_limit) <= 0);
	if (n >= 0 && has_private_stacks())
		assert_int_equal(n, 1);
	close(at_limit);
	close(above);
}

/* ---- What is attached to some kernels only --------------------------------------------------- */

struct exits {
	uint32_t n;
	struct wire_exit last;
};

static int on_exit_record(void *ctx, void *data, size_t size)
{
	struct exits *e = ctx;

	assert_int_equal(*(const uint8_t *)data, WIRE_EXIT);
	assert_int_equal(size, sizeof(e->last));
	memcpy(&e->last, data, size);
	e->n++;
	return 0;
}

/* A process that exits once something is written to *go. */
static pid_t begin_to_exit(int *go)
{
	int pipes[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		close(pipes[1]);
		_exit(read(pipes[0], &byte, 1) == 1 ? 3 : 4);
	}
	close(pipes[0]);
	*go = pipes[1];
	return pid;
}

/* As the kernel half does when it finds the process, and its thread has the first hit. */
static void follow(struct qprof_bpf *skel, pid_t pid)
{
	const uint32_t tgid = (uint32_t)pid, target = 0;
	_free_ void *stack = calloc(1, bpf_map__value_size(skel->maps.stacks));
	_close_ int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	assert_true(stack && pidfd >= 0);
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(skel->maps.targets), &tgid, &target, 0),
			 0);
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(skel->maps.stacks), &pidfd, stack, 0), 0);
}

/* Neither program of the exit runs: its record is sent at the last switch. */
TEST_CASE(the_last_switch_makes_up_for_an_exit)
{
	struct exits seen = {0};
	struct ring_buffer *ring;
	struct qprof_bpf *skel;
	_close_ int go = -1;
	int status;
	pid_t pid;

	need_capture();
	skel = load_all(NULL);
	ring = ring_buffer__new(bpf_map__fd(skel->maps.ring), on_exit_record, &seen, NULL);
	assert_non_null(ring);
	skel->links.on_last_switch = bpf_program__attach(skel->progs.on_last_switch);
	assert_non_null(skel->links.on_last_switch);
	pid = begin_to_exit(&go);
	follow(skel, pid);
	assert_int_equal(ring_buffer__consume(ring), 0);
	assert_int_equal(write(go, "", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	/* The parent is told before that switch. */
	for (int i = 0; i < 6000 && !seen.n; i++) {
		usleep(10000);
		ring_buffer__consume(ring);
	}
	assert_int_equal(seen.n, 1);
	assert_int_equal(seen.last.pid, pid);
	assert_int_equal(seen.last.exit_code, 3 << 8);
	ring_buffer__free(ring);
	qprof_bpf__destroy(skel);
}

#define MAX_TYPES (64 << 20)

/* The types of the running kernel; the caller frees them. */
static char *read_types(size_t *n)
{
	_fclose_ FILE *from = fopen("/sys/kernel/btf/vmlinux", "re");
	char *types = malloc(MAX_TYPES);

	assert_non_null(from);
	assert_non_null(types);
	*n = fread(types, 1, MAX_TYPES, from);
	assert_in_range(*n, 1, MAX_TYPES - 1);
	return types;
}

/* Calls of kernel functions that are not helpers. */
static int count_kernel_calls(int prog)
{
	_free_ struct bpf_insn *insns = malloc(MAX_PROGRAM);
	struct bpf_prog_info info = {
		.xlated_prog_len = MAX_PROGRAM,
		.xlated_prog_insns = (uintptr_t)insns,
	};
	uint32_t size = sizeof(info);
	int n = 0;

	assert_non_null(insns);
	assert_int_equal(bpf_obj_get_info_by_fd(prog, &info, &size), 0);
	for (uint32_t i = 0; i < info.xlated_prog_len / sizeof(*insns); i++)
		n += insns[i].code == (BPF_JMP | BPF_CALL) &&
		     insns[i].src_reg == BPF_PSEUDO_KFUNC_CALL;
	return n;
}

/* Otherwise a thread that is preempted in a look-up makes other threads lose hits (bpf/maps.h). */
TEST_CASE(look_ups_disable_preemption_where_they_can)
{
	static const char NAME[] = "\0bpf_preempt_disable";
	_free_ char *types = NULL;
	struct qprof_bpf *skel;
	size_t n;
	bool can;

	need_capture();
	types = read_types(&n);
	can = memmem(types, n, NAME, sizeof(NAME));
	print_message("this kernel %s bpf_preempt_disable()\n", can ? "has" : "does not have");
	skel = load_all(NULL);
	assert_int_equal(count_kernel_calls(bpf_program__fd(skel->progs.qprof_site)) > 0, can);
	assert_int_equal(count_kernel_calls(bpf_program__fd(skel->progs.qprof_label_site)) > 0,
			 can);
	qprof_bpf__destroy(skel);
}

/* Write the types of the running kernel to a file, with one field renamed. */
static void write_types_without(const char *field, char path[32])
{
	_free_ char *types = NULL, *name = NULL;
	size_t n, len;
	char *at;
	int fd;

	types = read_types(&n);
	/* Strings are NUL-terminated and unique. */
	len = strlen(field) + 2;
	name = calloc(1, len);
	assert_non_null(name);
	memcpy(name + 1, field, len - 2);
	at = memmem(types, n, name, len);
	assert_non_null(at);
	at[1] = '_';
	strcpy(path, "/tmp/qprof-types-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, types, n), n);
	close(fd);
}

static uint32_t ask_what_is_missing(const char *btf)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	struct qprof_bpf *skel = load_all(btf);
	uint32_t missing;

	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(skel->progs.find_missing), &run),
			 0);
	missing = skel->bss->missing;
	qprof_bpf__destroy(skel);
	return missing;
}

TEST_CASE(this_kernel_lacks_nothing)
{
	need_capture();
	assert_int_equal(ask_what_is_missing(NULL), 0);
}

TEST_CASE(a_missing_field_turns_off_its_feature_only)
{
	static const struct {
		const char *field;
		uint32_t missing;
	} cases[] = {
		{"arg_start", WIRE_MISSING_ARGUMENTS},
		{"group_exit_code", WIRE_MISSING_STATUS},
		{"vm_end", WIRE_MISSING_STACKS},
		{"live", WIRE_MISSING_LAST_THREAD},
	};

	need_capture();
	for (size_t i = 0; i < N_OF(cases); i++) {
		char path[32];

		write_types_without(cases[i].field, path);
		assert_int_equal(ask_what_is_missing(path), cases[i].missing);
		unlink(path);
	}
}

static void spoil(struct bpf_program *prog)
{
	size_t n = bpf_program__insn_cnt(prog);
	_free_ struct bpf_insn *insns = calloc(n, sizeof(*insns));

	assert_non_null(insns);
	memcpy(insns, bpf_program__insns(prog), n * sizeof(*insns));
	insns[n - 1].code = 0xff;
	assert_int_equal(bpf_program__set_insns(prog, insns, n), 0);
}

static size_t length_of(const struct bpf_program *prog)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &size), 0);
	return info.xlated_prog_len / sizeof(struct bpf_insn);
}

/* Load it all in threads; `spoilt`: with a program that the kernel refuses. */
static int load_in_threads(bool spoilt, size_t *length)
{
	struct qprof_bpf *skel;
	int err;

	assert_int_equal(programs__register(), 0);
	skel = qprof_bpf__open();
	assert_non_null(skel);
	if (spoilt)
		spoil(skel->progs.on_exec);
	loads__begin();
	err = qprof_bpf__load(skel);
	err = loads__end(err) ?: err;
	*length = err ? 0 : length_of(skel->progs.on_exec);
	qprof_bpf__destroy(skel);
	return err;
}

TEST_CASE(programs_are_loaded_in_threads)
{
	size_t length;

	need_capture();
	assert_int_equal(load_in_threads(true, &length), -EINVAL);
	assert_int_equal(load_in_threads(false, &length), 0);
	/* Two instructions stood in its place. */
	assert_true(!length || length > 100);
}

TEST_MAIN(NULL, NULL)

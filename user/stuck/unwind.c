// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/unwind.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/array.h"

struct unwinder {
	pid_t pid;
	struct look *look;
	Dwfl *dwfl;
	bool attached;
	const struct stopped *stopped; /* valid during unwinder__walk() */
	struct calls *out;
	int err;
};

/* Skip separate debug information: the search takes time, and nothing shown here needs it. */
static int find_no_debuginfo(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base,
			     const char *file, const char *link, GElf_Word crc, char **path)
{
	(void)mod, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc;
	(void)path;
	return -1;
}

/* Opening a file of the process may block for ever, so the look child opens it. */
static int find_elf(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base, char **path,
		    Elf **elf)
{
	_library_file_ struct library_file *file = NULL;
	const struct unwinder *u = *data;
	int fd;

	if (name[0] != '/')
		return dwfl_linux_proc_find_elf(mod, data, name, base, path, elf);
	if (!u || look__file(u->look, u->pid, name, &file))
		return -1;
	fd = fcntl(library_file__fd(file), F_DUPFD_CLOEXEC, 3);
	if (fd >= 0)
		*path = strdup(name);
	return fd;
}

static const Dwfl_Callbacks modules = {
	.find_elf = find_elf,
	.find_debuginfo = find_no_debuginfo,
};

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	struct unwinder *u = arg;

	(void)dwfl;
	if (*thread_arg)
		return 0;
	*thread_arg = u;
	return u->stopped->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	struct unwinder *u = arg;

	(void)dwfl;
	*thread_arg = u;
	return tid == u->stopped->tid;
}

/*
 * Read copied memory only, because the thread has continued and its memory has changed. The unwind
 * tables come from the files.
 */
static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *result, void *arg)
{
	struct unwinder *u = arg;
	uint64_t value;

	(void)dwfl;
	if (!stopped__read(u->stopped, addr, &value)) {
		u->out->missing = addr;
		return false;
	}
	*result = value;
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	struct unwinder *u = arg;
	Dwarf_Word words[STOPPED_REGISTERS];

	for (int i = 0; i < STOPPED_REGISTERS; i++)
		words[i] = u->stopped->registers[i];
	return dwfl_thread_state_registers(thread, 0, STOPPED_REGISTERS, words);
}

static const Dwfl_Thread_Callbacks threads = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

static void place_call(struct unwinder *u, struct call *c)
{
	Dwfl_Module *mod = dwfl_addrmodule(u->dwfl, c->pc);
	GElf_Addr bias = 0;

	if (!mod || !dwfl_module_getelf(mod, &bias))
		return;
	c->addr = c->pc - bias;
	dwfl_module_info(mod, NULL, NULL, NULL, NULL, NULL, &c->path, NULL);
}

static void keep_registers(Dwfl_Frame *frame, struct call *c)
{
	static const unsigned int numbers[CALL_PRESERVED] = {3, 6, 12, 13, 14, 15};

	for (int i = 0; i < CALL_PRESERVED; i++) {
		Dwarf_Word value;

		if (dwfl_frame_reg(frame, numbers[i], &value))
			continue;
		c->preserved[i] = value;
		c->known |= 1u << i;
	}
}

static int on_frame(Dwfl_Frame *frame, void *arg)
{
	struct unwinder *u = arg;
	struct calls *out = u->out;
	struct call c = {};
	Dwarf_Addr pc;
	Dwarf_Word sp;
	bool activation;

	if (!dwfl_frame_pc(frame, &pc, &activation) || dwfl_frame_reg(frame, STOPPED_SP, &sp))
		return DWARF_CB_ABORT;
	if (out->n == UNWIND_MOST)
		return DWARF_CB_ABORT;
	u->err = array__reserve_one(&out->items, out->n, &out->capacity, sizeof(*out->items));
	if (u->err)
		return DWARF_CB_ABORT;
	c.pc = activation ? pc : pc - 1;
	c.sp = sp;
	place_call(u, &c);
	keep_registers(frame, &c);
	out->items[out->n++] = c;
	out->missing = 0;
	return DWARF_CB_OK;
}

static int set_unwinder(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base, void *arg)
{
	(void)mod, (void)name, (void)base;
	*data = arg;
	return DWARF_CB_OK;
}

int unwinder__new(pid_t pid, struct look *look, struct unwinder **out)
{
	_unwinder_ struct unwinder *u = calloc(1, sizeof(*u));
	int err;

	if (!u)
		return -ENOMEM;
	u->pid = pid;
	u->look = look;
	u->dwfl = dwfl_begin(&modules);
	err = u->dwfl ? unwinder__refresh(u) : -ENOMEM;
	if (err)
		return err;
	*out = take_ptr(u);
	return 0;
}

int unwinder__refresh(struct unwinder *u)
{
	int err;

	dwfl_report_begin(u->dwfl);
	err = dwfl_linux_proc_report(u->dwfl, u->pid);
	dwfl_report_end(u->dwfl, NULL, NULL);
	if (err)
		return err > 0 ? -err : -EIO;
	dwfl_getmodules(u->dwfl, set_unwinder, u, 0);
	if (!u->attached && !dwfl_attach_state(u->dwfl, NULL, u->pid, &threads, u))
		return -ENOTSUP;
	u->attached = true;
	return 0;
}

int unwinder__walk(struct unwinder *u, const struct stopped *s, struct calls *out)
{
	int failed;

	*out = (struct calls){0};
	u->stopped = s;
	u->out = out;
	u->err = 0;
	failed = dwfl_getthread_frames(u->dwfl, s->tid, on_frame, u);
	out->whole = !failed;
	return u->err;
}

const char *unwinder__symbol(struct unwinder *u, uint64_t pc)
{
	Dwfl_Module *mod = dwfl_addrmodule(u->dwfl, pc);

	return mod ? dwfl_module_addrname(mod, pc) : NULL;
}

void calls__clear(struct calls *c)
{
	free(c->items);
	*c = (struct calls){0};
}

void unwinder__free(struct unwinder *u)
{
	if (!u)
		return;
	dwfl_end(u->dwfl);
	free(u);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "libdw_walk.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct libdw_walker {
	pid_t pid;
	Dwfl *dwfl;
	bool attached;
	/* Valid during libdw_walker__walk(). */
	const struct libdw_copy *copy;
	struct libdw_calls *out;
	int err;
};

/* Skip separate debug information: the search takes time, and nothing here needs it. */
static int find_no_debuginfo(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base,
			     const char *file, const char *link, GElf_Word crc, char **path)
{
	(void)mod, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc;
	(void)path;
	return -1;
}

static const Dwfl_Callbacks modules = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = find_no_debuginfo,
};

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	struct libdw_walker *w = arg;

	(void)dwfl;
	if (*thread_arg)
		return 0;
	*thread_arg = w;
	return w->copy->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	struct libdw_walker *w = arg;

	(void)dwfl;
	*thread_arg = w;
	return tid == w->copy->tid;
}

/* Copied memory only: the thread has continued. */
static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *result, void *arg)
{
	const struct libdw_copy *c = ((struct libdw_walker *)arg)->copy;

	(void)dwfl;
	if (addr < c->addr || addr - c->addr >= c->size ||
	    c->size - (addr - c->addr) < sizeof(*result))
		return false;
	memcpy(result, c->bytes + (addr - c->addr), sizeof(*result));
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct libdw_copy *c = ((struct libdw_walker *)arg)->copy;
	Dwarf_Word words[LIBDW_REGISTERS];

	for (int i = 0; i < LIBDW_REGISTERS; i++)
		words[i] = c->registers[i];
	return dwfl_thread_state_registers(thread, 0, LIBDW_REGISTERS, words);
}

static const Dwfl_Thread_Callbacks threads = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

static void place_call(const struct libdw_walker *w, struct libdw_call *c)
{
	Dwfl_Module *mod = dwfl_addrmodule(w->dwfl, c->pc);
	GElf_Addr bias = 0;

	if (!mod || !dwfl_module_getelf(mod, &bias))
		return;
	c->addr = c->pc - bias;
	dwfl_module_info(mod, NULL, NULL, NULL, NULL, NULL, &c->path, NULL);
}

static int on_frame(Dwfl_Frame *frame, void *arg)
{
	struct libdw_walker *w = arg;
	struct libdw_calls *out = w->out;
	struct libdw_call c = {};
	Dwarf_Addr pc;
	bool activation;

	if (!dwfl_frame_pc(frame, &pc, &activation) || out->n == LIBDW_MOST)
		return DWARF_CB_ABORT;
	c.pc = activation ? pc : pc - 1;
	place_call(w, &c);
	w->err = array__add(&out->items, &out->n, &out->capacity, &c);
	return w->err ? DWARF_CB_ABORT : DWARF_CB_OK;
}

int libdw_walker__new(pid_t pid, struct libdw_walker **out)
{
	struct libdw_walker *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->pid = pid;
	w->dwfl = dwfl_begin(&modules);
	err = w->dwfl ? libdw_walker__refresh(w) : -ENOMEM;
	if (err) {
		dwfl_end(w->dwfl);
		free(w);
		return err;
	}
	*out = w;
	return 0;
}

int libdw_walker__refresh(struct libdw_walker *w)
{
	int err;

	dwfl_report_begin(w->dwfl);
	err = dwfl_linux_proc_report(w->dwfl, w->pid);
	dwfl_report_end(w->dwfl, NULL, NULL);
	if (err)
		return err > 0 ? -err : -EIO;
	if (!w->attached && !dwfl_attach_state(w->dwfl, NULL, w->pid, &threads, w))
		return -ENOTSUP;
	w->attached = true;
	return 0;
}

int libdw_walker__walk(struct libdw_walker *w, const struct libdw_copy *copy,
		       struct libdw_calls *out)
{
	*out = (struct libdw_calls){0};
	w->copy = copy;
	w->out = out;
	w->err = 0;
	/* Where the walk ends, libdw does not tell an error from the start of the stack. */
	dwfl_getthread_frames(w->dwfl, copy->tid, on_frame, w);
	return w->err;
}

void libdw_calls__clear(struct libdw_calls *c)
{
	free(c->items);
	*c = (struct libdw_calls){0};
}

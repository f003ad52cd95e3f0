/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Dynamic labels: text in the compiler's memory, sent once, and a number from then on. */
#ifndef QPROF_LABELS_H
#define QPROF_LABELS_H

#include "maps.h"

/* Send a new label to the user half. Returns its number, or WIRE_LABEL_LOST. */
static __always_inline __u32 label_send(const struct wire_label_key *key)
{
	struct wire_label_state state = {};
	struct wire_label *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		maps_count(WIRE_COUNT_NO_LABEL);
		return WIRE_LABEL_LOST;
	}
	state.label = __sync_fetch_and_add(&last_label, 1) + 1;
	r->type = WIRE_LABEL;
	r->pad[0] = r->pad[1] = r->pad[2] = 0;
	r->label = state.label;
	r->key = *key;
	/* Sent before it is added to the map, so no interval with this number is sent earlier. */
	bpf_ringbuf_submit(r, maps_wakeup_flags());
	bpf_map_update_elem(&labels, key, &state, BPF_NOEXIST);
	return state.label;
}

/* The verifier knows a pointer only on the stack. */
struct label_ctx {
	struct thread_stack *t;
	__u64 text;
};

static long label_see_vma(struct task_struct *task, struct vm_area_struct *vma, struct label_ctx *c)
{
	struct wire_label_place *p = &c->t->scratch.label.place;
	__u64 offset;

	if (internals_mapped_file(task, vma, &offset, &p->file))
		return 0;
	p->offset = offset + c->text - vma->vm_start;
	c->t->scratch.label.in_file = WIRE_LABEL_IN_FILE;
	return 0;
}

/*
 * Make the key that of a place in a file. Nonzero: `text` is in none. The kernel does not wait for
 * the lock of the mappings here; without them, the key is that of the ELF address `elf`.
 */
static __noinline int label_find_place(struct thread_stack *t, __u64 text, __u64 elf, __u32 lib)
{
	struct label_ctx c = {t, text};

	if (!t)
		return -1;
	__builtin_memset(t->scratch.label.text, 0, sizeof(t->scratch.label.text));
	t->scratch.label.place.lib = lib;
	if (!bpf_find_vma(bpf_get_current_task_btf(), text, label_see_vma, &c, 0))
		return !t->scratch.label.in_file;
	t->scratch.label.place.offset = elf;
	t->scratch.label.in_file = WIRE_LABEL_IN_LIBRARY;
	return 0;
}

/*
 * Give the current event the label of `len` bytes at `text`, of which `elf` is the ELF address if
 * it is a part of the library. A rustc that does not profile has never read the text, so its page
 * may be absent: the calling program must be sleepable. Where it does not wait for the page, the
 * user half reads the text in the file.
 */
static __always_inline void label_read(struct thread_stack *t, __u64 text, __u64 elf, __u64 len,
				       __u32 timer)
{
	struct wire_label_key *key = &t->scratch.label;
	struct frame *f = &t->scratch.event;
	struct wire_label_state *known;
	__u64 n = len;

	__builtin_memset(key, 0, sizeof(*key));
	key->len = len;
	key->timer = timer;
	if (n > sizeof(key->text))
		n = sizeof(key->text);
	if (len != (__u32)len || (n && maps_read_scratch(t, MAPS_SCRATCH(label.text), n, text) &&
				  label_find_place(t, text, elf, f->lib))) {
		maps_count(WIRE_COUNT_NO_LABEL);
		f->label = WIRE_LABEL_LOST;
		return;
	}
	known = bpf_map_lookup_elem(&labels, key);
	f->label = known ? known->label : label_send(key);
	f->hidden = known && known->hidden;
}

#endif /* QPROF_LABELS_H */

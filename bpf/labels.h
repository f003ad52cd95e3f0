/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Labels that only the compiler's memory tells: sent once, and known by a number from then on. */
#ifndef QPROF_LABELS_H
#define QPROF_LABELS_H

#include "maps.h"

/* Tell the user half of a label that is new. Its number, or WIRE_LABEL_LOST. */
static __always_inline __u32 send_label(const struct wire_label_key *key)
{
	struct wire_label_state state = {};
	struct wire_label *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		count(WIRE_COUNT_NO_LABEL);
		return WIRE_LABEL_LOST;
	}
	state.label = __sync_fetch_and_add(&last_label, 1) + 1;
	r->type = WIRE_LABEL;
	r->pad[0] = r->pad[1] = r->pad[2] = 0;
	r->label = state.label;
	r->key = *key;
	/* First sent, then known: no interval that has it comes before it. */
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
	bpf_map_update_elem(&labels, key, &state, BPF_NOEXIST);
	return state.label;
}

/*
 * The label of `len` bytes at `text`. rustc that profiles nothing has never read it: the page may
 * not be there yet, so who calls this must be allowed to sleep.
 */
static __always_inline void tell_label(struct frame *f, __u64 text, __u64 len, __u32 timer)
{
	struct wire_label_key key = {};
	struct wire_label_state *known;
	__u64 n = len;

	key.len = len;
	key.timer = timer;
	if (n > sizeof(key.text))
		n = sizeof(key.text);
	/* Keeps the bound in the register that the helper gets, where the verifier sees it. */
	asm volatile("" : "+r"(n));
	if (n > sizeof(key.text))
		return;
	if (len != (__u32)len || (n && bpf_copy_from_user(key.text, n, (void *)text))) {
		count(WIRE_COUNT_NO_LABEL);
		f->label = WIRE_LABEL_LOST;
		return;
	}
	known = bpf_map_lookup_elem(&labels, &key);
	f->label = known ? known->label : send_label(&key);
	f->hidden = known && known->hidden;
}

#endif /* QPROF_LABELS_H */

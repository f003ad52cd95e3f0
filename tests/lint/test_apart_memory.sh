#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# apart_memory.py finds each way to a parameter's memory, and allows a pointer that was looked up.
set -eu

checker=$(dirname "$0")/apart_memory.py
file=$(mktemp)
trap 'rm -f "$file"' EXIT

# A file with a function that stands apart, and the lines of its body.
write() {
	cat >"$file" <<-END
		static inline void give(struct slot *of, __u32 pid)
		{
			bpf_map_delete_elem(&contexts, &of->pid);
		}

		STACK_APART int f(struct slot *s, const struct part *l,
				  __u32 pid)
		{
			$1
			return 0;
		}
	END
}

finds() {
	write "$1"
	if "$checker" "$file" 2>/dev/null; then
		echo "not found: $1" >&2
		exit 1
	fi
}

allows() {
	write "$1"
	if ! "$checker" "$file"; then
		echo "found, though harmless: $1" >&2
		exit 1
	fi
}

finds 'void *p = bpf_map_lookup_elem(&contexts, &s->sent.pid);'
finds 'bpf_map_update_elem(&contexts, &pid, &s->found, BPF_ANY);'
finds 'if (pid && bpf_map_delete_elem(&contexts, &l->pid)) return 1;'
finds 'bpf_map_update_elem(&contexts, &pid, s, BPF_ANY);'
finds 'bpf_map_lookup_elem(&contexts, s->key);'
finds 'bpf_map_lookup_elem(&contexts, (void *)&s->key);'
finds 'bpf_map_lookup_elem(&contexts, &(s->key));'
finds 'struct found *at = &s->found; bpf_map_lookup_elem(&contexts, &at->pid);'
finds 'struct slot *at = s; bpf_map_lookup_elem(&contexts, &at->pid);'
finds 'give(s, pid);'
allows 'give(pid ? bpf_map_lookup_elem(&slots, &pid) : 0, pid);'
allows 'struct slot *t = bpf_map_lookup_elem(&slots, &pid); bpf_map_delete_elem(&x, &t->pid);'
allows '__u32 of = s->pid; bpf_map_delete_elem(&contexts, &of);'
allows 'bpf_ringbuf_output(&events, &s->sent, sizeof(s->sent), 0);'
allows '/* bpf_map_delete_elem(&contexts, &s->pid); */'
allows 'helper(&s->pid);'

# It looks at nothing where it does not know the functions.
echo 'int f(void);' >"$file"
! "$checker" "$file" 2>/dev/null

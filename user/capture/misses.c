// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/misses.h"

#include <bpf/bpf.h>

uint64_t misses_of(const struct bpf_program *prog)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	if (!prog || bpf_program__fd(prog) < 0 ||
	    bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &size))
		return 0;
	return info.recursion_misses;
}

uint64_t misses_not_made_up(const struct bpf_program *first, int64_t made_up)
{
	int64_t n = (int64_t)misses_of(first);

	return n > made_up ? (uint64_t)(n - made_up) : 0;
}

uint64_t misses_of_both(const struct bpf_program *first, const struct bpf_program *again)
{
	uint64_t n = misses_of(first), m = misses_of(again);

	return n < m ? n : m;
}

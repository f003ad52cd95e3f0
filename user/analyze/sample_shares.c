// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/sample_shares.h"

#include <errno.h>
#include <string.h>

#include "analyze/code_functions.h"
#include "analyze/code_name.h"
#include "base/cleanup.h"

static enum sample_share share_of(const struct code_functions *f, uint32_t number)
{
	uint32_t part = f->at[number].part;
	const char *name = part == CODE_NO_PART ? "" : f->parts[part];

	if (!strcmp(name, CODE_LLVM))
		return SAMPLE_LLVM;
	return strncmp(name, "rustc_codegen_", strlen("rustc_codegen_")) ? SAMPLE_FRONT_END
									 : SAMPLE_CODEGEN;
}

int sample_shares_of(const struct stack_sums *sums, const struct trace_texts *texts,
		     struct sample_sum shares[SAMPLE_SHARES])
{
	__cleanup(code_functions__destroy) struct code_functions f = {.source = sums->source,
								      .texts = *texts};
	_free_ uint8_t *of = calloc(sums->n + 1UL, sizeof(*of)); /* by number of an entry */
	struct trace_stack entry;
	uint32_t number;

	if (!of)
		return -ENOMEM;
	memset(shares, 0, SAMPLE_SHARES * sizeof(*shares));
	for (uint32_t id = 0; id < sums->n; id++) {
		of[id] = SAMPLE_NO_STACK;
		if (stack_source__entry(&sums->source, id, &entry) &&
		    entry.kind < TRACE_STACK_KINDS) {
			uint8_t outer = entry.parent ? of[entry.parent] : SAMPLE_FRONT_END;

			if (code_functions__find(&f, &entry, &number))
				return -ENOMEM;
			of[id] = share_of(&f, number);
			if (outer > of[id] && outer != SAMPLE_NO_STACK)
				of[id] = outer;
		}
		sample_sum__add(&shares[of[id]], &sums->at[id]);
	}
	return 0;
}

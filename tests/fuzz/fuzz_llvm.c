// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Takes any bytes as what a store has of LLVM in a file, as they are and sealed. What is accepted
 * has a layout within its limits, and is encoded as it was.
 */
#include "plan/mine/llvm.h"
#include "fuzz.h"

static void decode(const uint8_t *bytes, size_t size)
{
	_llvm_plan_ struct llvm_plan *p = NULL;
	_free_ uint8_t *again = NULL;
	size_t len;

	if (llvm_plan__decode(bytes, size, &p))
		return;
	expect(p->problem || llvm_layout_is_sound(&p->layout));
	for (uint32_t i = 0; i < p->passes.n; i++)
		expect(llvm_passes__name(&p->passes, p->passes.items[i].vtable) ==
		       p->passes.items[i].name);
	expect(!llvm_plan__encode(p, &again, &len));
	expect(len == size && !memcmp(again, bytes, size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_free_ uint8_t *copy = fuzz_copy(data, size);

	decode(copy, size);
	if (size >= LLVM_PLAN_HEADER) {
		llvm_plan__seal(copy, size);
		decode(copy, size);
	}
	return 0;
}

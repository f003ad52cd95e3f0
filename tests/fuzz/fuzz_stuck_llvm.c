// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Changes any words of LLVM's list of entries, and of all memory that it leads to. The reader then
 * finds texts within their limits, or nothing; it reads no other memory, and comes to an end.
 *
 * An input is a row of changes: where, and the word that is written there.
 */
#include "../fixtures/llvm_list.h"
#include "fuzz.h"

struct change {
	uint16_t at;
	uint8_t kind; /* what the word is */
	uint8_t value[5];
};

/* Most numbers are addresses nowhere: some kinds are those of what is there. */
static uint64_t value_of(const struct change *c)
{
	uint64_t value = 0;

	memcpy(&value, c->value, sizeof(c->value));
	switch (c->kind % 4) {
	case 0:
		return BASE + value % SIZE;
	case 1:
		return BIAS + value % layout.size;
	case 2:
		return value;
	default:
		return value << 24;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_stuck_llvm_ struct stuck_llvm l = {};

	tell_the_truth();
	for (size_t i = 0; i + sizeof(struct change) <= size; i += sizeof(struct change)) {
		struct change c;

		memcpy(&c, data + i, sizeof(c));
		put(c.at % (SIZE - sizeof(uint64_t)), value_of(&c));
	}
	expect(!read_list(&l));
	expect(l.scope < WIRE_LLVM_SCOPES);
	expect(!l.symbol || (*l.symbol && strlen(l.symbol) < WIRE_LLVM_NAME_MAX));
	expect(!l.symbol || l.scope == WIRE_LLVM_FUNCTION || l.scope == WIRE_LLVM_COMPONENT);
	for (const char *at = l.symbol; at && *at; at++)
		expect(*at > ' ' && *at <= '~');
	return 0;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/place.h"

#include <string.h>

#include "plan/code/insn.h"

_Static_assert(CODE_REG_SP == WIRE_PLACE_SP, "a place may begin at sp");

/* Offsets are those of fields and of frames. */
#define AT_MAX (1 << 20)

static bool is_offset(uint64_t at)
{
	return (int64_t)at < AT_MAX && (int64_t)at > -AT_MAX;
}

/* The outermost load is the last one of the place. */
bool place_of(const struct sum_nodes *nodes, const struct sum *value, struct wire_place *out)
{
	struct wire_place place = {.size = 8};
	uint64_t more;
	const struct sum_node *node = sum_node_of(nodes, value, &more);

	if (!node || more)
		return false;
	while (node && node->kind == SUM_LOAD && !node->thread) {
		bool last = !place.n;

		if (place.n == WIRE_PLACE_LOADS || (node->size != 8 && !(last && node->size == 4)))
			return false;
		if (last)
			place.size = node->size;
		node = sum_node_of(nodes, &node->of, &more);
		if (!node || !is_offset(more))
			return false;
		memmove(place.at + 1, place.at, sizeof(place.at) - sizeof(*place.at));
		place.at[0] = (int)more;
		place.n++;
		more = 0;
	}
	if (!node || node->kind != SUM_ENTRY)
		return false;
	place.reg = node->reg;
	*out = place;
	return true;
}

bool place_is_sound(const struct wire_place *place)
{
	for (uint8_t i = 0; i < WIRE_PLACE_LOADS; i++)
		if (place->at[i] >= AT_MAX || place->at[i] <= -AT_MAX)
			return false;
	return place->reg <= WIRE_PLACE_SP && place->n <= WIRE_PLACE_LOADS &&
	       (place->size == 4 || place->size == 8);
}

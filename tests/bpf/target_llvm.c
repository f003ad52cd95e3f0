// SPDX-License-Identifier: Apache-2.0 OR MIT
/* A fake list of LLVM, which lies where the layout of test_bpf_llvm.c says. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "llvm_of_target.h"

#define NOWHERE	  0x10000000000ul
#define IN_KERNEL 0xffffffff81000000ul
#define PAGE	  4096ul

/* shapes.S has its offset in the thread-local memory of the program, which is the first module. */
__thread void *llvm_head;

static struct {
	char *value, *block, *type, *context, *impl, *buckets, *name, *component, *nodes, *node;
	char *pass;
} at;

static char *map(size_t size)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

static void put(void *to, size_t offset, uint64_t value)
{
	memcpy((char *)to + offset, &value, sizeof(value));
}

static void put_name(const char *name)
{
	memset(at.name, 0, PAGE);
	put(at.name, LLVM_LENGTH, strlen(name));
	memcpy(at.name + LLVM_BYTES, name, strlen(name));
}

static char *bucket(uint32_t i)
{
	return at.buckets + 16 * (i % LLVM_BUCKETS);
}

static uint32_t first_bucket(void)
{
	return (uint32_t)(uintptr_t)at.value >> 4 ^ (uint32_t)(uintptr_t)at.value >> 9;
}

static void put_value(uint32_t i)
{
	put(bucket(i), 0, (uint64_t)at.value);
	put(bucket(i), 8, (uint64_t)at.name);
}

static void fill_table(uint64_t key)
{
	for (uint32_t i = 0; i < LLVM_BUCKETS; i++) {
		put(bucket(i), 0, key);
		put(bucket(i), 8, NOWHERE);
	}
}

static void make_function(void)
{
	memset(at.value, 0, PAGE);
	memset(at.block, 0, PAGE);
	at.value[LLVM_KIND_AT] = LLVM_KIND;
	at.block[LLVM_KIND_AT] = LLVM_KIND + 1;
	at.value[LLVM_NAMED_AT] = (char)0xff;
	put(at.value, LLVM_TYPE_AT, (uint64_t)at.type);
	put(at.type, LLVM_CONTEXT, (uint64_t)at.context);
	put(at.context, LLVM_IMPL, (uint64_t)at.impl);
	put(at.impl, LLVM_NAMES, (uint64_t)at.buckets);
	put(at.impl, LLVM_COUNT, LLVM_BUCKETS);
	fill_table(0xfffffffffffff000ul);
	put_name(LLVM_INNER);
	put_value(first_bucket());
	put(at.component, LLVM_NODES, (uint64_t)at.nodes);
	put(at.nodes, 0, (uint64_t)at.node);
	put(at.node, LLVM_NODE_FUNCTION, (uint64_t)at.value);
	put(at.pass, 0, (uint64_t)llvm_vtables + 4);
}

/* Entries lie 64 bytes apart, the innermost first. */
static char *entry(char *room, uint32_t i)
{
	return room + 64ul * i;
}

static void put_entry(char *room, uint32_t i, uint32_t kind, const void *unit, const void *around)
{
	char *e = entry(room, i);

	put(e, 0, (uint64_t)llvm_vtables + kind);
	put(e, 8 * LLVM_NEXT, (uint64_t)around);
	put(e, 8 * LLVM_PASS, 0);
	put(e, 8 * (kind == 2 ? LLVM_LEGACY_PASS : LLVM_PASS), (uint64_t)at.pass);
	put(e, 8 * LLVM_UNIT, (uint64_t)unit);
}

enum { OF_FUNCTION, OF_MODULE, LEGACY, OTHER };

static void tell_the_truth(char *room)
{
	make_function();
	put_entry(room, 0, OF_FUNCTION, at.value, entry(room, 1));
	put_entry(room, 1, OF_MODULE, at.block, NULL);
	llvm_head = room;
}

static void of_other_entries(enum llvm_lie lie, char *room)
{
	switch (lie) {
	case LLVM_EMPTY_LIST:
		llvm_head = NULL;
		return;
	case LLVM_COMPONENT:
	case LLVM_OF_MODULE:
		put_entry(room, 0, OF_MODULE, at.block, NULL);
		return;
	case LLVM_LEGACIES:
		put_entry(room, 0, LEGACY, at.block, entry(room, 1));
		put_entry(room, 1, LEGACY, at.value, NULL);
		put_name(LLVM_OUTER);
		return;
	case LLVM_RELEASES_IN_COMPONENT:
	case LLVM_RELEASING:
		put_entry(room, 0, LEGACY, NULL, NULL);
		return;
	case LLVM_OTHER_ENTRY:
		put_entry(room, 1, OTHER, at.block, NULL);
		return;
	default:
		return;
	}
}

static void of_the_list(enum llvm_lie lie, char *room)
{
	switch (lie) {
	case LLVM_HEAD_NOWHERE:
		llvm_head = (void *)NOWHERE;
		return;
	case LLVM_HEAD_KERNEL:
		llvm_head = (void *)IN_KERNEL;
		return;
	case LLVM_HEAD_UNALIGNED:
		llvm_head = room + 4;
		return;
	case LLVM_HEAD_ELSEWHERE:
		memcpy(at.block, room, 64);
		llvm_head = at.block;
		return;
	case LLVM_BELOW:
		llvm_head = (char *)__builtin_frame_address(0) - PAGE * 16;
		return;
	case LLVM_SELF:
		put_entry(room, 0, OF_FUNCTION, at.value, room);
		return;
	case LLVM_INWARD:
		put_entry(room, 1, OF_MODULE, at.block, room);
		return;
	case LLVM_TOO_MANY:
		for (uint32_t i = 0; i < 9; i++)
			put_entry(room, i, OF_FUNCTION, at.value, i < 8 ? entry(room, i + 1) : 0);
		return;
	case LLVM_VTABLE_NOWHERE:
		put(room, 0, NOWHERE);
		return;
	case LLVM_UNIT_NOWHERE:
		put_entry(room, 0, OF_FUNCTION, (void *)NOWHERE, NULL);
		return;
	case LLVM_NO_FUNCTION:
		put_entry(room, 0, OF_FUNCTION, at.block, NULL);
		return;
	default:
		return;
	}
}

/* Its last byte is the last of a page behind which there is none. */
static void put_name_at_end(void)
{
	char *end = map(2 * PAGE) + PAGE, *name = end - LLVM_BYTES - 8;

	munmap(end, PAGE);
	put(name, LLVM_LENGTH, 40);
	put(bucket(first_bucket()), 8, (uint64_t)name);
}

static void of_names(enum llvm_lie lie)
{
	static char name[LLVM_LONGEST + 1];

	memset(name, 'x', LLVM_LONGEST);
	switch (lie) {
	case LLVM_UNNAMED:
		at.value[LLVM_NAMED_AT] = (char)~LLVM_NAMED;
		return;
	case LLVM_LONG_NAME:
		return put_name(name);
	case LLVM_COLLIDING:
		fill_table(0x1230);
		return put_value(first_bucket() + 1 + 2 + 3);
	case LLVM_TYPE_NOWHERE:
		return put(at.value, LLVM_TYPE_AT, NOWHERE);
	case LLVM_CONTEXT_NOWHERE:
		return put(at.type, LLVM_CONTEXT, NOWHERE);
	case LLVM_IMPL_NOWHERE:
		return put(at.context, LLVM_IMPL, NOWHERE);
	case LLVM_COUNT_ODD:
		return put(at.impl, LLVM_COUNT, LLVM_BUCKETS - 1);
	case LLVM_COUNT_ZERO:
		return put(at.impl, LLVM_COUNT, 0);
	case LLVM_TABLE_NOWHERE:
		return put(at.impl, LLVM_NAMES, NOWHERE);
	case LLVM_TABLE_FULL:
		return fill_table(0x1230);
	case LLVM_MISSING:
		return fill_table(0xfffffffffffff000ul);
	case LLVM_NAME_NOWHERE:
		return put(bucket(first_bucket()), 8, NOWHERE);
	case LLVM_NAME_ENDLESS:
		return put(at.name, LLVM_LENGTH, 1ul << 60);
	case LLVM_NAME_EMPTY:
		return put(at.name, LLVM_LENGTH, 0);
	case LLVM_NAME_TOO_LONG:
		return put(at.name, LLVM_LENGTH, LLVM_LONGEST + 1);
	case LLVM_NAME_CUT:
		return put_name_at_end();
	default:
		return;
	}
}

static const void *of_components(enum llvm_lie lie, char *room)
{
	if (lie >= LLVM_LIES)
		put_entry(room, 0, OF_MODULE, at.block, NULL);
	switch (lie) {
	case LLVM_COMPONENT_NOWHERE:
		return (void *)NOWHERE;
	case LLVM_COMPONENT_KERNEL:
		return (void *)IN_KERNEL;
	case LLVM_NODES_NOWHERE:
		put(at.component, LLVM_NODES, NOWHERE);
		break;
	case LLVM_NODE_NOWHERE:
		put(at.nodes, 0, NOWHERE);
		break;
	case LLVM_NODE_EMPTY:
		put(at.node, LLVM_NODE_FUNCTION, 0);
		break;
	case LLVM_NODE_OTHER:
		put(at.node, LLVM_NODE_FUNCTION, (uint64_t)at.block);
		break;
	case LLVM_NODE_GONE:
		fill_table(0xfffffffffffff000ul);
		break;
	default:
		break;
	}
	return at.component;
}

const void *llvm_lie(enum llvm_lie lie, char room[LLVM_ROOM])
{
	char **all[] = {&at.value, &at.block,	  &at.type,  &at.context, &at.impl, &at.buckets,
			&at.name,  &at.component, &at.nodes, &at.node,	  &at.pass};

	for (size_t i = 0; !at.pass && i < sizeof(all) / sizeof(*all); i++)
		*all[i] = map(2 * PAGE);
	tell_the_truth(room);
	of_other_entries(lie, room);
	of_the_list(lie, room);
	of_names(lie);
	return of_components(lie, room);
}

void llvm_over(void)
{
	llvm_head = NULL;
}

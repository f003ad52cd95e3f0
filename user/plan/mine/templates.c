// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/templates.h"

#include <string.h>

#include "plan/symbols/relocated.h"

/* The address and the length of a piece. */
#define PIECE	   16
#define PIECES_MAX 8

static void append(struct template *t, const uint8_t *text, size_t len)
{
	size_t room = TEMPLATE_MAX - t->len;

	memcpy(t->text + t->len, text, len < room ? len : room);
	t->len += len < room ? len : room;
}

static bool read_codes(const struct elf_image *img, uint64_t at, struct template *t)
{
	size_t len;
	const uint8_t *text = elf_image__bytes(img, at, &len);

	if (!text)
		return false;
	/* It ends with a byte of zero. */
	append(t, text, strnlen((const char *)text, len < TEMPLATE_MAX ? len : TEMPLATE_MAX));
	t->is_bare = len >= 2 && text[0] == 0xc0 && !text[1];
	return true;
}

static bool read_piece(const struct elf_image *img, uint64_t at, struct template *t)
{
	uint64_t text = relocated__value(img, at), size;
	size_t len;
	const uint8_t *bytes = elf_image__bytes(img, at + 8, &len);

	if (!bytes || len < sizeof(size))
		return false;
	memcpy(&size, bytes, sizeof(size));
	/* The address of an empty one is none. */
	bytes = size ? elf_image__bytes(img, text, &len) : NULL;
	if (size && (!bytes || size > len))
		return false;
	if (size)
		append(t, bytes, size);
	return true;
}

static bool read_pieces(const struct elf_image *img, uint64_t at, uint64_t n, struct template *t)
{
	for (uint64_t i = 0; i < n && i < PIECES_MAX; i++)
		if (!read_piece(img, at + i * PIECE, t))
			return false;
	t->is_bare = n == 1 && !t->len;
	return n && n <= PIECES_MAX;
}

bool template__of(const struct elf_image *img, const struct eval_call *call, struct template *out)
{
	*out = (struct template){.len = 0};
	if (sum_is_constant(&call->second))
		return read_codes(img, call->second.constant, out);
	return sum_is_constant(&call->pieces[0]) && sum_is_constant(&call->pieces[1]) &&
	       read_pieces(img, call->pieces[0].constant, call->pieces[1].constant, out);
}

bool template__holds(const struct template *t, const char *text)
{
	return memmem(t->text, t->len, text, strlen(text)) != NULL;
}

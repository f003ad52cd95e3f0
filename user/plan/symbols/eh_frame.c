// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/eh_frame.h"

#include <dwarf.h>

#include "plan/symbols/dwarf_bytes.h"

/* Marks a record whose length has 64 bits, which no compiler writes here. */
#define LONG_LENGTH UINT32_MAX
#define FORMAT_MASK 0x0f
/* Bytes of an augmentation, with its end. The longest known are zPLRS and zPLRB. */
#define AUGMENTATION_MAX 8

void eh_frame_reader__init(struct eh_frame_reader *r, const struct eh_frame *frame)
{
	*r = (struct eh_frame_reader){.frame = frame};
}

/* ---- Addresses ------------------------------------------------------------------------------- */

/* A number in one of the formats of addresses; `bad` if it is in another one. */
static uint64_t read_encoded(struct dwarf_bytes *b, uint8_t format)
{
	switch (format & FORMAT_MASK) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return dwarf_bytes__number(b, 8);
	case DW_EH_PE_uleb128:
		return dwarf_bytes__uleb(b);
	case DW_EH_PE_sleb128:
		return (uint64_t)dwarf_bytes__sleb(b);
	case DW_EH_PE_udata2:
		return dwarf_bytes__number(b, 2);
	case DW_EH_PE_sdata2:
		return (uint64_t)dwarf_bytes__signed(b, 2);
	case DW_EH_PE_udata4:
		return dwarf_bytes__number(b, 4);
	case DW_EH_PE_sdata4:
		return (uint64_t)dwarf_bytes__signed(b, 4);
	default:
		b->bad = true;
		return 0;
	}
}

static uint64_t read_address(const struct eh_frame *frame, struct dwarf_bytes *b, uint8_t encoding)
{
	uint64_t base = 0;

	if ((encoding & ~FORMAT_MASK) == DW_EH_PE_pcrel)
		base = frame->addr + (uint64_t)(b->at - frame->data);
	else if (encoding & ~FORMAT_MASK)
		b->bad = true;
	return base + read_encoded(b, encoding);
}

bool eh_frame__address(const struct eh_frame *frame, uint8_t encoding, const uint8_t **at,
		       const uint8_t *end, uint64_t *out)
{
	struct dwarf_bytes b = {*at, end, false};
	uint64_t addr = read_address(frame, &b, encoding);

	if (b.bad)
		return false;
	*at = b.at;
	*out = addr;
	return true;
}

/* ---- Records --------------------------------------------------------------------------------- */

/*
 * The content of the record at an offset, from its id on. False if there is none that can be read.
 * *next is where the next record begins; the section's end if that is unknown.
 */
static bool open_record(const struct eh_frame *frame, size_t at, struct dwarf_bytes *content,
			size_t *next)
{
	struct dwarf_bytes b = {frame->data + at, frame->data + frame->size, false};
	uint64_t length = dwarf_bytes__number(&b, 4);
	bool is_long = length == LONG_LENGTH;
	const uint8_t *p;

	if (is_long)
		length = dwarf_bytes__number(&b, 8);
	p = dwarf_bytes__take(&b, length);
	*next = (size_t)(b.at - frame->data);
	*content = (struct dwarf_bytes){p, p ? p + length : p, false};
	return p && !is_long;
}

/* Data that the characters of an augmentation stand for. */
static void read_augmentation(struct eh_cie *cie, const uint8_t *text, struct dwarf_bytes *data)
{
	bool known = true;

	for (; *text && known && !data->bad; text++) {
		uint8_t encoding;

		switch (*text) {
		case 'R':
			cie->encoding = dwarf_bytes__u8(data);
			break;
		case 'P': /* the function that an exception calls */
			encoding = dwarf_bytes__u8(data);
			read_encoded(data, encoding);
			data->bad |= (encoding & ~FORMAT_MASK) == DW_EH_PE_aligned;
			break;
		case 'L': /* the encoding of another address */
			dwarf_bytes__u8(data);
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B': /* arm64: return addresses are signed with another key */
			break;
		default: /* what follows cannot be found, an 'R' neither */
			known = false;
		}
	}
	data->bad |= !known;
}

/* The text that ends with 0, at most AUGMENTATION_MAX bytes; NULL if it is longer. */
static const uint8_t *read_text(struct dwarf_bytes *b)
{
	const uint8_t *text = b->at;

	for (int i = 0; i < AUGMENTATION_MAX; i++)
		if (!dwarf_bytes__u8(b))
			return b->bad ? NULL : text;
	return NULL;
}

static bool read_cie(const struct eh_frame *frame, uint32_t at, struct eh_cie *out)
{
	struct eh_cie cie = {.encoding = DW_EH_PE_absptr};
	struct dwarf_bytes b, data = {};
	const uint8_t *text;
	uint64_t size;
	uint8_t version;
	size_t next;

	if (!open_record(frame, at, &b, &next) || dwarf_bytes__number(&b, 4) || b.bad)
		return false;
	version = dwarf_bytes__u8(&b);
	text = read_text(&b);
	if ((version != 1 && version != 3) || !text)
		return false;
	cie.code_factor = dwarf_bytes__uleb(&b);
	cie.data_factor = dwarf_bytes__sleb(&b);
	if ((version == 1 ? dwarf_bytes__u8(&b) : dwarf_bytes__uleb(&b)) != EH_FRAME_RA)
		return false;
	cie.augmented = *text == 'z';
	if (*text && !cie.augmented)
		return false;
	if (cie.augmented) {
		size = dwarf_bytes__uleb(&b);
		data.at = dwarf_bytes__take(&b, size);
		data.end = data.at ? data.at + size : NULL;
		data.bad = !data.at;
		read_augmentation(&cie, text + 1, &data);
	}
	cie.program = (struct eh_program){b.at, dwarf_bytes__left(&b)};
	if (b.bad || data.bad || cie.program.size > EH_FRAME_CIE_PROGRAM_MAX)
		return false;
	*out = cie;
	return true;
}

/* A record is one of three things. */
enum record { IS_FDE, IS_OTHER, IS_UNREADABLE };

static enum record read_record(struct eh_frame_reader *r, size_t at, struct eh_fde *out,
			       size_t *next)
{
	struct dwarf_bytes b;
	uint64_t id_at, back;

	if (!open_record(r->frame, at, &b, next))
		return IS_UNREADABLE;
	/* A record without content ends the part that one object file has given. */
	if (!dwarf_bytes__left(&b))
		return IS_OTHER;
	id_at = (uint64_t)(b.at - r->frame->data);
	back = dwarf_bytes__number(&b, 4);
	if (b.bad)
		return IS_UNREADABLE;
	if (!back)
		return IS_OTHER;
	if (back > id_at)
		return IS_UNREADABLE;
	/* Neighbouring functions mostly have the same CIE. */
	if (!r->has_cie || r->cie_at != (uint32_t)(id_at - back)) {
		r->cie_at = (uint32_t)(id_at - back);
		r->has_cie = read_cie(r->frame, r->cie_at, &r->cie);
	}
	if (!r->has_cie)
		return IS_UNREADABLE;
	out->at = (uint32_t)at;
	out->cie = r->cie;
	out->start = read_address(r->frame, &b, r->cie.encoding);
	out->length = read_encoded(&b, r->cie.encoding);
	if (r->cie.augmented)
		dwarf_bytes__take(&b, dwarf_bytes__uleb(&b));
	out->program = (struct eh_program){b.at, dwarf_bytes__left(&b)};
	return b.bad ? IS_UNREADABLE : IS_FDE;
}

bool eh_frame_reader__next(struct eh_frame_reader *r, struct eh_fde *out)
{
	while (r->at < r->frame->size) {
		enum record found = read_record(r, r->at, out, &r->at);

		if (found == IS_FDE)
			return true;
		r->unreadable += found == IS_UNREADABLE;
	}
	return false;
}

bool eh_frame_reader__at(struct eh_frame_reader *r, uint32_t at, struct eh_fde *out)
{
	size_t next;

	return at < r->frame->size && read_record(r, at, out, &next) == IS_FDE;
}

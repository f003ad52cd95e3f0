/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads .eh_frame, the unwind information of a file: records that describe functions (FDE), and
 * what several of them share (CIE). After "Linux Standard Base Core Specification", 10.6, and DWARF
 * 5, 6.4.
 *
 * Every byte is untrusted. A record that cannot be read is counted and left out; a length that
 * leads out of the section ends the reading.
 */
#ifndef QPROF_PLAN_SYMBOLS_EH_FRAME_H
#define QPROF_PLAN_SYMBOLS_EH_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* DWARF's numbers of registers on x86-64. */
#define EH_FRAME_RBP 6
#define EH_FRAME_RSP 7
#define EH_FRAME_R11 11
#define EH_FRAME_RA  16 /* the return address */

/* The longest section that is read. That of LLVM 22 has 7.7 MB. */
#define EH_FRAME_SIZE_MAX (64u << 20)

/*
 * The longest program of a CIE, which every function runs first. Those of compilers have less than
 * 20 bytes.
 */
#define EH_FRAME_CIE_PROGRAM_MAX 256

/* The section in memory, not owned. */
struct eh_frame {
	const uint8_t *data;
	size_t size; /* at most EH_FRAME_SIZE_MAX */
	uint64_t addr;
};

struct eh_program {
	const uint8_t *bytes;
	size_t size;
};

struct eh_cie {
	uint64_t code_factor; /* of advances */
	int64_t data_factor;  /* of offsets from the CFA */
	uint8_t encoding;     /* of addresses */
	bool augmented;	      /* its FDEs have data of their own */
	bool signal;	      /* its functions are where signal handlers return to */
	struct eh_program program;
};

struct eh_fde {
	uint64_t start; /* ELF virtual address */
	uint64_t length;
	uint32_t at; /* offset of the record in the section */
	struct eh_cie cie;
	struct eh_program program;
};

struct eh_frame_reader {
	const struct eh_frame *frame;
	size_t at;	 /* the next record */
	uint32_t cie_at; /* the CIE that was read last, if `has_cie` */
	struct eh_cie cie;
	bool has_cie;
	uint32_t unreadable; /* records left out */
};

void eh_frame_reader__init(struct eh_frame_reader *r, const struct eh_frame *frame);

/* The next function, in the order of the section: true, or false at the end. */
bool eh_frame_reader__next(struct eh_frame_reader *r, struct eh_fde *out);

/* Read the record at an offset that eh_frame_reader__next() gave before. False if it is no FDE. */
bool eh_frame_reader__at(struct eh_frame_reader *r, uint32_t at, struct eh_fde *out);

/*
 * The address that is encoded at `*at`, which moves on. False, and *at is unchanged, if it is
 * encoded in a way that no compiler uses for functions, or not wholly before `end`.
 */
bool eh_frame__address(const struct eh_frame *frame, uint8_t encoding, const uint8_t **at,
		       const uint8_t *end, uint64_t *out);

#endif /* QPROF_PLAN_SYMBOLS_EH_FRAME_H */

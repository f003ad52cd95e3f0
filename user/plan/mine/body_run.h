/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Runs the body of a query on values of which only the origin is known, and each instruction once,
 * by the first path that comes to it (and by the first that has the address of run->table). What
 * another path would have is not looked at: the caller compares the bodies with each other, and the
 * kernel half checks what it reads.
 */
#ifndef QPROF_PLAN_MINE_BODY_RUN_H
#define QPROF_PLAN_MINE_BODY_RUN_H

#include <capstone/capstone.h>

#include "plan/code/insn.h"
#include "plan/code/decode.h"
#include "plan/symbols/elf_image.h"

#define BODY_RUN_REGS	  (CODE_REG_SP + 1)
#define BODY_RUN_VECTORS  16
#define BODY_RUN_SLOTS	  96
#define BODY_RUN_STORES	  96
#define BODY_RUN_ACCESSES 256
#define BODY_RUN_PATHS	  64
/* Instructions are found by a hash of their address and of whether a table is held. 2^n. */
#define BODY_RUN_SEEN 16384
/* No struct of a thread or a vtable is so large, but the context is. */
#define BODY_RUN_FAR	  1024
#define BODY_RUN_NO_TABLE UINT64_MAX
/* No argument leads to a table that has a place. */
#define BODY_RUN_PLACES (8 * BODY_RUN_FAR)

enum run_origin {
	ORIGIN_NONE,
	ORIGIN_ARGUMENT, /* of the body, number `at` */
	ORIGIN_WORD,	 /* 8 bytes at the ELF address `at` */
	ORIGIN_CURRENT,	 /* the thread's word at the offset that the ELF address `at` holds */
	ORIGIN_FIELD,	 /* 8 bytes, `at` bytes within an ORIGIN_CURRENT */
	ORIGIN_KEY,	 /* what argument number `at` / FAR leads to, `at` % FAR bytes further */
	ORIGIN_JOB,	 /* a new job */
	ORIGIN_BELOW,	 /* an address -`at` bytes below one that is computed */
	ORIGIN_TABLE,	 /* in the context, at a distance that argument number `at` leads to */
	/* Only where run->table is set: */
	ORIGIN_WITHIN, /* the address of an ORIGIN_KEY */
	ORIGIN_STACK,  /* `at` bytes above sp at the entry */
	ORIGIN_BUCKET, /* `times` a bucket of the table, and `at` */
	ORIGIN_ENTRY,  /* likewise, and the address of the table's control bytes */
	ORIGIN_LOADED, /* what is at such an address */
};

struct run_value {
	uint8_t origin;
	uint64_t at;
	int64_t times;
};

struct run_slot {
	int64_t at; /* bytes above sp at the entry */
	uint32_t size;
	struct run_value value;
};

/* A store that is not to the stack. `base` and `index` are numbers that no other value has. */
struct run_store {
	uint32_t base, index;
	struct run_value base_value, index_value;
	int32_t scale;
	int64_t at;
	uint8_t size;
	struct run_value value;
};

/* An access to an entry of run->table: its address is that of a bucket's control byte, moved. */
struct run_access {
	int64_t times; /* the bucket's number */
	int64_t at;
	uint32_t size;
	struct run_value value; /* that is stored there, or compared */
};

struct run_path {
	uint64_t next; /* address of the next instruction */
	struct run_value regs[BODY_RUN_REGS];
	uint32_t versions[BODY_RUN_REGS]; /* numbers of the values in them */
	/* The lower 8 bytes of each vector, and the upper ones. */
	struct run_value vectors[BODY_RUN_VECTORS], uppers[BODY_RUN_VECTORS];
	struct run_slot slots[BODY_RUN_SLOTS];
	uint32_t n_slots;
	int64_t sp; /* bytes above its value at the entry */
};

struct body_run {
	const struct elf_image *img;
	csh cs;
	cs_insn *insn;
	struct run_path now;
	struct run_path later[BODY_RUN_PATHS];
	uint32_t n_later;
	uint64_t seen[BODY_RUN_SEEN];
	uint32_t version;
	uint32_t left;		  /* instructions to run at most */
	bool has_job, has_parent; /* was stored */
	bool compares_byte;	  /* the last instruction did */
	struct run_store stores[BODY_RUN_STORES];
	uint32_t n_stores;
	uint64_t slot; /* ELF address of the word with the thread-local offset */
	/* By argument: a word that it leads to limits what is in a register; 0: none does. */
	uint8_t masks[CODE_ARGUMENTS];
	uint64_t context_argument; /* its number; CODE_ARGUMENTS: not known */
	/*
	 * The hash table whose entries' accesses are noted, and that functions are followed for
	 * which are given its address: that of its struct, as of an ORIGIN_KEY.
	 */
	uint64_t table; /* or BODY_RUN_NO_TABLE */
	uint64_t word;	/* that has the distance of the table; or BODY_RUN_NO_TABLE */
	uint8_t ctrl, mask;
	struct run_access accesses[BODY_RUN_ACCESSES];
	uint32_t n_accesses;
	uint32_t calls; /* that may still be followed */
};

/* Where a hash table is. */
struct body_run_table {
	uint64_t argument; /* that leads to it */
	uint32_t at;	   /* bytes further */
	/* Or it is `at` bytes, and as many as are in a word that the argument leads to, behind the
	 * context. */
	bool has_place;
	uint32_t word;
	uint8_t ctrl, mask; /* as in struct plan_jobs */
};

/*
 * Run the body at `entry`, for what reads the results. `slot`: as in struct wire_layout_current.
 * `table`: whose accesses are noted, or NULL. 0 or -ENOMEM.
 */
int body_run__new(const struct elf_image *img, uint64_t entry, uint64_t slot,
		  const struct body_run_table *table, struct body_run **out);
void body_run__free(struct body_run *r);
DEFINE_CLEANUP(struct body_run, body_run__free)
#define _body_run_ __cleanup(body_run__free_p)

#endif /* QPROF_PLAN_MINE_BODY_RUN_H */

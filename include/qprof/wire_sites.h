/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) OR Apache-2.0 OR MIT */
/*
 * Probe sites: what a hit means, and where its operands are. The cookie of a probe is the index of
 * its site in a table of struct wire_site, which all libraries share.
 */
#ifndef QPROF_WIRE_SITES_H
#define QPROF_WIRE_SITES_H

#include "qprof/wire_types.h"

enum wire_role {
	WIRE_ROLE_START = 1,  /* provider entry: names the query, starts it */
	WIRE_ROLE_START_BODY, /* in a body that serves one query only: starts it */
	/*
	 * Non-incremental wrapper of a query without a START: starts it. With callers, the query is
	 * requested here too.
	 */
	WIRE_ROLE_WRAPPER,
	WIRE_ROLE_IDENTIFY, /* in a body: reads which query it is; starts it if it has no START */
	WIRE_ROLE_END,	    /* in a body: the provider has returned */
	WIRE_ROLE_CAUGHT,   /* a panic was caught: every frame below sp is dead */
	WIRE_ROLE_REQUEST,  /* entry of a wrapper: the return address is the caller */
	WIRE_ROLE_GUARD,    /* mask site of a guard that is no query's: starts its interval */
	WIRE_ROLE_GUARD_QUERY,	/* the same, in a body: reads which query it is about */
	WIRE_ROLE_GUARD_CALLED, /* the same, where several queries load: by the callers on the stack
				 */
	/*
	 * The guard is dropped or finished. A guard and its end belong together if they saw the
	 * same sp, scope and number. (An end without a start is no loss: paths that start no guard,
	 * or one that is not recorded, meet it too.)
	 */
	WIRE_ROLE_GUARD_END,
	/*
	 * Entry of SelfProfilerRef::verbose_generic_activity: the timer's address is in rdi, the
	 * label's address and length in rdx and rcx.
	 */
	WIRE_ROLE_TIMER,
	/*
	 * Entry of a drop_in_place::<VerboseTimingGuard>: the timer's address is in rdi. It lies in
	 * the frame of the function that called both, whose sp is the same at both calls.
	 */
	WIRE_ROLE_TIMER_END,
	WIRE_ROLE_HIT, /* a result was found in its cache */
	/* A query context is dropped, or has executed all its queries; or a query was fed. */
	WIRE_ROLE_DROP,
};

#define WIRE_ROLE_MAX 16 /* knobs.roles has a bit for each */

enum wire_reg {
	WIRE_REG_AX,
	WIRE_REG_BX,
	WIRE_REG_CX,
	WIRE_REG_DX,
	WIRE_REG_SI,
	WIRE_REG_DI,
	WIRE_REG_BP,
	WIRE_REG_R8,
	WIRE_REG_R9,
	WIRE_REG_R10,
	WIRE_REG_R11,
	WIRE_REG_R12,
	WIRE_REG_R13,
	WIRE_REG_R14,
	WIRE_REG_R15,
	WIRE_REG_NONE = 255,
};

#define WIRE_MAX_LIBS	 255
#define WIRE_NO_QUERY	 0xffffu
#define WIRE_NO_GROUP	 0xffffu
#define WIRE_NO_SLOT	 (-1)
#define WIRE_SCOPE_TIMER 0xfffeu /* scope of all timers; bodies and functions have lower ones */

/* Where the label of a guard's interval is. */
enum wire_guard_label {
	WIRE_LABEL_NONE,	  /* the user half knows it by the guard */
	WIRE_LABEL_OF_QUERY,	  /* it is that of the query that the interval runs in */
	WIRE_LABEL_WITH_ARGUMENT, /* the first, and the table of sources has its argument's place */
	WIRE_LABEL_IN_MEMORY,	  /* its address and length are at `slot` */
};

/* Where the key of a query is. */
struct wire_key_place {
	wire_u8 key;   /* enum wire_key; WIRE_KEY_UNKNOWN: nowhere */
	wire_u8 reg;   /* enum wire_reg; none: it is on the stack */
	wire_u16 slot; /* there, above sp at the site, in units of 4 bytes */
};

/* `slot` counts from sp at the site, in bytes. */
struct wire_site {
	wire_u8 role; /* enum wire_role */
	wire_u8 lib;
	/* The query; at a guard without a query, the guard; or WIRE_NO_QUERY. */
	wire_u16 query;
	wire_u16 group;	  /* of bodies that serve the same queries; or a guard's scope */
	wire_u8 hidden;	  /* 1: not recorded, and tracked only because other queries nest in it */
	wire_u8 number;	  /* a guard's within its scope, from 1 */
	wire_u8 kind;	  /* enum wire_kind of a guard */
	wire_u8 label;	  /* enum wire_guard_label */
	wire_u8 moment;	  /* DROP: enum wire_counts_moment; 0: a query was fed */
	wire_u8 numbered; /* 1: `offset` leads to the query's number of 16 bits, not to its provider
			   */
	/*
	 * END, HIT: holds the invocation id. IDENTIFY, GUARD_QUERY: the query's vtable. DROP: where
	 * `offset` counts from, to the cache of the query that was fed; without one `query` is it.
	 */
	wire_u8 reg; /* enum wire_reg */
	/* HIT: `slot` is from what this register holds; none: from sp. DROP: holds which result was
	 * fed, shifted left by `shift`; none: it is unknown. */
	wire_u8 base;
	wire_u8 shift;
	wire_u8 pad;
	/*
	 * Of what `reg` would hold, or WIRE_NO_SLOT. REQUEST and WRAPPER: of the return address.
	 * GUARD_CALLED: of one from which the table of steps leads to a vtable, and the table of
	 * providers from that to the query.
	 */
	wire_s32 slot;
	wire_u32 offset;   /* of the provider's address within the vtable, bytes; and see `reg` */
	wire_s32 sp_delta; /* (sp at the body's sites) - (sp here), bytes */
	/* END: how far below sp its body's providers are called at most; 0: by the body itself. */
	wire_u32 between;
	wire_u32 addr; /* the site's ELF address */
	struct wire_key_place key;
};

/*
 * Key of the table of providers that WIRE_ROLE_IDENTIFY, _GUARD_QUERY and _GUARD_CALLED look up,
 * and of the table of steps: how far a provider, or a return address, lies from the site, which
 * does not depend on where the library was mapped.
 */
struct wire_provider_key {
	wire_u32 distance; /* it - site, modulo 2^32; or the query's number */
	wire_u32 site;	   /* the cookie */
};

struct wire_provider {
	wire_u16 query; /* WIRE_NO_QUERY: it has a start of its own */
	wire_u16 group;
	wire_u8 number; /* WIRE_ROLE_GUARD_QUERY: the guard's within its scope */
	wire_u8 kind;	/* enum wire_kind */
	wire_u8 hidden; /* as struct wire_site's */
	wire_u8 pad;
	struct wire_key_place key; /* WIRE_ROLE_IDENTIFY */
};

/* WIRE_ROLE_GUARD_CALLED: the next step from a return address. */
struct wire_step {
	wire_u16 slot;		/* units of 8 bytes above the site's sp */
	wire_u16 vtable_offset; /* of the provider's address in the vtable, units of 8 bytes */
	wire_u8 reg;		/* of the vtable (enum wire_reg); none: it is in the slot */
	wire_u8 next;		/* 1: no vtable, but another return address is in the slot */
	wire_u8 pad[2];
};

/* For callers: a query's wrappers. */
struct wire_wrappers {
	/*
	 * (sp of the wrapper's caller) - (sp of the body that the wrapper calls), in the two modes,
	 * in any order; 0: none. Queries are forced in the incremental mode only, and farther away
	 * than its distance, which is the larger one.
	 */
	wire_u16 reach[2];
	/* How far below that body's sp, at most, the query's provider is called; in the same order.
	 */
	wire_u16 between[2];
};

/* Key of the tables that have an entry for a query, or for a guard, of the plan of a library. */
static inline wire_u32 wire_lib_key(wire_u32 lib, wire_u32 number)
{
	return lib << 16 | number;
}

_Static_assert(sizeof(struct wire_site) == 40, "wire_site");
_Static_assert(sizeof(struct wire_provider_key) == 8, "wire_provider_key");
_Static_assert(sizeof(struct wire_provider) == 12, "wire_provider");
_Static_assert(sizeof(struct wire_step) == 8, "wire_step");
_Static_assert(sizeof(struct wire_wrappers) == 8, "wire_wrappers");
_Static_assert(WIRE_ROLE_DROP < WIRE_ROLE_MAX, "roles");

#endif /* QPROF_WIRE_SITES_H */

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel half keeps of a thread. The logic is in stack.h and off_cpu.h. */
#ifndef QPROF_THREAD_STACK_H
#define QPROF_THREAD_STACK_H

#include "qprof/wire.h"

#ifndef STACK_INLINE_FRAMES
#define STACK_INLINE_FRAMES 512 /* a power of two; deeper frames go to the overflow map */
#endif
#define STACK_MAX_FRAMES 65536
/*
 * Requests that wait at a time, a power of two: the oldest is forgotten for one more, and its
 * query's caller is not known then.
 */
#ifndef STACK_REQUESTS
#define STACK_REQUESTS 32
#endif

enum frame_state {
	FRAME_STARTED = 1, /* sp is the body's */
	FRAME_WRAPPED,	   /* started; sp is its wrapper's, above the body's */
	FRAME_GUARD,	   /* no query's: a guard's or a timer's; sp is that of its function */
};

struct frame {
	wire_u64 sp;
	wire_u64 start_ns;
	wire_u16 query; /* or what else wire_span.query is */
	wire_u16 group; /* or scope */
	wire_u16 depth; /* frames below this one that are not hidden */
	wire_u8 lib;
	wire_u8 state; /* enum frame_state */
	union {
		wire_u32 caller; /* as in struct wire_span */
		wire_u32 label;
	};
	wire_u16 number; /* within its scope; 0: a query's */
	wire_u8 kind;	 /* enum wire_kind */
	wire_u8 hidden;	 /* not asked for: never sent */
};

/* A wrapper that was called and has not led to a start. */
struct request {
	wire_u64 sp; /* its caller's, at the call: above all of the wrapper's frame */
	wire_u32 caller;
	wire_u16 query;
	wire_u8 lib;
	wire_u8 pad;
};

/* The logic of these two is in off_cpu.h. */
struct off_interval {
	wire_u64 start_ns;
	wire_u64 end_ns;
	wire_u32 reason; /* enum wire_off_reason */
	wire_u32 flags;	 /* enum wire_span_flag */
};

/* Intervals within one hit that can wait for its end, a power of two. */
#define OFF_CPU_WAITING 4

enum off_cpu_state {
	OFF_CPU_NOBODY, /* has no hit yet, or has exited: nothing is noted of it */
	OFF_CPU_IDLE,
	OFF_CPU_BUSY, /* in a program that works on the stack */
};

struct off_cpu {
	wire_u64 since_ns; /* the thread left its CPU then; 0: it is on one */
	wire_u64 last_ns;  /* end of its last interval */
	wire_u32 reason;   /* of since_ns */
	wire_u8 state;
	wire_u8 noted; /* intervals that ever waited, modulo 256, and of them: */
	wire_u8 sent;
	wire_u8 pad;
	wire_u64 n_told; /* that is not in the counters yet */
	struct off_interval waiting[OFF_CPU_WAITING];
};

struct thread_stack {
	wire_u64 seg_lo; /* bounds of the mapping that holds the sp of the last event */
	wire_u64 seg_hi;
	wire_u32 pid;
	wire_u32 tid;
	wire_u32 n;
	wire_u32 n_lost;      /* starts since the top frame's that found no room: all younger */
	wire_u32 seg_guessed; /* the mapping could not be told: only what is near sp is known */
	wire_u32 n_requests;
	wire_u64 hits; /* probe hits and spans sent that are not in the counters yet */
	wire_u64 spans;
	wire_u32 requests_end; /* index behind the youngest, modulo STACK_REQUESTS */
	wire_u32 changes;      /* how often a hit has begun, for who looks on from elsewhere */
	wire_u32 counted_lib;  /* whose queries are counted */
	wire_u32 pad;
	struct off_cpu off_cpu;
	struct request requests[STACK_REQUESTS];
	struct frame frames[STACK_INLINE_FRAMES];
	wire_u32 counted[WIRE_WATCHED_QUERIES]; /* executions that were not sent yet */
};

_Static_assert(sizeof(struct frame) == 32, "frame");
_Static_assert(sizeof(struct request) == 16, "request");
_Static_assert((STACK_REQUESTS & (STACK_REQUESTS - 1)) == 0, "masked index");
_Static_assert((STACK_INLINE_FRAMES & (STACK_INLINE_FRAMES - 1)) == 0, "masked index");

#endif /* QPROF_THREAD_STACK_H */

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of a thread in the kernel half. The logic is in stack.h and off_cpu.h. */
#ifndef QPROF_THREAD_STACK_H
#define QPROF_THREAD_STACK_H

#include "qprof/wire.h"

#ifndef STACK_INLINE_FRAMES
#define STACK_INLINE_FRAMES 128 /* a power of two; deeper frames go to the overflow map */
#endif
#define STACK_MAX_FRAMES 65536
/*
 * Requests that can wait at a time, a power of two. One more replaces the oldest, whose query then
 * has an unknown caller.
 */
#ifndef STACK_REQUESTS
#define STACK_REQUESTS 32
#endif

enum frame_state {
	FRAME_STARTED = 1, /* sp is the body's */
	FRAME_WRAPPED,	   /* started; sp is its wrapper's, above the body's */
	FRAME_GUARD,	   /* a guard or a timer; sp is its function's */
};

struct frame {
	wire_u64 sp;
	wire_u64 start_ns;
	wire_u16 query; /* as wire_span.query */
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
	wire_u8 hidden;	 /* not recorded: never sent */
	wire_u64 key;	 /* as in struct wire_span */
};

/* A wrapper that was called and has not led to a start. */
struct request {
	wire_u64 sp; /* its caller's, at the call: above the wrapper's whole frame */
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
	OFF_CPU_NOBODY, /* has no hit yet, or has exited: no intervals are kept */
	OFF_CPU_IDLE,
	OFF_CPU_BUSY, /* in a program that works on the stack */
};

struct off_cpu {
	wire_u64 since_ns; /* when the thread left its CPU; 0: it is on one */
	wire_u64 last_ns;  /* end of the last interval that was sent */
	wire_u32 reason;   /* of since_ns */
	wire_u8 state;
	wire_u8 noted; /* intervals that ever waited, modulo 256; */
	wire_u8 sent;  /* of these, sent */
	wire_u8 pad;
	wire_u64 n_sent; /* intervals that are not in the counters yet */
	struct off_interval waiting[OFF_CPU_WAITING];
};

/* A search through the frames or the requests of a thread: its terms and its results. */
struct search {
	wire_u64 sp;
	wire_u32 group;
	wire_u32 number; /* of a guard; 0: other frames at sp are dead */
	wire_u32 lib;	 /* of a guard */
	wire_u32 found;	 /* index + 1; 0 if none */
	wire_u32 keep;	 /* frames or requests that are not known to be dead */
	wire_u32 moved;	 /* index + 1 of the youngest timer at sp; 0 if none */
	wire_u32 given;	 /* the same for the youngest timer below sp */
	wire_u32 near;	 /* of an end: its start is less than this below sp */
	wire_u32 alive;	 /* the last frame examined on this stack is not dead */
};

/*
 * The working memory of a hit. It is not on the program's stack: from 6.13 on the kernel puts
 * frames of 64 bytes and more on a stack per CPU, and a uprobe's program may be preempted; see
 * docs/kernel-safety.md. One hit of a thread runs at a time. No program that interrupts it, or
 * reads the thread from another CPU, uses this memory.
 */
struct scratch {
	struct frame event;	     /* the current start or end */
	struct wire_context context; /* contexts.h */
	struct search search;
	struct wire_label_key label;
	struct wire_argument argument; /* of an activity that starts */
	wire_u64 value;		       /* that was just read for it */
	wire_u8 kind[WIRE_KIND_BYTES];
};

/* Where the thread waits: job_waits.h. */
struct thread_wait {
	wire_u64 since_ns; /* 0: it does not */
	wire_u64 job;
	wire_u64 current; /* address of its ImplicitCtxt */
	wire_u32 lib;	  /* whose job it is */
	wire_u32 pid;
	wire_u32 tid;
	wire_u32 lost; /* the job is in no table, or was not looked for */
};

struct thread_stack {
	wire_u64 seg_lo; /* bounds of the mapping that holds the sp of the last event */
	wire_u64 seg_hi;
	wire_u32 pid;
	wire_u32 tid; /* 0: no probe hit yet in this image */
	wire_u32 n;
	wire_u32 n_lost;      /* starts that found no room, all younger than the top frame */
	wire_u32 seg_guessed; /* the mapping is unknown: the bounds are a guess around sp */
	wire_u32 n_requests;
	wire_u64 hits;		/* probe hits that are not in the counters yet */
	wire_u64 spans;		/* the same for spans sent */
	wire_u32 requests_end;	/* index behind the youngest, modulo STACK_REQUESTS */
	wire_u32 changes;	/* hits that have begun, for a reader on another CPU */
	wire_u32 finished;	/* all of this context was copied: names_drop.h */
	wire_u32 context_tries; /* contexts.h */
	struct off_cpu off_cpu;
	struct thread_wait wait;
	struct scratch scratch;
	struct request requests[STACK_REQUESTS];
	struct frame frames[STACK_INLINE_FRAMES];
};

_Static_assert(sizeof(struct frame) == 40, "frame");
_Static_assert(sizeof(struct request) == 16, "request");
_Static_assert((STACK_REQUESTS & (STACK_REQUESTS - 1)) == 0, "masked index");
_Static_assert((STACK_INLINE_FRAMES & (STACK_INLINE_FRAMES - 1)) == 0, "masked index");

#endif /* QPROF_THREAD_STACK_H */

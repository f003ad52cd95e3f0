/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The records of a session, each of one type: those of the kernel half, whose size is compared with
 * the table in record.c as they leave the ring buffer, and reports of the session itself.
 *
 * Another record of the kernel half takes its struct (qprof/wire.h), a row of that table, a member
 * of the union, and a case where it is used.
 */
#ifndef QPROF_CAPTURE_RECORD_H
#define QPROF_CAPTURE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/arguments.h"
#include "plan/mine/llvm.h"
#include "plan/plan.h"
#include "qprof/wire.h"

/* Besides enum wire_type. */
enum record_kind {
	RECORD_BAD = 0, /* of an unknown type, or its size is wrong: to be counted as lost */
	/* A library was attached; its records carry `lib`. Comes before any of them. */
	RECORD_LIBRARY = 128,
	RECORD_RUNNING, /* a process was running already when it was first followed */
	/*
	 * The compiler that a process executed began before the probes of its library were there:
	 * its first queries may be missing. Comes after the record of that exec.
	 */
	RECORD_LATE,
	RECORD_WAITED, /* a compiler waited so long for its probes, and runs now */
	RECORD_CWD,    /* the working directory, after RECORD_RUNNING or WIRE_EXEC */
	/*
	 * With samples: wire_place() has this number for this file. Comes before any sample with
	 * it. A sink that keeps the file takes a reference.
	 */
	RECORD_FILE,
	/*
	 * Shows the passes of LLVM in that file, after RECORD_FILE, and before any sample with a
	 * pass of it. A sink that keeps the plan takes a reference.
	 */
	RECORD_LLVM,
	/*
	 * Why samples do not show what LLVM does in a process: text for a line. After the record of
	 * its exec, and at the latest with its first sample after that is known.
	 */
	RECORD_NO_LLVM,
};

#define RECORD_NO_PID UINT32_MAX

/* Valid within the call that passes it. */
struct record {
	uint8_t kind; /* enum wire_type or enum record_kind */
	uint8_t lib;  /* RECORD_LIBRARY */
	uint32_t pid; /* of the process that it is about, a fork's child; or RECORD_NO_PID */
	size_t size;  /* of `bytes`, of the kernel half's records */
	union {
		const void *bytes; /* of the kernel half's records: the same as the next ones */
		const struct wire_span *span;
		const struct wire_fork *fork;
		/* After session_sink__exec() all arguments, up to WIRE_COMMAND_MAX bytes. */
		const struct wire_exec *exec;
		const struct wire_exit *exit;
		const struct wire_label *label;
		const struct wire_hit *hit;
		const struct wire_thread *thread;
		const struct wire_off_cpu *off_cpu;
		const struct wire_open_frame *open_frame;
		const struct wire_open_stack *open_stack;
		const struct wire_names_end *names_end;
		const struct wire_job *job;
		const struct wire_fed *fed;
		/* The struct ends with the items that it counts; the rest is not there. */
		const struct wire_piece *piece;
		const struct wire_symbols *symbols;
		const struct wire_argument *argument;
		const struct wire_sample *sample;
		const struct wire_counts *counts;
		const struct wire_llvm_name *llvm_name;

		struct {
			const struct plan *plan;
			/* By number in the plan. */
			const bool *queries; /* whose executions are recorded */
			const bool *guards;  /* whose intervals are */
		} library;
		struct {
			pid_t parent;
			uint64_t now_ns;
			const struct arguments *args;
		} running;
		uint64_t waited_ns;
		const char *text; /* RECORD_CWD, RECORD_NO_LLVM */
		struct {
			uint32_t number;
			struct library_file *file; /* NULL: the kernel's vdso */
			struct llvm_plan *llvm;	   /* RECORD_LLVM */
		} file;
	};
};

/* 0 or a negative errno, which ends the call that caused it. */
typedef int (*record_fn)(void *ctx, const struct record *r);

/*
 * The record that these bytes are, which are aligned as a uint64_t: its kind is RECORD_BAD if they
 * are none, and else each field and each counted item can be read.
 */
struct record record_of(const void *bytes, size_t size);

#endif /* QPROF_CAPTURE_RECORD_H */

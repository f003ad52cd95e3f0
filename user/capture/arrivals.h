/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Compilers as they start: a process that maps a library waits in a ptrace stop until the library
 * is attached to, for 3 s at most. Processes that come too late, or cannot be recorded, are counted
 * and named.
 */
#ifndef QPROF_CAPTURE_ARRIVALS_H
#define QPROF_CAPTURE_ARRIVALS_H

#include "capture/kernel.h"
#include "capture/libraries.h"
#include "capture/broker.h"
#include "capture/mappings.h"
#include "capture/sampling.h"
#include "capture/scope.h"
#include "capture/session_sink.h"

struct arrivals;

/* The parts of the session that arrivals use. They outlive the arrivals. */
struct arrivals_parts {
	struct kernel *kernel;
	struct libraries *libs;
	struct broker *broker;
	struct mappings *mappings; /* NULL: new mappings are not seen */
	struct sampling *sampling; /* or NULL */
	int wake_fd;		   /* an eventfd; ptrace stops write to it */
	/* Reads the records that wait, of which arrivals__on_exec() gets execs. */
	int (*drain)(void *ctx);
	void *drain_ctx;
};

/* 0 or -ENOMEM. */
int arrivals__new(const struct arrivals_parts *parts, const struct session_sink *sink,
		  struct arrivals **out);

/* Processes of this scope are followed as they start. Until then none is. */
void arrivals__set_scope(struct arrivals *all, struct scope *scope);

/* Counting began at this time, CLOCK_MONOTONIC; 0: it is stopped. */
void arrivals__set_started(struct arrivals *all, uint64_t started_ns);

/* A followed process has called execve. */
int arrivals__on_exec(struct arrivals *all, const struct wire_exec *e);

/* Take new mappings, and stop the processes that have to wait. */
int arrivals__take(struct arrivals *all);

/* Let a process run on once its library is attached to or has failed, or its time is over. */
int arrivals__release(struct arrivals *all);

/* Let all run on. A process whose library is not attached to yet is late. */
int arrivals__let_all_go(struct arrivals *all);

/*
 * The recording ends: let all run on and forget them. `last`, after the last drain: compilers whose
 * library is not attached to by now are missing.
 */
void arrivals__end(struct arrivals *all, bool last);

/* For struct libraries_ops: the libraries of followed and of waiting processes. */
int arrivals__each_user(struct arrivals *all, libraries_user_fn fn, void *arg);

/* Processes that wait. */
uint32_t arrivals__n(const struct arrivals *all);

/* `n` more compilers are missing. The caller has printed the reason. */
void arrivals__add_missing(struct arrivals *all, uint32_t n);
uint32_t arrivals__missing(const struct arrivals *all);

/* How long compilers waited in ptrace stops, summed, in ns, and how many did. */
uint64_t arrivals__waited_ns(const struct arrivals *all, uint32_t *n);

/* Print how long compilers waited, and how many are late or missing. */
void arrivals__report(const struct arrivals *all);

/* A compile server may compile for a followed process. */
bool arrivals__have_clients(const struct arrivals *all);

/* Print which compilers ran meanwhile and were not recorded; nothing if none did. */
void arrivals__report_outsiders(const struct arrivals *all);

/* All run on. */
void arrivals__free(struct arrivals *all);
DEFINE_CLEANUP(struct arrivals, arrivals__free)
#define _arrivals_ __cleanup(arrivals__free_p)

#endif /* QPROF_CAPTURE_ARRIVALS_H */

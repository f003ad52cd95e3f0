// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Judges the rehearsal of a recording, and other recordings. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "capture/privilege.h"
#include "doctor/judge.h"

/* What a hit costs; else which loss the counters have, or why no hit was counted. */
static void judge_probes(struct findings *f, const struct probe_costs *costs)
{
	const struct probe_rehearsal *r = &costs->rehearsal;
	const uint64_t *counters = r->counters;
	uint64_t hits = counters[WIRE_COUNT_HITS], no_storage = counters[WIRE_LOST_NO_STORAGE];

	if (costs->emulated.hit_ps)
		findings__add(f, FINDING_RECORDING, FINDING_OK, "probes", NULL,
			      "a hit costs %" PRIu64 " ns; on a single-stepped instruction %" PRIu64
			      " ns",
			      costs->emulated.hit_ps / 1000, costs->stepped.hit_ps / 1000);
	else if (r->spans && !no_storage)
		findings__add(
			f, FINDING_RECORDING, FINDING_NOTE, "probes",
			"run this again when the machine is idle",
			"they fire, but the times of their hits vary too much to measure what "
			"one costs");
	else if (hits && no_storage)
		findings__add(f, FINDING_RECORDING, FINDING_PROBLEM, "probes",
			      "look for a newer qprof-bpf, or use another kernel",
			      "they fire, but %" PRIu64 " of %" PRIu64
			      " hits were lost: the kernel gives no memory for a thread's stack "
			      "(task storage)",
			      no_storage, hits);
	else if (hits && counters[WIRE_LOST_RING_FULL])
		findings__add(f, FINDING_RECORDING, FINDING_PROBLEM, "probes",
			      "look for a newer qprof-bpf",
			      "they fire, but %" PRIu64 " records were lost: the ring buffer was "
			      "full",
			      counters[WIRE_LOST_RING_FULL]);
	else if (hits)
		findings__add(f, FINDING_RECORDING, FINDING_PROBLEM, "probes",
			      "look for a newer qprof-bpf",
			      "they fired %" PRIu64 " times, but no record came of it", hits);
	else if (!r->called)
		findings__add(f, FINDING_RECORDING, FINDING_PROBLEM, "probes", NULL,
			      "unknown: the process that was to hit them died or found no "
			      "memory");
	else if (!r->written)
		findings__add(f, FINDING_RECORDING, FINDING_PROBLEM, "probes", NULL,
			      "the kernel accepted them, but wrote no breakpoint into our program");
	else if (counters[WIRE_LOST_RECURSION])
		findings__add(f, FINDING_RECORDING, FINDING_PROBLEM, "probes", NULL,
			      "the kernel refused to run our programs at %" PRIu64 " hits, as one "
			      "was running there",
			      counters[WIRE_LOST_RECURSION]);
	else if (counters[WIRE_COUNT_HITS_OTHER])
		findings__add(f, FINDING_RECORDING, FINDING_PROBLEM, "probes", NULL,
			      "%" PRIu64 " hits were those of a process that is not followed: "
			      "the kernel knows ours by another number",
			      counters[WIRE_COUNT_HITS_OTHER]);
	else
		findings__add(f, FINDING_RECORDING, FINDING_PROBLEM, "probes", NULL,
			      "the breakpoints are there, but the kernel ran no program at them");
}

#define AFTER_PROBLEMS                                                                        \
	"mend the problems above; if there are none, run this with -vv for the kernel's own " \
	"words"

static void judge_rehearsal(struct findings *f, const struct doctor_facts *facts,
			    const struct doctor_trials *t)
{
	bool refused = t->record == -EPERM || t->record == -EACCES;
	char missing[128];

	if (t->record && privilege_missing(facts->capabilities, 0, missing, sizeof(missing))) {
		findings__add(f, FINDING_RECORDING, FINDING_NOTE, "rehearsal", NULL,
			      "not done, as capabilities are missing");
		return;
	}
	if (refused)
		findings__add(f, FINDING_RECORDING, FINDING_PROBLEM, "rehearsal", AFTER_PROBLEMS,
			      "the kernel half cannot be loaded or attached: %s%s",
			      strerror(-t->record),
			      t->bpf_filtered ? "; a seccomp filter refuses bpf(2)" : "");
	else if (t->record)
		findings__add(f, FINDING_RECORDING, FINDING_PROBLEM, "rehearsal", AFTER_PROBLEMS,
			      "%s", t->why);
	if (t->record)
		return;
	findings__add(f, FINDING_RECORDING, FINDING_OK, "rehearsal", NULL,
		      "every program was loaded, and attached to functions of our own by %s",
		      t->attach);
	judge_probes(f, &t->costs);
}

static void judge_samples(struct findings *f, const struct doctor_trials *t)
{
	char why[PERF_REFUSAL_MAX];

	if (t->record)
		return;
	if (!t->samples)
		findings__add(f, FINDING_RECORDING, FINDING_OK, "samples", NULL,
			      "the programs that take them were loaded, and perf events run them "
			      "(--sample)");
	else if (t->no_samples.err)
		findings__add(f, FINDING_RECORDING, FINDING_NOTE, "samples",
			      perf_refusal__fix(&t->no_samples),
			      "stacks cannot be sampled (--sample): %s",
			      perf_refusal__why(&t->no_samples, why, sizeof(why)));
	else
		findings__add(f, FINDING_RECORDING, FINDING_NOTE, "samples",
			      "record without --sample, --memory and --off-cpu-stacks; run this "
			      "with -vv for the kernel's own words",
			      "stacks cannot be sampled (--sample): %s",
			      t->samples_why[0] ? t->samples_why : strerror(-t->samples));
}

void judge_recording(struct findings *f, const struct doctor_facts *facts,
		     const struct doctor_trials *t, const struct other_recordings *others)
{
	uint32_t left = others->n - others->held;

	judge_rehearsal(f, facts, t);
	judge_samples(f, t);
	if (others->err == -EPERM)
		findings__add(f, FINDING_RECORDING, FINDING_NOTE, "other recordings", NULL,
			      "unknown: asking needs CAP_SYS_ADMIN");
	else if (others->err)
		findings__add(f, FINDING_RECORDING, FINDING_NOTE, "other recordings", NULL,
			      "unknown: %s", strerror(-others->err));
	else if (!others->n)
		findings__add(f, FINDING_RECORDING, FINDING_OK, "other recordings", NULL,
			      "none, and none has left probes behind");
	if (others->held)
		findings__add(f, FINDING_RECORDING, FINDING_NOTE, "other recordings",
			      "wait for their end if times matter",
			      "%" PRIu32 " in progress (process %d): their probes slow down "
			      "every compiler",
			      others->held, (int)others->pid);
	if (left)
		findings__add(f, FINDING_RECORDING, FINDING_NOTE, "other recordings",
			      "the kernel removes it by itself; if it is still there after some "
			      "minutes, \"bpftool link\" shows its owner",
			      "%" PRIu32 " that ended has left its probes behind", left);
}

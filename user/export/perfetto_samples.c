// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/perfetto_samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/code_name.h"
#include "analyze/model.h"
#include "base/array.h"
#include "base/map.h"
#include "export/flame_samples.h"
#include "export/perfetto_fields.h"
#include "export/protobuf.h"
#include "trace/interner.h"

/* Sequence 1 has everything else. */
#define SEQUENCE_OF(cause) (1u + (cause))

/* The file of queries and other intervals. */
#define INTERVALS "queries"

enum space {
	SENT_STACK = 1,
	SENT_FRAME,
	SENT_FUNCTION,
	SENT_FILE,
};

/* Names of what LLVM did, as functions, and stacks with these, have numbers from here on. */
#define LLVM_FUNCTIONS (1u << 31)
#define LLVM_STACKS    (1u << 31)

/* Numbers are those of all sequences; iids are 1 more. */
struct perfetto_samples {
	struct export_job *job;
	struct trace_sampling sampling;
	struct code_functions functions;
	struct interner files; /* by build id and path */
	struct u64_map frames; /* kind << 32 | place -> number */
	struct llvm_frames llvm;
	struct interner llvm_names;
	struct u64_map llvm_stacks;		  /* stack << 32 | entry of LLVM -> number */
	struct u64_map sent[TRACE_SAMPLE_CAUSES]; /* enum space << 32 | number */
	bool begun[TRACE_SAMPLE_CAUSES];
	uint32_t *path; /* entries of a stack, the innermost first */
	uint32_t n_path;
	uint32_t path_capacity;
	/* The packet being made, and the messages nested in it. */
	struct byte_buffer packet, interned, entry, ids;
};

int perfetto_samples__new(struct export_job *job, struct perfetto_samples **out)
{
	const struct model_options options = model_options_of(job->r);
	struct perfetto_samples *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->job = job;
	s->functions = (struct code_functions){.source = options.stacks, .texts = options.texts};
	s->llvm = (struct llvm_frames){.r = job->r};
	*out = s;
	return 0;
}

void perfetto_samples__set(struct perfetto_samples *s, const struct trace_sampling *sampling)
{
	s->sampling = *sampling;
}

static int put_packet(struct perfetto_samples *s, uint8_t cause)
{
	protobuf__varint(&s->packet, PACKET_SEQUENCE_ID, SEQUENCE_OF(cause));
	return protobuf__put(s->job->out, TRACE_PACKET, &s->packet);
}

/* The first packet of a sequence: what its samples are. */
static int begin(struct perfetto_samples *s, uint8_t cause)
{
	bool cpu = cause == TRACE_SAMPLE_CPU;
	bool realtime = trace_reader__info(s->job->r)->clock == TRACE_CLOCK_REALTIME;

	protobuf__varint(&s->entry, cpu ? TIMEBASE_FREQUENCY : TIMEBASE_PERIOD,
			 cpu ? s->sampling.hz : s->sampling.fault_period);
	protobuf__varint(&s->entry, TIMEBASE_COUNTER, cpu ? COUNTER_TASK_CLOCK : COUNTER_FAULTS);
	protobuf__text(&s->entry, TIMEBASE_NAME, cpu ? "CPU time" : TIMELINE_MEMORY);
	protobuf__message(&s->ids, PERF_DEFAULTS_TIMEBASE, &s->entry);
	byte_buffer__clear(&s->entry);
	protobuf__varint(&s->entry, DEFAULTS_TIMESTAMP_CLOCK_ID,
			 realtime ? CLOCK_REALTIME_ID : CLOCK_MONOTONIC_ID);
	protobuf__message(&s->entry, DEFAULTS_PERF_SAMPLE, &s->ids);
	byte_buffer__clear(&s->ids);
	protobuf__message(&s->packet, PACKET_DEFAULTS, &s->entry);
	byte_buffer__clear(&s->entry);
	protobuf__varint(&s->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_STATE_CLEARED);
	s->begun[cause] = true;
	return put_packet(s, cause);
}

/* ---- Data that are sent once ----------------------------------------------------------------- */

/* Whether it has to be sent; it then counts as sent. -ENOMEM. */
static int is_new(struct perfetto_samples *s, uint8_t cause, enum space space, uint32_t number)
{
	uint64_t key = (uint64_t)space << 32 | number;

	if (u64_map__get(&s->sent[cause], key) != U64_MAP_NONE)
		return 0;
	return u64_map__put(&s->sent[cause], key, 1) ? -ENOMEM : 1;
}

/* The number of a key, from 0 on. U64_MAP_NONE: no memory. */
static uint32_t number_of(struct u64_map *numbers, uint64_t key)
{
	uint32_t number = u64_map__get(numbers, key);

	if (number != U64_MAP_NONE)
		return number;
	number = (uint32_t)numbers->used;
	return u64_map__put(numbers, key, number) ? U64_MAP_NONE : number;
}

/* Add the message in `entry` to the interned data. */
static void put_entry(struct perfetto_samples *s, unsigned int field)
{
	protobuf__message(&s->interned, field, &s->entry);
	byte_buffer__clear(&s->entry);
}

static void put_string(struct perfetto_samples *s, unsigned int field, uint32_t iid,
		       const char *text)
{
	protobuf__varint(&s->entry, ENTRY_IID, iid);
	protobuf__text(&s->entry, ENTRY_TEXT, text);
	put_entry(s, field);
}

/* Bytes from hex digits; nothing of a text that is none. */
static void put_build_id(struct perfetto_samples *s, uint32_t iid, const char *hex)
{
	static const char digits[] = "0123456789abcdef";

	byte_buffer__clear(&s->ids);
	for (const char *at = hex; at[0] && at[1]; at += 2) {
		const char *high = strchr(digits, at[0]), *low = strchr(digits, at[1]);
		uint8_t byte;

		if (!high || !low)
			break;
		byte = (uint8_t)((high - digits) << 4 | (low - digits));
		byte_buffer__bytes(&s->ids, &byte, 1);
	}
	protobuf__varint(&s->entry, ENTRY_IID, iid);
	protobuf__message(&s->entry, ENTRY_TEXT, &s->ids);
	put_entry(s, INTERNED_BUILD_IDS);
	byte_buffer__clear(&s->ids);
}

/* *iid: of the file of code, or of intervals. */
static int send_file(struct perfetto_samples *s, uint8_t cause, const struct trace_function *f,
		     uint32_t *iid)
{
	const char *path = f ? f->file ?: "unknown" : INTERVALS;
	const char *build_id = f ? f->library ?: "" : "";
	_free_ char *key = NULL;
	uint32_t number;
	bool first;
	int new;

	if (asprintf(&key, "%s %s", build_id, path) < 0) {
		key = NULL;
		return -ENOMEM;
	}
	if (interner__id(&s->files, key, &number, &first))
		return -ENOMEM;
	*iid = number + 1;
	new = is_new(s, cause, SENT_FILE, number);
	if (new <= 0)
		return new;
	/* A viewer puts a slash before each component. */
	put_string(s, INTERNED_MAPPING_PATHS, *iid, path + (*path == '/'));
	if (*build_id)
		put_build_id(s, *iid, build_id);
	protobuf__varint(&s->entry, ENTRY_IID, *iid);
	if (*build_id)
		protobuf__varint(&s->entry, MAPPING_BUILD_ID, *iid);
	protobuf__varint(&s->entry, MAPPING_PATH_IDS, *iid);
	put_entry(s, INTERNED_MAPPINGS);
	return 0;
}

static int send_function(struct perfetto_samples *s, uint8_t cause, uint32_t number)
{
	const struct code_function *f = &s->functions.at[number];
	_free_ char *name = NULL;
	int new = is_new(s, cause, SENT_FUNCTION, number);

	if (new <= 0)
		return new;
	if (asprintf(&name, f->part == CODE_NO_PART ? "[%s]" : "%s", f->name) < 0) {
		name = NULL;
		return -ENOMEM;
	}
	put_string(s, INTERNED_FUNCTION_NAMES, number + 1, name);
	return 0;
}

/* *iid: of the frame of an entry. Its address is as in the file of code; an interval has a number.
 */
static int send_frame(struct perfetto_samples *s, uint8_t cause, const struct trace_stack *entry,
		      uint32_t *iid)
{
	static const struct trace_function nowhere = {.name = ""};
	const struct stack_source *source = &s->functions.source;
	struct trace_location at = {.function = &nowhere};
	bool is_code = entry->kind == TRACE_STACK_LOCATION;
	uint64_t key = (uint64_t)entry->kind << 32 | entry->place;
	uint32_t number = number_of(&s->frames, key), function, file;
	int new;

	if (number == U64_MAP_NONE)
		return -ENOMEM;
	*iid = number + 1;
	new = is_new(s, cause, SENT_FRAME, number);
	if (new <= 0)
		return new;
	if (is_code && entry->place != TRACE_NO_LOCATION &&
	    !source->locate(source->ctx, entry->place, &at))
		at.function = &nowhere;
	if (code_functions__find(&s->functions, entry, &function) ||
	    send_function(s, cause, function) ||
	    send_file(s, cause, is_code ? at.function : NULL, &file))
		return -ENOMEM;
	protobuf__varint(&s->entry, ENTRY_IID, *iid);
	protobuf__varint(&s->entry, FRAME_FUNCTION_ID, function + 1);
	protobuf__varint(&s->entry, FRAME_MAPPING_ID, file);
	protobuf__varint(&s->entry, FRAME_REL_PC,
			 is_code ? at.function->addr + at.offset : entry->place);
	put_entry(s, INTERNED_FRAMES);
	return 0;
}

/* *iid: of a frame that is no code and has this name. */
static int send_named(struct perfetto_samples *s, uint8_t cause, const char *name, uint32_t *iid)
{
	uint32_t number, function, file;
	bool first;
	int new;

	if (interner__id(&s->llvm_names, name, &number, &first))
		return -ENOMEM;
	*iid = function = LLVM_FUNCTIONS + number;
	new = is_new(s, cause, SENT_FRAME, function);
	if (new <= 0)
		return new;
	put_string(s, INTERNED_FUNCTION_NAMES, function, name);
	if (send_file(s, cause, NULL, &file))
		return -ENOMEM;
	protobuf__varint(&s->entry, ENTRY_IID, *iid);
	protobuf__varint(&s->entry, FRAME_FUNCTION_ID, function);
	protobuf__varint(&s->entry, FRAME_MAPPING_ID, file);
	protobuf__varint(&s->entry, FRAME_REL_PC, function);
	put_entry(s, INTERNED_FRAMES);
	return 0;
}

/* Add the frames of an entry of LLVM, if any, to the stack in `packet`. */
static int put_llvm(struct perfetto_samples *s, uint8_t cause, uint32_t llvm)
{
	const struct llvm_frame *frame = llvm_frames__of(&s->llvm, llvm);

	if (!frame)
		return -ENOMEM;
	for (size_t i = 0; i < N_OF(frame->names); i++) {
		uint32_t iid;

		if (!frame->names[i])
			continue;
		if (send_named(s, cause, frame->names[i], &iid))
			return -ENOMEM;
		protobuf__varint(&s->packet, CALLSTACK_FRAME_IDS, iid);
	}
	return 0;
}

/* Add the frames of a stack to that in `packet`, with those of LLVM before its own functions. */
static int put_frames(struct perfetto_samples *s, uint8_t cause, uint32_t id, uint32_t llvm)
{
	const struct stack_source *source = &s->functions.source;
	struct trace_stack entry;

	s->n_path = 0;
	for (uint32_t at = id; stack_source__entry(source, at, &entry); at = entry.parent)
		if (array__add(&s->path, &s->n_path, &s->path_capacity, &at))
			return -ENOMEM;
	for (uint32_t i = s->n_path; i-- > 0;) {
		uint32_t iid;

		if (!stack_source__entry(source, s->path[i], &entry))
			continue;
		if (llvm != TRACE_NO_LLVM && llvm_frames__precede(&s->functions, &entry)) {
			if (put_llvm(s, cause, llvm))
				return -ENOMEM;
			llvm = TRACE_NO_LLVM;
		}
		if (send_frame(s, cause, &entry, &iid))
			return -ENOMEM;
		protobuf__varint(&s->packet, CALLSTACK_FRAME_IDS, iid);
	}
	return put_llvm(s, cause, llvm);
}

/* *iid: of its stack; 0: it has none. Frames come before the message that has their ids. */
static int send_stack(struct perfetto_samples *s, const struct trace_sample *sample, uint32_t *iid)
{
	uint8_t cause = sample->cause;
	uint32_t number;
	int new;

	*iid = sample->stack;
	if (sample->llvm != TRACE_NO_LLVM) {
		number = number_of(&s->llvm_stacks, (uint64_t)sample->stack << 32 | sample->llvm);
		if (number == U64_MAP_NONE)
			return -ENOMEM;
		*iid = LLVM_STACKS + number;
	}
	new = *iid == TRACE_NO_STACK ? 0 : is_new(s, cause, SENT_STACK, *iid);
	if (new <= 0)
		return new;
	byte_buffer__clear(&s->packet);
	if (put_frames(s, cause, sample->stack, sample->llvm))
		return -ENOMEM;
	protobuf__varint(&s->packet, ENTRY_IID, *iid);
	protobuf__message(&s->interned, INTERNED_CALLSTACKS, &s->packet);
	byte_buffer__clear(&s->packet);
	return 0;
}

/* ---- Samples --------------------------------------------------------------------------------- */

int perfetto_samples__add(struct perfetto_samples *s, const struct timeline_thread *t,
			  const struct trace_sample *sample)
{
	static const uint8_t errors[TRACE_CUT_MAX] = {
		[TRACE_CUT_NO_MAP] = UNWIND_INVALID_MAP,
		[TRACE_CUT_NO_RULE] = UNWIND_INFO,
		[TRACE_CUT_NO_PAGE] = UNWIND_MEMORY_INVALID,
		[TRACE_CUT_TOO_DEEP] = UNWIND_MAX_FRAMES,
	};
	uint8_t cause = sample->cause;
	uint32_t stack;
	int err = 0;

	if (cause != TRACE_SAMPLE_CPU && cause != TRACE_SAMPLE_FAULT)
		return 0;
	if (!s->begun[cause])
		err = begin(s, cause);
	err = err ?: send_stack(s, sample, &stack);
	if (err)
		return err;
	protobuf__varint(&s->entry, PERF_SAMPLE_PID, t->process->pid);
	protobuf__varint(&s->entry, PERF_SAMPLE_TID, t->tid);
	if (stack)
		protobuf__varint(&s->entry, PERF_SAMPLE_CALLSTACK_IID, stack);
	if (sample->cut != TRACE_CUT_NOT)
		protobuf__varint(&s->entry, PERF_SAMPLE_UNWIND_ERROR, errors[sample->cut]);
	protobuf__varint(&s->packet, PACKET_TIMESTAMP, sample->time_ns);
	protobuf__message(&s->packet, PACKET_PERF_SAMPLE, &s->entry);
	if (s->interned.size)
		protobuf__message(&s->packet, PACKET_INTERNED_DATA, &s->interned);
	protobuf__varint(&s->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
	byte_buffer__clear(&s->entry);
	byte_buffer__clear(&s->interned);
	return put_packet(s, cause);
}

/* A stack of any depth; what is left out is the outermost. */
#define TEXT_FUNCTIONS 48

bool perfetto_samples__wait(struct perfetto_samples *s, uint32_t stack, struct perfetto_wait *out)
{
	const struct stack_source *source = &s->functions.source;
	const struct code_function *f;
	struct trace_stack entry;
	bool is_general = true;
	size_t size;
	FILE *to;

	*out = (struct perfetto_wait){};
	to = open_memstream(&out->stack, &size);
	for (int i = 0; to && i < TEXT_FUNCTIONS; i++) {
		uint32_t number;

		if (!stack_source__entry(source, stack, &entry) ||
		    code_functions__find(&s->functions, &entry, &number))
			break;
		f = &s->functions.at[number];
		fprintf(to, f->part == CODE_NO_PART ? "%s[%s]" : "%s%s", i ? "\n" : "", f->name);
		if (!out->name || (is_general && f->part != CODE_NO_PART && !f->is_general)) {
			out->function = number;
			is_general = f->part == CODE_NO_PART || f->is_general;
		}
		out->name = s->functions.at[out->function].name;
		stack = entry.parent;
	}
	if (!to || fclose(to))
		return false;
	return out->name;
}

void perfetto_samples__free(struct perfetto_samples *s)
{
	if (!s)
		return;
	code_functions__destroy(&s->functions);
	interner__destroy(&s->files);
	u64_map__destroy(&s->frames);
	u64_map__destroy(&s->llvm_stacks);
	interner__destroy(&s->llvm_names);
	llvm_frames__destroy(&s->llvm);
	for (int cause = 0; cause < TRACE_SAMPLE_CAUSES; cause++)
		u64_map__destroy(&s->sent[cause]);
	free(s->path);
	byte_buffer__destroy(&s->packet);
	byte_buffer__destroy(&s->interned);
	byte_buffer__destroy(&s->entry);
	byte_buffer__destroy(&s->ids);
	free(s);
}

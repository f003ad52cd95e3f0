// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/llvm_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* What an entry of stacks, with those around it, says of LLVM. */
struct llvm_place {
	uint32_t native; /* number of the innermost function of LLVM, plus 1 */
	uint32_t pass;	 /* likewise, of the function run() of a pass */
	uint8_t words;	 /* index in the words, plus 1 */
	bool known;
};

int llvm__new(const struct llvm_source *source, const struct stack_source *stacks,
	      const struct trace_texts *texts, struct llvm **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->source = *source;
	(*out)->texts = *texts;
	(*out)->code.source = *stacks;
	(*out)->code.texts = *texts;
	return 0;
}

void llvm__set_instances(struct llvm *l, const struct llvm_instances *instances)
{
	l->instances = *instances;
}

int llvm__process(struct llvm *l, const struct trace_process *p)
{
	if (array__reserve_at(&l->processes, p->index, &l->n_processes, sizeof(*l->processes)))
		return -ENOMEM;
	l->processes[p->index].crate = p->crate;
	l->processes[p->index].no_llvm = p->no_llvm;
	return 0;
}

/* ---- Words ----------------------------------------------------------------------------------- */

#define NO_WORDS UINT32_MAX

enum {
	DWARF,
	OBJECT,
	BITCODE,
	IMPORT,
	MAKING,
	FREEING,
};

const struct llvm_words llvm_words[] = {
	[DWARF] = {"debug information (DWARF)", LLVM_MACHINE_CODE, true},
	[OBJECT] = {"writing the object file", LLVM_MACHINE_CODE, true},
	[BITCODE] = {"bitcode", LLVM_ELSE, true},
	[IMPORT] = {"LTO: import of functions", LLVM_ELSE, false},
	[MAKING] = {"making LLVM's code", LLVM_ELSE, false},
	[FREEING] = {"freeing LLVM's code", LLVM_ELSE, false},
};

/*
 * Classes and functions of LLVM by the beginning of their name without "llvm::" and without the
 * anonymous namespace: a list of what is easily told, for other functions stand for themselves.
 */
static const struct {
	const char *begins;
	uint8_t words;
} functions[] = {
	{"DwarfDebug", DWARF},
	{"DwarfUnit", DWARF},
	{"DwarfCompileUnit", DWARF},
	{"DwarfFile", DWARF},
	{"DwarfStringPool", DWARF},
	{"DwarfExpression", DWARF},
	{"DebugHandlerBase", DWARF},
	{"DIE", DWARF},
	{"MCDwarf", DWARF},
	{"MCAssembler", OBJECT},
	{"MCObjectStreamer", OBJECT},
	{"MCELFStreamer", OBJECT},
	{"MCObjectWriter", OBJECT},
	{"ELFObjectWriter", OBJECT},
	{"ELFWriter", OBJECT},
	{"MachObjectWriter", OBJECT},
	{"WinCOFFObjectWriter", OBJECT},
	{"WinCOFFWriter", OBJECT},
	{"BitcodeWriter", BITCODE},
	{"BitcodeReader", BITCODE},
	{"BitcodeModule", BITCODE},
	{"getLazyBitcodeModule", BITCODE},
	{"ModuleBitcodeWriter", BITCODE},
	{"ThinLTOBitcodeWriter", BITCODE},
	{"BitstreamWriter", BITCODE},
	{"BitstreamCursor", BITCODE},
	{"ValueEnumerator", BITCODE},
	{"MetadataLoader", BITCODE},
	{"WriteBitcodeToFile", BITCODE},
	{"parseBitcode", BITCODE},
	{"LLVMRustParseBitcode", BITCODE},
	{"LLVMRustThinLTOBuffer", BITCODE},
	{"FunctionImporter", IMPORT},
	{"FunctionImportGlobalProcessing", IMPORT},
	{"IRMover", IMPORT},
	{"IRLinker", IMPORT},
	{"Linker::", IMPORT},
	{"thinLTO", IMPORT},
	{"renameModuleForThinLTO", IMPORT},
	{"ComputeCrossModuleImport", IMPORT},
	{"LLVMRustPrepareThinLTO", IMPORT},
	{"LLVMRustCreateThinLTOData", IMPORT},
	{"LLVMBuild", MAKING},
	{"LLVMConst", MAKING},
	{"LLVMAdd", MAKING},
	{"LLVMSet", MAKING},
	{"LLVMRustBuild", MAKING},
	{"LLVMRustDIBuilder", MAKING},
	{"LLVMRustGetOrInsert", MAKING},
	{"DIBuilder", MAKING},
	{"Attribute", MAKING},
	{"LLVMContextImpl", FREEING},
	{"LLVMContextDispose", FREEING},
	{"LLVMDisposeModule", FREEING},
	{"Module::dropAllReferences", FREEING},
};

static const char *without(const char *name, const char *lead)
{
	size_t n = strlen(lead);

	return strncmp(name, lead, n) ? name : name + n;
}

/* The number of the words for a native function, by its plain name; or NO_WORDS. */
static uint32_t find_words(const char *native)
{
	const char *name = without(native, "llvm::");

	name = without(without(name, "{anonymous}::"), "(anonymous namespace)::");
	for (size_t i = 0; i < N_OF(functions); i++)
		if (!strncmp(name, functions[i].begins, strlen(functions[i].begins)))
			return functions[i].words;
	return NO_WORDS;
}

/* ---- Stacks ---------------------------------------------------------------------------------- */

/* Outer entries have smaller numbers, so those are known first. */
static int place_of(struct llvm *l, uint32_t stack, struct llvm_place *out)
{
	*out = (struct llvm_place){};
	if (stack == TRACE_NO_STACK)
		return 0;
	if (stack >= l->n_places &&
	    array__reserve_at(&l->places, stack, &l->n_places, sizeof(*l->places)))
		return -ENOMEM;
	for (; l->n_known <= stack; l->n_known++) {
		struct llvm_place *place = &l->places[l->n_known];
		struct trace_stack entry;
		const char *pass;
		uint32_t number;

		if (!stack_source__entry(&l->code.source, l->n_known, &entry))
			continue;
		if (entry.parent != TRACE_NO_STACK)
			*place = l->places[entry.parent];
		if (entry.kind != TRACE_STACK_LOCATION && entry.kind != TRACE_STACK_ACTIVITY)
			continue;
		if (code_functions__find(&l->code, &entry, &number))
			return -ENOMEM;
		if (!code_functions__is_of(&l->code, number, CODE_LLVM))
			continue;
		place->native = number + 1;
		if (llvm_native_pass(l->code.at[number].name, &pass))
			place->pass = number + 1;
		/* The outermost function shows what the rest is for. */
		number = place->words ? NO_WORDS : find_words(l->code.at[number].name);
		if (number != NO_WORDS)
			place->words = (uint8_t)(number + 1);
	}
	*out = l->places[stack];
	return 0;
}

size_t llvm_native_pass(const char *native, const char **pass)
{
	static const char begin[] = "llvm::", end[] = "Pass::run";
	size_t len = strlen(native), ends = strlen(end);

	/* These run other passes. */
	if (!strcmp(native, "llvm::DevirtSCCRepeatedPass::run") ||
	    !strcmp(native, "llvm::ModuleInlinerWrapperPass::run"))
		return 0;
	if (strncmp(native, begin, strlen(begin)) || len < strlen(begin) + ends ||
	    strcmp(native + len - ends, end))
		return 0;
	*pass = native + strlen(begin);
	return (size_t)(native + len - strlen("::run") - *pass);
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text);

	return len > strlen(end) && !strcmp(text + len - strlen(end), end);
}

/*
 * Whether the stack may know more: of a pass without a name, and of what runs other passes: pass
 * managers, and the adaptors of those over loops and over functions that call each other, for which
 * LLVM makes no entry.
 */
static bool is_vague(const struct llvm *l, const struct trace_llvm *entry)
{
	const char *pass;

	if (entry->pass == TRACE_NO_STRING)
		return true;
	pass = l->texts.text(l->texts.ctx, entry->pass);
	return ends_with(pass, "Adaptor") || ends_with(pass, "PassManager");
}

/* ---- Samples --------------------------------------------------------------------------------- */

enum whose {
	OF_FUNCTION,
	OF_NONE,
	OF_UNKNOWN, /* of a function that is not known */
};

/*
 * The entry of a sample; NULL: it was not read, or it is empty. A thread that is in no pass has an
 * empty one, and is in LLVM only if its stack says so.
 */
static const struct trace_llvm *entry_of(struct llvm *l, uint32_t id, bool *is_read)
{
	const struct trace_llvm *entry =
		id != TRACE_NO_LLVM && l->source.entry ? l->source.entry(l->source.ctx, id) : NULL;

	*is_read = entry != NULL;
	if (entry && entry->scope == TRACE_LLVM_NONE && entry->pass == TRACE_NO_STRING &&
	    entry->function == TRACE_NO_STRING)
		return NULL;
	return entry;
}

/* Whether words are better than the name of the pass. */
static bool has_words(const struct trace_llvm *entry, const struct llvm_place *place)
{
	return place->words && (!entry || entry->pass == TRACE_NO_STRING ||
				llvm_words[place->words - 1].beat_passes);
}

/* What names the time of no function. */
static uint64_t rest_key(const struct llvm *l, const struct trace_llvm *entry,
			 const struct llvm_place *place)
{
	if (has_words(entry, place))
		return (uint64_t)LLVM_REST_WORDS << 32 | (place->words - 1u);
	if (entry && place->pass && is_vague(l, entry))
		return (uint64_t)LLVM_REST_STACK_PASS << 32 | (place->pass - 1);
	if (entry && entry->pass != TRACE_NO_STRING)
		return (uint64_t)LLVM_REST_PASS << 32 | entry->pass;
	if (place->native)
		return (uint64_t)LLVM_REST_NATIVE << 32 | (place->native - 1);
	return (uint64_t)LLVM_REST_UNKNOWN << 32;
}

/* What a sample is for. Where nothing was read, words of the stack tell that it is no function. */
static enum whose whose_of(const struct trace_llvm *entry, bool is_read,
			   const struct llvm_place *place)
{
	if (entry && entry->function != TRACE_NO_STRING)
		return OF_FUNCTION;
	if (entry ? entry->scope == TRACE_LLVM_FUNCTION : !is_read && !place->words)
		return OF_UNKNOWN;
	return OF_NONE;
}

static enum llvm_work work_of(const struct trace_llvm *entry, const struct llvm_place *place,
			      enum whose whose)
{
	if (whose == OF_NONE && has_words(entry, place))
		return llvm_words[place->words - 1].work;
	if (!entry)
		return LLVM_ELSE;
	if (entry->codegen)
		return LLVM_MACHINE_CODE;
	return entry->pass == TRACE_NO_STRING && !place->pass ? LLVM_ELSE : LLVM_OPTIMISES;
}

/* Time in a pass, or in none, as an entry says; sets *at. */
static int add_cell(struct llvm *l, const struct trace_sample *sample,
		    const struct trace_llvm *entry, const struct llvm_place *place,
		    enum llvm_work work, struct llvm_at *at)
{
	const struct sample_sum one = {1, sample->value};
	/* The entry, with the pass that the stack shows. */
	uint32_t native = place->pass && is_vague(l, entry) ? place->pass - 1 : LLVM_NO_NATIVE;
	struct llvm_at *known = table__get(&l->ats, (uint64_t)sample->llvm << 32 | native,
					   .entry = *entry, .native = native);
	struct llvm_cell *cell;
	uint32_t number;

	if (!known)
		return -ENOMEM;
	/* Far below 2^30, as each takes more than a byte. */
	number = (uint32_t)(known - l->ats.at);
	cell = table__get(&l->cells,
			  (uint64_t)sample->process << 32 | (number << 2) | (uint32_t)work,
			  .process = sample->process, .work = work, .at = l->ats.at[number]);
	if (!cell)
		return -ENOMEM;
	sample_sum__add(&cell->self, &one);
	*at = cell->at;
	return 0;
}

static int set_last(struct llvm *l, const struct trace_sample *sample, const struct llvm_last *last)
{
	struct llvm_last *of = table__get(
		&l->threads, (uint64_t)sample->process << 32 | sample->tid, .in_llvm = false);

	if (!of)
		return -ENOMEM;
	*of = *last;
	return 0;
}

int llvm__sample(struct llvm *l, const struct trace_sample *sample)
{
	const struct sample_sum one = {1, sample->value};
	struct llvm_totals *t = &l->totals;
	struct sample_sum *const of[] = {[OF_FUNCTION] = &t->functions,
					 [OF_NONE] = &t->no_function,
					 [OF_UNKNOWN] = &t->unknown_function};
	struct llvm_last last = {
		.at = {.entry = {.pass = TRACE_NO_STRING, .function = TRACE_NO_STRING},
		       .native = LLVM_NO_NATIVE}};
	const struct trace_llvm *entry;
	struct llvm_rest_sum *rest;
	struct llvm_place place;
	enum llvm_work work;
	enum whose whose;
	bool is_read;

	if (sample->cause != TRACE_SAMPLE_CPU)
		return 0;
	l->n_samples++;
	entry = entry_of(l, sample->llvm, &is_read);
	if (sample->process < l->n_processes) {
		struct llvm_process *process = &l->processes[sample->process];

		process->n_samples++;
		/* LLVM's library may be loaded where another code generator does the work. */
		if (process->no_llvm) {
			is_read = false;
			entry = NULL;
		}
	}
	l->n_entries += is_read;
	if (place_of(l, sample->stack, &place))
		return -ENOMEM;
	if (!entry && !place.native)
		return set_last(l, sample, &last);
	whose = whose_of(entry, is_read, &place);
	work = work_of(entry, &place, whose);
	sample_sum__add(&t->all, &one);
	sample_sum__add(&t->of[work], &one);
	sample_sum__add(of[whose], &one);
	if (whose == OF_FUNCTION && entry->scope == TRACE_LLVM_SCC)
		sample_sum__add(&t->components, &one);
	last.in_llvm = true;
	last.for_none = whose == OF_NONE;
	last.rest = rest_key(l, entry, &place);
	if (last.for_none) {
		rest = table__get(&l->rests, last.rest, .key = last.rest);
		if (!rest)
			return -ENOMEM;
		sample_sum__add(&rest->self, &one);
	}
	if (entry && add_cell(l, sample, entry, &place, work, &last.at))
		return -ENOMEM;
	return set_last(l, sample, &last);
}

void llvm__free(struct llvm *l)
{
	if (!l)
		return;
	code_functions__destroy(&l->code);
	table__destroy(&l->ats);
	table__destroy(&l->cells);
	table__destroy(&l->rests);
	table__destroy(&l->threads);
	free(l->places);
	free(l->processes);
	free(l);
}

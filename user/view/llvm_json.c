// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/llvm_view.h"

static uint32_t most(const struct report_options *opt, uint32_t n)
{
	return opt->llvm_most && opt->llvm_most < n ? opt->llvm_most : n;
}

static void put_self(struct json *j, const struct sample_sum *self)
{
	json__number(j, "self_ns", self->value);
	json__number(j, "error_ns", sample_sum__error(self));
}

/* The part of the time in which a function is the first of those that call each other. */
static void put_component(struct json *j, const struct sample_sum *component)
{
	if (component->n)
		json__number(j, "component_ns", component->value);
}

static const char *const works[LLVM_WORKS] = {
	[LLVM_MACHINE_CODE] = "machine_code",
	[LLVM_OPTIMISES] = "optimisation",
	[LLVM_ELSE] = "other",
};

static void put_passes(struct json *j, const struct llvm_rows *rows)
{
	json__array(j, "passes");
	for (uint32_t i = 0; i < rows->n_passes && !j->err; i++) {
		const struct llvm_pass_row *pass = &rows->passes[i];

		json__line(j, i);
		json__text(j, "name", pass->name);
		json__text(j, "type", pass->type);
		json__bool(j, "codegen", pass->codegen);
		json__text(j, "for", works[pass->work]);
		put_self(j, &pass->self);
		json__put(j);
	}
	json__print(j, "]");
}

static void put_functions(struct json *j, const struct llvm_rows *rows, uint32_t n)
{
	json__array(j, "functions");
	for (uint32_t i = 0; i < n && !j->err; i++) {
		const struct llvm_function *function = &rows->functions[i];

		json__line(j, i);
		json__text(j, "path", function->path);
		json__text(j, "symbol", function->symbol);
		json__text(j, "generic", function->generic);
		json__text(j, "crate", function->crate);
		if (function->item_path)
			json__text(j, "item", function->item_path);
		put_self(j, &function->self);
		put_component(j, &function->component);
		json__put(j);
	}
	json__print(j, "]");
}

static void put_crates(struct json *j, const struct llvm_generic *generic)
{
	json__array(j, "crates");
	for (uint32_t i = 0; i < generic->n_crates && i < LLVM_PARTS; i++) {
		json__item(j, i);
		json__text(j, "name", generic->crates[i].crate);
		put_self(j, &generic->crates[i].self);
		json__put(j);
	}
	json__print(j, "]");
}

static void put_generics(struct json *j, const struct llvm_rows *rows, uint32_t n)
{
	json__array(j, "generics");
	for (uint32_t i = 0; i < n && !j->err; i++) {
		const struct llvm_generic *generic = &rows->generics[i];

		json__line(j, i);
		json__text(j, "path", generic->path);
		json__text(j, "crate", generic->crate);
		json__number(j, "instances", generic->instances);
		json__bool(j, "instances_at_least", generic->at_least);
		put_self(j, &generic->self);
		put_component(j, &generic->component);
		json__number(j, "crate_count", generic->n_crates);
		json__put_open(j);
		put_crates(j, generic);
		json__print(j, "}");
	}
	json__print(j, "]");
}

static void put_rests(struct json *j, const struct llvm_rows *rows)
{
	static const char *const kinds[] = {
		[LLVM_REST_WORDS] = "work",
		[LLVM_REST_PASS] = "pass",
		[LLVM_REST_NATIVE] = "native",
		[LLVM_REST_UNKNOWN] = "unknown",
	};

	json__array(j, "no_function");
	for (uint32_t i = 0; i < rows->n_rests && !j->err; i++) {
		json__line(j, i);
		json__text(j, "name", rows->rests[i].name);
		json__text(j, "kind", kinds[rows->rests[i].kind]);
		put_self(j, &rows->rests[i].self);
		json__put(j);
	}
	json__print(j, "]");
}

static void put_totals(struct json *j, const struct llvm_rows *rows,
		       const struct report_options *opt)
{
	const struct llvm_totals *t = &rows->totals;

	json__begin(j);
	json__number(j, "total_ns", t->all.value);
	json__number(j, "error_ns", sample_sum__error(&t->all));
	json__bool(j, "known", !rows->unknown);
	if (rows->why)
		json__text(j, "why_unknown", rows->why);
	json__number(j, "machine_code_ns", t->of[LLVM_MACHINE_CODE].value);
	json__number(j, "optimisation_ns", t->of[LLVM_OPTIMISES].value);
	put_component(j, &t->components);
	json__number(j, "no_function_ns", t->no_function.value);
	json__number(j, "unknown_function_ns", t->unknown_function.value);
	if (opt->llvm_wants)
		json__number(j, "chosen_ns", llvm_chosen(rows).value);
	json__number(j, "function_count", rows->n_functions);
	json__number(j, "generic_count", rows->n_generics);
	json__put_open(j);
}

void llvm_json(struct json *j, const struct report_options *opt)
{
	_llvm_rows_ struct llvm_rows rows = {};

	j->err = j->err ?: llvm__rows(opt->llvm, opt->llvm_wants, opt->llvm_ctx, &rows);
	if (j->err || (!rows.totals.all.n && !rows.why))
		return;
	json__print(j, ",\"llvm\":");
	put_totals(j, &rows, opt);
	put_passes(j, &rows);
	put_functions(j, &rows, most(opt, rows.n_functions));
	put_generics(j, &rows, most(opt, rows.n_generics));
	put_rests(j, &rows);
	json__print(j, "}");
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "doctor/toolchains.h"

#include <errno.h>
#include <glob.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/diag.h"
#include "plan/cache.h"
#include "plan/library/find.h"
#include "plan/symbols/elf_image.h"

static void toolchain__clear(struct toolchain *t)
{
	free(t->name);
	free(t->library);
	free(t->why);
	free(t->version);
	library_file__free(t->file);
}

int toolchains__add(struct toolchains *list, const char *name, const char *library, bool wanted)
{
	struct toolchain t = {.wanted = wanted};

	for (uint32_t i = 0; i < list->n; i++) {
		if (strcmp(list->items[i].library, library))
			continue;
		list->items[i].wanted |= wanted;
		return 0;
	}
	t.name = strdup(name);
	t.library = strdup(library);
	if (!t.name || !t.library ||
	    array__reserve_one(&list->items, list->n, &list->capacity, sizeof(t))) {
		toolchain__clear(&t);
		return -ENOMEM;
	}
	list->items[list->n++] = t;
	return 0;
}

void toolchains__use_file(struct toolchains *list, struct library_file *file)
{
	struct toolchain *last = &list->items[list->n - 1];

	library_file__free(last->file);
	last->file = library_file__ref(file);
}

/* Add the compilers whose executables match. `named`: each takes the name of its directory. */
static int add_matching(struct toolchains *list, const char *pattern, bool named)
{
	glob_t found = {};
	int err = 0;

	if (glob(pattern, 0, NULL, &found))
		found.gl_pathc = 0;
	for (size_t i = 0; !err && i < found.gl_pathc; i++) {
		_free_ char *library = NULL;
		char *name = found.gl_pathv[i];

		/* rustup's proxies have no library beside them. */
		if (plan_find__of_exe(name, &library))
			continue;
		if (named)
			name[strlen(name) - strlen("/bin/rustc")] = '\0';
		err = toolchains__add(list, named ? basename(name) : name, library, false);
	}
	globfree(&found);
	return err;
}

int toolchains__add_rustup(struct toolchains *list, const char *home)
{
	_free_ char *pattern = NULL;

	if (asprintf(&pattern, "%s/toolchains/*/bin/rustc", home) < 0) {
		pattern = NULL;
		return -ENOMEM;
	}
	return add_matching(list, pattern, true);
}

int toolchains__add_system(struct toolchains *list, const char *root)
{
	static const char *const places[] = {"/usr/bin/rustc", "/usr/local/bin/rustc",
					     "/usr/lib/rust-*/bin/rustc", "/opt/*/bin/rustc"};
	int err = 0;

	for (size_t i = 0; !err && i < N_OF(places); i++) {
		_free_ char *pattern = NULL;

		if (asprintf(&pattern, "%s%s", root, places[i]) < 0) {
			pattern = NULL;
			return -ENOMEM;
		}
		err = add_matching(list, pattern, false);
	}
	return err;
}

int toolchain__take(struct toolchain *t, const struct plan *plan)
{
	if (plan->rustc_version) {
		t->version = strdup(plan->rustc_version);
		if (!t->version)
			return -ENOMEM;
	}
	t->symbols = plan->symbols;
	t->queries = plan->n_queries;
	for (uint32_t i = 0; i < plan->n_queries; i++)
		t->complete += plan->queries[i].start_exact && plan->queries[i].end_exact;
	for (uint32_t i = 0; i < plan->n_sites; i++)
		t->sites[plan->sites[i].cls == PLAN_STEPPED]++;
	for (uint32_t i = 0; i < plan->n_guards; i++) {
		t->events[plan->guards[i].kind].n++;
		t->events[plan->guards[i].kind].exact += plan->guards[i].exact;
	}
	return 0;
}

static void survey(struct toolchain *t)
{
	_plan_ struct plan *plan = NULL, *stored = NULL;
	char why[1024] = "";
	uint64_t start;
	bool by_root;

	diag_hold_errors(why, sizeof(why));
	start = clock_ns(CLOCK_MONOTONIC);
	t->err = t->file ? 0 : library_file__open(t->library, &t->file);
	t->cached =
		!t->err && !plan_cache__load(library_file__identity(t->file), &by_root, &stored);
	if (!t->err)
		t->err = plan__load(t->file, &plan);
	t->plan_ns = clock_ns(CLOCK_MONOTONIC) - start;
	diag_hold_errors(NULL, 0);
	if (!t->err)
		t->err = toolchain__take(t, plan);
	if (t->err)
		t->why = strdup(why[0] ? why : strerror(-t->err));
}

void toolchains__survey(struct toolchains *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		survey(&list->items[i]);
}

void toolchains__clear(struct toolchains *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		toolchain__clear(&list->items[i]);
	free(list->items);
	*list = (struct toolchains){0};
}

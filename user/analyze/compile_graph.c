// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compile_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compile_name.h"
#include "base/array.h"
#include "base/map.h"
#include "proc/command_line.h"

/* Deeper sources are not looked up; no package is that deep below its build script. */
#define DIRECTORIES_MOST 16

/* More than any build has; further ones of a hostile trace are ignored. */
#define EDGES_MOST (4u << 20)

struct maker {
	struct compile_graph *g;
	uint32_t edges_capacity;
	uint32_t *needed_by; /* by node: the last one that got an edge to it, plus 1 */
	bool *only_metadata; /* by node: it writes nothing else */
	/* Hash -> the last node that was added. A hostile trace can make two hashes equal, and so
	 * only a wrong edge. */
	struct u64_map by_file;	   /* "libNAME-HASH" */
	struct u64_map by_crate;   /* crate name */
	struct u64_map by_scripts; /* directory of a build script */
};

static void maker__clear(struct maker *m)
{
	free(m->needed_by);
	free(m->only_metadata);
	u64_map__destroy(&m->by_file);
	u64_map__destroy(&m->by_crate);
	u64_map__destroy(&m->by_scripts);
}

static const struct trace_process *process_of(const struct compile_node *node)
{
	return node->compile->process;
}

static struct command_line line_of(const struct compile_node *node)
{
	return command_line_joined(process_of(node)->command);
}

static uint64_t end_of(const struct compile_node *node)
{
	return node->compile->end_ns;
}

static int by_start(const void *a, const void *b)
{
	const struct build_process *x = ((const struct compile_node *)a)->compile;
	const struct build_process *y = ((const struct compile_node *)b)->compile;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->process->index > y->process->index) - (x->process->index < y->process->index);
}

static int add_nodes(struct compile_graph *g, const struct build *b)
{
	uint32_t n;
	const struct build_process *p = build__processes(b, &n);

	g->nodes = calloc(n + 1UL, sizeof(*g->nodes));
	if (!g->nodes)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t whole = p[i].end_ns - p[i].start_ns;
		bool early = p[i].metadata_ns && p[i].metadata_ns < whole;

		if (p[i].compiles)
			g->nodes[g->n_nodes++] = (struct compile_node){
				.compile = &p[i],
				.metadata_ns = early ? p[i].metadata_ns : whole,
			};
	}
	qsort(g->nodes, g->n_nodes, sizeof(*g->nodes), by_start);
	return 0;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* The name of a file without its directory and its type. */
static struct word stem_of(struct word path)
{
	struct word name = word__last_component(path);
	const char *dot = name.len ? memrchr(name.at, '.', name.len) : NULL;

	if (dot)
		name.len = (size_t)(dot - name.at);
	return name;
}

static bool has_type(const struct compile_node *node, const char *type)
{
	return strstr(process_of(node)->crate_type ?: "bin", type);
}

/* cargo starts a compile that links when all objects are there, of indirect dependencies too. */
static bool links(const struct compile_node *node)
{
	return has_type(node, "bin") || has_type(node, "proc-macro") || has_type(node, "dylib") ||
	       has_type(node, "staticlib") || command_line__has(line_of(node), "--test");
}

static int add_edge(struct maker *m, struct compile_node *node, uint32_t on, enum compile_need need)
{
	const struct compile_edge edge = {on, need};
	struct compile_graph *g = m->g;

	if (m->needed_by[on] == node - g->nodes + 1 || g->n_edges == EDGES_MOST)
		return 0;
	m->needed_by[on] = node - g->nodes + 1;
	return array__add(&g->edges, &g->n_edges, &m->edges_capacity, &edge);
}

/* "name", "name=path", or either with options before it: "priv:name=path". */
static int add_extern(struct maker *m, struct compile_node *node, struct word value, bool is_link)
{
	const char *equals = memchr(value.at, '=', value.len);
	const char *colon = memchr(value.at, ':', equals ? (size_t)(equals - value.at) : value.len);
	struct word name = value, path = {0}, stem;
	uint32_t on;

	if (equals) {
		path = (struct word){equals + 1, (size_t)(value.at + value.len - equals - 1)};
		stem = stem_of(path);
		on = u64_map__get(&m->by_file, map_hash(stem.at, stem.len));
	} else {
		if (colon)
			name = (struct word){colon + 1, (size_t)(value.at + value.len - colon - 1)};
		on = u64_map__get(&m->by_crate, map_hash(name.at, name.len));
	}
	if (on == U64_MAP_NONE)
		return 0;
	if (is_link)
		return add_edge(m, node, on, NEED_ALL);
	if (equals && (path.len <= 6 || memcmp(path.at + path.len - 6, ".rmeta", 6)))
		return add_edge(m, node, on, NEED_END);
	return add_edge(m, node, on, m->only_metadata[on] ? NEED_END : NEED_METADATA);
}

static int add_externs(struct maker *m, struct compile_node *node)
{
	static const char with_value[] = "--extern=";
	struct command_line line = line_of(node);
	size_t len = strlen(with_value);
	bool is_link = links(node);
	int err = 0;

	for (struct word word; !err && (word = command_line__next(&line)).at;) {
		if (word.len > len && !memcmp(word.at, with_value, len))
			word = (struct word){word.at + len, word.len - len};
		else if (!word__is(word, "--extern") || !(word = command_line__next(&line)).at)
			continue;
		err = add_extern(m, node, word, is_link);
	}
	return err;
}

/* ---- Build scripts --------------------------------------------------------------------------- */

/* A relative path is one of its working directory. */
static uint64_t hash_of_directory(const struct compile_node *node, struct word path)
{
	const char *cwd = process_of(node)->cwd ?: "";
	bool relative = !path.len || *path.at != '/';

	return map_hash(path.at ?: "", path.len) + (relative ? map_hash(cwd, strlen(cwd)) : 0);
}

/* Whether a source, by its path below a directory, may belong to the package of that directory. */
static bool is_of_package(struct word below)
{
	static const char *const usual[] = {"src", "tests", "examples", "benches"};
	const char *slash = memchr(below.at, '/', below.len);

	if (!slash)
		return true;
	below.len = (size_t)(slash - below.at);
	for (size_t i = 0; i < N_OF(usual); i++)
		if (word__is(below, usual[i]))
			return true;
	return false;
}

static int add_script(struct maker *m, struct compile_node *node)
{
	struct word source = command_line__source(line_of(node)), dir = source;

	for (int i = 0; source.at && dir.len && i < DIRECTORIES_MOST; i++) {
		uint32_t on;
		size_t skip;

		dir = word__directory(dir);
		skip = dir.len ? dir.len + 1 : 0;
		on = u64_map__get(&m->by_scripts, hash_of_directory(node, dir));
		if (on != U64_MAP_NONE &&
		    is_of_package((struct word){source.at + skip, source.len - skip}))
			return add_edge(m, node, on, NEED_RUN);
	}
	return 0;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* A node as the maker of its library, whose name is by rustc's rule, of a crate or of a script. */
static int note(struct maker *m, const struct compile_node *node, uint32_t at)
{
	const char *crate = process_of(node)->crate ?: "";
	struct word kinds = command_line__value(line_of(node), "--emit");
	struct word extra = command_line__codegen(line_of(node), "extra-filename");
	struct word stem = stem_of(command_line__value(line_of(node), "-o"));
	_free_ char *named = NULL;
	int err;

	if (!stem.at || extra.len) {
		int len = asprintf(&named, "lib%s%.*s", crate, (int)extra.len, extra.at ?: "");

		if (len < 0) {
			named = NULL;
			return -ENOMEM;
		}
		stem = (struct word){named, (size_t)len};
	}
	err = u64_map__put(&m->by_file, map_hash(stem.at, stem.len), at);
	/* A compile that writes nothing but metadata (cargo check) is waited for to its end. */
	m->only_metadata[at] = kinds.at && !word__contains(kinds, "link");
	if (!err && compile_is_build_script(process_of(node)))
		err = u64_map__put(&m->by_scripts,
				   hash_of_directory(node, word__directory(command_line__source(
								   line_of(node)))),
				   at);
	else if (!err && *crate)
		err = u64_map__put(&m->by_crate, map_hash(crate, strlen(crate)), at);
	return err;
}

uint64_t compile_graph__fulfilled(const struct compile_graph *g, const struct compile_edge *e)
{
	const struct compile_node *on = &g->nodes[e->on];

	if (e->need == NEED_METADATA)
		return on->compile->start_ns + on->metadata_ns;
	return end_of(e->need == NEED_ALL ? &g->nodes[on->last] : on);
}

static void find_last(struct compile_graph *g)
{
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		struct compile_node *node = &g->nodes[i];

		node->last = i;
		for (uint32_t k = 0; k < node->n_edges; k++) {
			uint32_t last = g->nodes[g->edges[node->first_edge + k].on].last;

			if (end_of(&g->nodes[last]) > end_of(&g->nodes[node->last]))
				node->last = last;
		}
	}
}

/* A run is the time for which others waited after all else that they need, the least of them. */
static void find_runs(struct compile_graph *g)
{
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct compile_node *node = &g->nodes[i];
		const struct compile_edge *last = NULL;
		uint64_t last_ns = 0, start = node->compile->start_ns, run_ns;

		for (uint32_t k = 0; k < node->n_edges; k++) {
			const struct compile_edge *e = &g->edges[node->first_edge + k];
			uint64_t ns = compile_graph__fulfilled(g, e);

			if (!last || ns >= last_ns) {
				last = e;
				last_ns = ns;
			}
		}
		if (!last || last->need != NEED_RUN)
			continue;
		run_ns = start > last_ns ? start - last_ns : 0;
		if (!g->nodes[last->on].run_ns || run_ns < g->nodes[last->on].run_ns)
			g->nodes[last->on].run_ns = run_ns;
	}
}

/* ---- Stages ---------------------------------------------------------------------------------- */

static int find_stages(struct compile_graph *g)
{
	_free_ uint64_t *ends = calloc(g->n_nodes + 1UL, sizeof(*ends));
	struct u64_map first_of = {};
	uint64_t end = 0;
	uint32_t stage = 0;
	int err = ends ? 0 : -ENOMEM;

	/* The end of the last compile with the same parent, its cargo: by the first of these. */
	for (uint32_t i = 0; i < g->n_nodes && !err; i++) {
		uint32_t parent = process_of(&g->nodes[i])->parent_pid;
		uint32_t first = u64_map__get(&first_of, parent);

		if (first == U64_MAP_NONE)
			err = u64_map__put(&first_of, parent, first = i);
		if (end_of(&g->nodes[i]) > ends[first])
			ends[first] = end_of(&g->nodes[i]);
	}
	for (uint32_t i = 0; i < g->n_nodes && !err; i++) {
		uint64_t ns = ends[u64_map__get(&first_of, process_of(&g->nodes[i])->parent_pid)];

		stage += i && g->nodes[i].compile->start_ns >= end;
		g->nodes[i].stage = stage;
		end = ns > end ? ns : end;
	}
	u64_map__destroy(&first_of);
	return err;
}

int compile_graph__of(struct compile_graph *g, const struct build *b)
{
	__cleanup(maker__clear) struct maker m = {.g = g};
	int err;

	*g = (struct compile_graph){};
	err = add_nodes(g, b);
	if (err)
		return err;
	m.needed_by = calloc(g->n_nodes + 1UL, sizeof(*m.needed_by));
	m.only_metadata = calloc(g->n_nodes + 1UL, sizeof(*m.only_metadata));
	if (!m.needed_by || !m.only_metadata)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->n_nodes && !err; i++) {
		struct compile_node *node = &g->nodes[i];

		node->first_edge = g->n_edges;
		err = add_externs(&m, node);
		if (!err && !compile_is_build_script(process_of(node)))
			err = add_script(&m, node);
		node->n_edges = g->n_edges - node->first_edge;
		err = err ?: note(&m, node, i);
	}
	err = err ?: find_stages(g);
	if (err)
		return err;
	find_last(g);
	find_runs(g);
	return 0;
}

void compile_graph__destroy(struct compile_graph *g)
{
	free(g->nodes);
	free(g->edges);
	*g = (struct compile_graph){};
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/images.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/array.h"
#include "proc/command_line.h"
#include "decode/command.h"

_Static_assert((int)WIRE_KILL_MEMORY == (int)TRACE_KILL_MEMORY, "kill");
_Static_assert((int)WIRE_KILL_OTHER == (int)TRACE_KILL_OTHER, "kill");

#define _command_ __cleanup(command__clear)

void images__init(struct images *all, const struct decoder_sink *sink, struct self_time *self_time)
{
	*all = (struct images){
		.sink = sink,
		.self_time = self_time,
		.first_free = U64_MAP_NONE,
	};
}

struct image *images__find(const struct images *all, uint32_t pid)
{
	uint32_t i = u64_map__get(&all->image_of, pid);

	return i == U64_MAP_NONE ? NULL : &all->at[i];
}

/* Add an image of a pid that has none. Pointers to other images are invalid afterwards. */
static struct image *add_image(struct images *all, uint32_t pid, uint64_t time_ns)
{
	struct image *image;

	if (all->first_free == U64_MAP_NONE) {
		if (array__reserve_one(&all->at, all->n, &all->capacity, sizeof(*all->at)))
			return NULL;
		all->at[all->n] = (struct image){.next_free = U64_MAP_NONE};
		all->first_free = all->n++;
	}
	if (u64_map__put(&all->image_of, pid, all->first_free))
		return NULL;
	image = &all->at[all->first_free];
	all->first_free = image->next_free;
	*image = (struct image){
		.p = {.pid = pid, .start_ns = time_ns, .exit_status = TRACE_EXIT_UNKNOWN},
	};
	return image;
}

static void forget_names(struct image *image)
{
	definitions__clear(&image->definitions);
	sources__clear(&image->sources);
	crates__clear(&image->crates);
}

/* No other crate depends on a program, such as a build script. */
int images__on_names(struct images *all, struct image *image, const struct library *lib)
{
	struct crates_naming how = {
		.layout = &lib->layout,
		.dependencies = &all->dependencies,
	};

	if (!lib->keys)
		return 0;
	how.definitions = &image->definitions;
	if (image->p.crate_type && !strcmp(image->p.crate_type, "bin"))
		image->crates.has_own_id = false;
	return crates__share(&image->crates, &how);
}

static struct keys_naming naming_of(struct images *all, struct image *image,
				    const struct library *lib)
{
	return (struct keys_naming){
		.sink = all->sink,
		.definitions = &image->definitions,
		.sources = &image->sources,
		.crates = &image->crates,
		.dependencies = &all->dependencies,
		.layout = &lib->layout,
		.crate = image->p.crate,
		.process = image->p.index,
	};
}

/* Name what the executions of an image were about. */
static int name_keys(struct images *all, struct image *image)
{
	const struct library *lib = image->library;
	struct keys_naming how;

	if (!image->in_trace || !lib || !all->sink->map)
		return 0;
	/* How its table is read is not known any more. */
	if (lib->serial != image->library_serial)
		forget_names(image);
	how = naming_of(all, image, lib);
	return keys__name(&image->keys, &how, &all->n_unnamed);
}

/* Results may have come from the disk. A command that was cut ends as command__parse() has it. */
static bool is_incremental(const struct image *image)
{
	const char *command = image->p.command;
	size_t len = command ? strlen(command) : 0;

	return !command || strstr(command, "incremental") ||
	       (len >= 4 && !strcmp(command + len - 4, " ..."));
}

/*
 * Nor is it known how many: loads from before are in no record, or in that of the process that was
 * forked.
 */
static enum results_loads loads_of(const struct image *image)
{
	bool late = image->p.attached_late || image->is_fork;

	if (!is_incremental(image))
		return late ? RESULTS_NO_LOADS_LATE : RESULTS_NO_LOADS;
	return late ? RESULTS_LOADS_UNSEEN : RESULTS_LOADS_SEEN;
}

static bool has_results(const struct image *image)
{
	return image->in_trace && image->counted && image->counted->serial == image->counted_serial;
}

struct item_naming {
	struct keys *keys;
	struct keys_naming how;
};

static int name_item(void *ctx, uint64_t definition, uint32_t *string)
{
	struct item_naming *n = ctx;

	return keys__name_definition(n->keys, &n->how, definition, string);
}

static struct item_results_naming item_naming_of(struct images *all, struct image *image,
						 struct item_naming *naming)
{
	const struct library *lib = image->counted;

	*naming = (struct item_naming){&image->keys, naming_of(all, image, lib)};
	return (struct item_results_naming){
		.ctx = naming,
		.name = name_item,
		.sink = all->sink,
		.lib = lib,
		.process = image->p.index,
	};
}

/* Give away what the results were about of a context that is over. */
static int give_items(struct images *all, struct image *image, bool end)
{
	const struct library *lib = image->counted;
	struct item_naming naming;
	struct item_results_naming how;
	int err;

	if (!has_results(image) || !all->sink->results || !all->sink->map || !lib->keys ||
	    !lib->items || lib->n_labels != image->results.n)
		return 0;
	how = item_naming_of(all, image, &naming);
	if (!image->definitions.table.size)
		item_results__miss_all(&image->results.items);
	err = item_results__give(&image->results.items, &how, &all->n_unnamed, &all->n_uncounted);
	return err || !end ? err : item_results__end(&image->results.items, &how);
}

/* Give away the symbols that the trace has, before the names of their context are forgotten. */
static int give_symbols(struct images *all, struct image *image)
{
	struct item_naming naming;
	struct item_results_naming how;

	if (!has_results(image) || !all->sink->symbol || !all->sink->map || !image->counted->keys ||
	    !image->definitions.table.size)
		return 0;
	how = item_naming_of(all, image, &naming);
	return symbols__give(&image->symbols, &how);
}

int images__on_instances(struct images *all, const struct wire_piece *r, const struct library *lib)
{
	struct image *image = images__find(all, r->pid);

	if (!image)
		return 0;
	return symbols__add(&image->symbols, r) ?: results__add_keys(&image->results, lib, r);
}

int images__on_query(struct images *all, struct image *image, uint64_t start_ns)
{
	int err;

	if (!image->dropped_ns || start_ns <= image->dropped_ns)
		return 0;
	err = name_keys(all, image) ?: give_symbols(all, image);
	forget_names(image);
	symbols__clear(&image->symbols);
	image->dropped_ns = 0;
	image->has_another = true;
	return err;
}

int images__on_drop(struct images *all, struct image *image, const struct library *lib)
{
	return results__drop(&image->results, lib, loads_of(image), &all->n_uncounted)
		       ?: give_items(all, image, false);
}

/*
 * A context begins, and no drop of the one before was seen, as when rustdoc drops it. The results
 * of that one are whole; of the executions that were noted it is not known whose they are.
 */
static int end_finished(struct images *all, struct image *image, const struct library *lib)
{
	int err = images__on_drop(all, image, lib) ?: give_symbols(all, image);

	image->finished = false;
	image->has_another = true;
	jobs__clear(&image->jobs);
	symbols__clear(&image->symbols);
	forget_names(image);
	return err ?: name_keys(all, image);
}

int images__on_counts(struct images *all, const struct wire_counts *r, const struct library *lib)
{
	struct image *image;
	int err = 0;

	image = images__in_trace(all, r->pid, r->time_ns, &err);
	if (!image)
		return err;
	if (r->moment == WIRE_COUNTS_FINISHED && !r->first && image->finished)
		err = end_finished(all, image, lib);
	if (err)
		return err;
	image->counted = lib;
	image->counted_serial = lib->serial;
	err = results__add(&image->results, lib, loads_of(image), r, &all->n_uncounted);
	/* Of which compiler is not known: one that ran then. */
	image->results.records_lost |= r->lost_ns > image->p.start_ns;
	return err;
}

int images__show_results(const struct images *all, const struct decoder_sink *sink)
{
	int err = 0;

	for (uint32_t i = 0; i < all->n && !err; i++) {
		const struct image *image = &all->at[i];

		if (has_results(image))
			err = results__show(&image->results, image->counted, loads_of(image), sink,
					    image->p.index);
	}
	return err;
}

static int give_results(struct images *all, struct image *image)
{
	if (!has_results(image))
		return 0;
	results__end(&image->results, image->counted, loads_of(image), &all->n_uncounted);
	return give_items(all, image, true)
		       ?: give_symbols(all, image)
		       ?: results__give(&image->results, image->counted, all->sink, image->p.index);
}

int images__leave(struct images *all, const struct library *lib)
{
	int err = 0;

	for (uint32_t i = 0; i < all->n && !err; i++) {
		struct image *image = &all->at[i];

		if (image->counted != lib)
			continue;
		err = give_results(all, image);
		image->counted = NULL;
	}
	return err;
}

static void clear(struct image *image)
{
	trace_process__clear(&image->p);
	executions__clear(&image->executions);
	keys__clear(&image->keys);
	results__clear(&image->results);
	symbols__clear(&image->symbols);
	jobs__clear(&image->jobs);
	llvm_names__clear(&image->llvm);
	forget_names(image);
}

static void forget(struct images *all, struct image *image)
{
	u64_map__remove(&all->image_of, image->p.pid);
	if (image->in_trace)
		self_time__forget(all->self_time, image->p.index);
	clear(image);
	*image = (struct image){.next_free = all->first_free};
	all->first_free = image - all->at;
}

/* Forget an image whose process of the trace gets no other image. */
static int let_go(struct images *all, struct image *image)
{
	uint32_t process = image->p.index;
	bool report = image->in_trace && all->sink->over;
	int err = name_keys(all, image) ?: give_results(all, image);

	forget(all, image);
	if (err)
		return err;
	return report ? all->sink->over(all->sink->ctx, process) : 0;
}

static int emit(struct images *all, const struct image *image)
{
	return all->sink->process ? all->sink->process(all->sink->ctx, &image->p) : 0;
}

static int put_in_trace(struct images *all, struct image *image)
{
	image->in_trace = true;
	image->p.index = all->n_processes++;
	all->n_running++;
	return emit(all, image);
}

/*
 * `peak_kib` is that of all memory of the process so far (struct wire_exit). If it is that of an
 * earlier image, or of a parent that was larger, the image's own is not known.
 */
static void set_peak(struct image *image, uint32_t peak_kib)
{
	if (peak_kib > image->peak_before_kib)
		image->p.peak_bytes = (uint64_t)peak_kib << 10;
}

/* `cpu_ns` is that of all images of the process so far; 0: unknown. */
static void set_cpu(struct image *image, uint64_t cpu_ns)
{
	if (cpu_ns > image->cpu_before_ns)
		image->p.cpu_ns = cpu_ns - image->cpu_before_ns;
}

static int end_image(struct images *all, struct image *image, uint64_t time_ns, int32_t status)
{
	image->p.end_ns = time_ns;
	image->p.exit_status = status;
	if (!image->in_trace)
		return 0;
	all->n_running--;
	return emit(all, image) ?: name_keys(all, image);
}

/* Free a pid for a new process, whether or not the exit of its last process was seen. */
static int evict(struct images *all, uint32_t pid, uint64_t time_ns)
{
	struct image *image = images__find(all, pid);
	int err = 0;

	if (!image)
		return 0;
	if (!image->exited)
		err = end_image(all, image, time_ns, TRACE_EXIT_UNKNOWN);
	return let_go(all, image) ?: err;
}

/* Remember an exited image, in place of the one that exited first. */
static int keep_exited(struct images *all, struct image *image)
{
	uint32_t *pid = &all->exited_pids[all->n_exited % EXITED_KEPT];
	int err = 0;

	if (all->n_exited >= EXITED_KEPT) {
		struct image *oldest = images__find(all, *pid);

		/* The pid may have been evicted since, and have another image now. */
		if (oldest && oldest->exited && oldest->exit_number + EXITED_KEPT == all->n_exited)
			err = let_go(all, oldest);
	}
	*pid = image->p.pid;
	image->exited = true;
	image->exit_number = all->n_exited++;
	return err;
}

/* Move the parsed texts into the image. */
static void set_command(struct image *image, struct command *c)
{
	free(image->p.command);
	free(image->p.crate);
	free(image->p.crate_type);
	image->p.command = take_ptr(c->line);
	image->p.crate = take_ptr(c->crate);
	image->p.crate_type = take_ptr(c->crate_type);
}

/* A trace has room for 256 MiB of texts, and long commands of one user must not fill it. */
static int parse_command(struct images *all, struct command *c, const char *args, size_t size,
			 bool truncated)
{
	if (size > WIRE_ARGS_MAX && size > LONG_COMMANDS_MOST - all->long_commands) {
		size = WIRE_ARGS_MAX;
		truncated = true;
	}
	if (size > WIRE_ARGS_MAX)
		all->long_commands += (uint32_t)size;
	return command__parse(c, args, size, truncated);
}

int images__adopt(struct images *all, uint32_t pid, uint32_t parent_pid, uint64_t time_ns,
		  const char *args, size_t args_len, bool truncated)
{
	struct image *image = images__find(all, pid);
	_command_ struct command command = {0};
	int err = 0;

	if (image && !image->exited && image->p.command)
		return 0;
	if (parse_command(all, &command, args, args_len, truncated))
		return -ENOMEM;
	if (image && image->exited) {
		err = let_go(all, image);
		image = NULL;
	}
	if (err)
		return err;
	if (!image) {
		image = add_image(all, pid, time_ns);
		if (!image)
			return -ENOMEM;
		image->p.attached_late = true;
	}
	set_command(image, &command);
	if (!image->p.parent_pid)
		image->p.parent_pid = parent_pid;
	if (image->in_trace)
		return emit(all, image);
	return command.is_compiler ? put_in_trace(all, image) : 0;
}

int images__on_fork(struct images *all, const struct wire_fork *r)
{
	struct trace_process p;
	const struct image *parent;
	struct image *child;
	int err;

	if (r->child_pid == r->parent_pid)
		return -EBADMSG;
	err = evict(all, r->child_pid, r->time_ns);
	if (err)
		return err;
	child = add_image(all, r->child_pid, r->time_ns);
	if (!child)
		return -ENOMEM;
	child->p.parent_pid = r->parent_pid;
	child->is_fork = true;
	parent = images__find(all, r->parent_pid);
	if (!parent || parent->exited)
		return 0;
	/* A child that does not exec runs its parent's command. */
	err = trace_process__copy(&p, &parent->p);
	if (err)
		return err;
	p.pid = child->p.pid;
	p.parent_pid = child->p.parent_pid;
	p.start_ns = child->p.start_ns;
	p.end_ns = 0;
	p.exit_status = TRACE_EXIT_UNKNOWN;
	p.attached_late = false;
	child->p = p;
	return 0;
}

/* The image that an exec makes; NULL, with *err, if it cannot be had. */
static struct image *next_image(struct images *all, const struct wire_exec *r, bool is_compiler,
				int *err)
{
	struct image *image = images__find(all, r->pid);
	bool keeps_place = false;
	uint32_t parent = 0;
	uint32_t index = 0;

	if (image && !image->exited) {
		set_peak(image, r->peak_kib);
		set_cpu(image, r->cpu_ns);
		/* rustup's rustc execs the toolchain's: one process of the trace, not two. */
		keeps_place = image->in_trace && !image->has_spans && is_compiler;
		parent = image->p.parent_pid;
		index = image->p.index;
	}
	if (keeps_place)
		forget(all, image);
	else
		*err = evict(all, r->pid, r->time_ns);
	if (*err)
		return NULL;
	image = add_image(all, r->pid, r->time_ns);
	if (!image) {
		*err = -ENOMEM;
		return NULL;
	}
	image->peak_before_kib = r->peak_kib;
	image->cpu_before_ns = r->cpu_ns;
	image->p.parent_pid = parent;
	image->p.index = index;
	image->in_trace = keeps_place;
	return image;
}

int images__on_exec(struct images *all, const struct wire_exec *r, const char *args)
{
	_command_ struct command command = {0};
	struct image *image;
	int err;

	if (r->args_len)
		err = parse_command(all, &command, args, r->args_len, r->truncated);
	else
		err = command__parse(&command, r->comm, strnlen(r->comm, sizeof(r->comm)), true);
	if (err)
		return err;
	image = next_image(all, r, command.is_compiler, &err);
	if (!image)
		return err;
	set_command(image, &command);
	if (image->in_trace)
		return emit(all, image);
	return command.is_compiler ? put_in_trace(all, image) : 0;
}

int images__on_exit(struct images *all, const struct wire_exit *r)
{
	struct image *image = images__find(all, r->pid);
	int err;

	if (!image || image->exited)
		return 0;
	if (!image->in_trace) {
		forget(all, image);
		return 0;
	}
	set_peak(image, r->peak_kib);
	set_cpu(image, r->cpu_ns);
	if (WIFSIGNALED(r->exit_code) && WTERMSIG(r->exit_code) == SIGKILL)
		image->p.kill = r->kill < WIRE_KILL_MAX ? r->kill : WIRE_KILL_UNKNOWN;
	err = keep_exited(all, image);
	return end_image(all, image, r->time_ns, (int32_t)r->exit_code) ?: err;
}

/*
 * The image of a pid at a time, in the trace or not; NULL with *err if it cannot be had. An unknown
 * pid gets an image that is marked attached_late, as its process ran before.
 */
static struct image *image_at(struct images *all, uint32_t pid, uint64_t time_ns, int *err)
{
	struct image *image = images__find(all, pid);

	if (image && image->exited && time_ns >= image->p.end_ns) {
		*err = let_go(all, image);
		if (*err)
			return NULL;
		image = NULL;
	}
	if (image)
		return image;
	/* Before its first interval, as what starts with the process began before. */
	image = add_image(all, pid, time_ns ? time_ns - 1 : 0);
	if (image)
		image->p.attached_late = true;
	else
		*err = -ENOMEM;
	return image;
}

struct image *images__in_trace(struct images *all, uint32_t pid, uint64_t time_ns, int *err)
{
	struct image *image = image_at(all, pid, time_ns, err);

	if (!image || image->in_trace)
		return image;
	*err = put_in_trace(all, image);
	return *err ? NULL : image;
}

/* A compiler of any name is given the options of rustc, such as Kani's or Clippy's driver. */
static int name_driver(struct image *image)
{
	const struct command_line line = command_line_joined(image->p.command);
	struct word crate = command_line__value(line, "--crate-name");
	struct word type = command_line__value(line, "--crate-type");

	if (image->p.crate || !crate.at)
		return 0;
	image->p.crate = strndup(crate.at, crate.len);
	if (!image->p.crate_type && type.at)
		image->p.crate_type = strndup(type.at, type.len);
	return image->p.crate && (image->p.crate_type || !type.at) ? 0 : -ENOMEM;
}

struct image *images__of(struct images *all, uint32_t pid, const struct library *lib,
			 uint64_t start_ns, int *err)
{
	struct image *image = image_at(all, pid, start_ns, err);

	if (!image || image->has_spans)
		return image;
	image->has_spans = true;
	*err = library__describe(lib, &image->p) ?: name_driver(image);
	if (*err)
		return NULL;
	*err = image->in_trace ? emit(all, image) : put_in_trace(all, image);
	return *err ? NULL : image;
}

int images__begin(struct images *all, uint64_t time_ns)
{
	int err = 0;

	for (uint32_t i = 0; i < all->n && !err; i++) {
		struct image *image = &all->at[i];

		if (!image->in_trace || !image->p.attached_late || image->exited)
			continue;
		image->p.start_ns = time_ns;
		err = emit(all, image);
	}
	return err;
}

int images__late(struct images *all, uint32_t pid)
{
	struct image *image = images__find(all, pid);

	if (!image || image->p.attached_late)
		return 0;
	image->p.attached_late = true;
	return image->in_trace ? emit(all, image) : 0;
}

/* Set a text of the image that runs now. */
static int set_text(struct images *all, struct image *image, char **text, const char *to)
{
	char *copy;

	if (image->exited || (*text && !strcmp(*text, to)))
		return 0;
	copy = strdup(to);
	if (!copy)
		return -ENOMEM;
	free(*text);
	*text = copy;
	return image->in_trace ? emit(all, image) : 0;
}

int images__cwd(struct images *all, uint32_t pid, const char *cwd)
{
	struct image *image = images__find(all, pid);

	return image ? set_text(all, image, &image->p.cwd, cwd) : 0;
}

int images__no_llvm(struct images *all, uint32_t pid, const char *why)
{
	struct image *image = images__find(all, pid);

	return image ? set_text(all, image, &image->p.no_llvm, why) : 0;
}

int images__settle(struct images *all)
{
	int err = 0;

	for (uint32_t i = 0; i < all->n && !err; i++)
		err = name_keys(all, &all->at[i]) ?: give_results(all, &all->at[i]);
	return err;
}

void images__destroy(struct images *all)
{
	for (uint32_t i = 0; i < all->n; i++)
		clear(&all->at[i]);
	dependencies__destroy(&all->dependencies);
	free(all->at);
	u64_map__destroy(&all->image_of);
}

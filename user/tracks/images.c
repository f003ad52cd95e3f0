// SPDX-License-Identifier: Apache-2.0 OR MIT
/* What a pid runs: images that come with fork and exec, and go some time after their exit. */
#include <errno.h>
#include <string.h>

#include "tracks/command.h"
#include "base/array.h"
#include "tracks/tracks_state.h"

struct image *images__find(const struct tracks *t, uint32_t pid)
{
	uint32_t i = u64_map__get(&t->image_of, pid);

	return i == U64_MAP_NONE ? NULL : &t->images[i];
}

/* Make sure that first_free is one. */
static int reserve_image(struct tracks *t)
{
	if (t->first_free != U64_MAP_NONE)
		return 0;
	if (array__reserve_one(&t->images, t->n_images, &t->capacity, sizeof(*t->images)))
		return -ENOMEM;
	t->images[t->n_images] = (struct image){.next_free = U64_MAP_NONE};
	t->first_free = t->n_images++;
	return 0;
}

/* The first image known of a pid. It replaces pointers to other images: look those up again. */
static struct image *add(struct tracks *t, uint32_t pid, uint64_t time_ns)
{
	struct image *image;

	if (reserve_image(t) || u64_map__put(&t->image_of, pid, t->first_free))
		return NULL;
	image = &t->images[t->first_free];
	t->first_free = image->next_free;
	*image = (struct image){
		.p = {.pid = pid, .start_ns = time_ns, .exit_status = TRACE_EXIT_UNKNOWN},
	};
	return image;
}

static void forget(struct tracks *t, struct image *image)
{
	u64_map__remove(&t->image_of, image->p.pid);
	if (image->in_trace)
		self_time__forget(t->self_time, image->p.index);
	trace_process__clear(&image->p);
	executions__clear(&image->executions);
	*image = (struct image){.next_free = t->first_free};
	t->first_free = image - t->images;
}

static int emit(struct tracks *t, const struct image *image)
{
	return t->sink.process ? t->sink.process(t->sink.ctx, &image->p) : 0;
}

int images__put_in_trace(struct tracks *t, struct image *image)
{
	image->in_trace = true;
	image->p.index = t->n_processes++;
	t->n_running++;
	return emit(t, image);
}

static int end_image(struct tracks *t, struct image *image, uint64_t time_ns, int32_t status)
{
	image->p.end_ns = time_ns;
	image->p.exit_status = status;
	if (!image->in_trace)
		return 0;
	t->n_running--;
	return emit(t, image);
}

/* Make a pid free for a new process, whether or not we saw the exit of the one that had it. */
static int evict(struct tracks *t, uint32_t pid, uint64_t time_ns)
{
	struct image *image = images__find(t, pid);
	int err = 0;

	if (!image)
		return 0;
	if (!image->exited)
		err = end_image(t, image, time_ns, TRACE_EXIT_UNKNOWN);
	forget(t, image);
	return err;
}

/* Remember an exited image, at the cost of the one that was remembered longest. */
static void keep_exited(struct tracks *t, struct image *image)
{
	uint32_t *pid = &t->exited_pids[t->n_exited % EXITED_KEPT];

	if (t->n_exited >= EXITED_KEPT) {
		struct image *oldest = images__find(t, *pid);

		/* Its pid may have been evicted since, and be another's now. */
		if (oldest && oldest->exited && oldest->exit_number + EXITED_KEPT == t->n_exited)
			forget(t, oldest);
	}
	*pid = image->p.pid;
	image->exited = true;
	image->exit_number = t->n_exited++;
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

int tracks__adopt(struct tracks *t, uint32_t pid, uint32_t parent_pid, uint64_t time_ns,
		  const char *args, size_t args_len)
{
	struct image *image = images__find(t, pid);
	struct command command;
	bool is_compiler;

	if (image && !image->exited && image->p.command)
		return 0;
	if (command__parse(&command, args, args_len, false))
		return -ENOMEM;
	is_compiler = command.is_compiler;
	if (image && image->exited) {
		forget(t, image);
		image = NULL;
	}
	if (!image) {
		image = add(t, pid, time_ns);
		if (!image) {
			command__clear(&command);
			return -ENOMEM;
		}
		image->p.attached_late = true;
	}
	set_command(image, &command);
	if (!image->p.parent_pid)
		image->p.parent_pid = parent_pid;
	if (image->in_trace)
		return emit(t, image);
	return is_compiler ? images__put_in_trace(t, image) : 0;
}

/* A child that does not exec runs its parent's command. */
static int inherit(struct image *child, const struct image *parent)
{
	struct trace_process p;
	int err = trace_process__copy(&p, &parent->p);

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

int images__on_fork(struct tracks *t, const struct wire_fork *r)
{
	const struct image *parent;
	struct image *child;
	int err;

	if (r->child_pid == r->parent_pid)
		return -EBADMSG;
	err = evict(t, r->child_pid, r->time_ns);
	if (err)
		return err;
	child = add(t, r->child_pid, r->time_ns);
	if (!child)
		return -ENOMEM;
	child->p.parent_pid = r->parent_pid;
	parent = images__find(t, r->parent_pid);
	return parent && !parent->exited ? inherit(child, parent) : 0;
}

/* The image that an exec of `pid` makes; NULL, with *err, if it cannot be had. */
static struct image *next_image(struct tracks *t, uint32_t pid, uint64_t time_ns, bool is_compiler,
				int *err)
{
	struct image *image = images__find(t, pid);
	bool keeps_place = false;
	uint32_t parent = 0;
	uint32_t index = 0;

	if (image && !image->exited) {
		/* rustup's rustc execs the toolchain's: one process of the trace, not two. */
		keeps_place = image->in_trace && !image->has_spans && is_compiler;
		parent = image->p.parent_pid;
		index = image->p.index;
	}
	if (keeps_place)
		forget(t, image);
	else
		*err = evict(t, pid, time_ns);
	if (*err)
		return NULL;
	image = add(t, pid, time_ns);
	if (!image) {
		*err = -ENOMEM;
		return NULL;
	}
	image->p.parent_pid = parent;
	image->p.index = index;
	image->in_trace = keeps_place;
	return image;
}

int images__on_exec(struct tracks *t, const struct wire_exec *r, const char *args)
{
	struct command command;
	struct image *image;
	bool is_compiler;
	int err;

	if (r->args_len)
		err = command__parse(&command, args, r->args_len, r->truncated);
	else
		err = command__parse(&command, r->comm, strnlen(r->comm, sizeof(r->comm)), true);
	if (err)
		return err;
	is_compiler = command.is_compiler;
	image = next_image(t, r->pid, r->time_ns, is_compiler, &err);
	if (image)
		set_command(image, &command);
	command__clear(&command);
	if (!image)
		return err;
	if (image->in_trace)
		return emit(t, image);
	return is_compiler ? images__put_in_trace(t, image) : 0;
}

int images__on_exit(struct tracks *t, const struct wire_exit *r)
{
	struct image *image = images__find(t, r->pid);

	if (!image || image->exited)
		return 0;
	if (!image->in_trace) {
		forget(t, image);
		return 0;
	}
	keep_exited(t, image);
	return end_image(t, image, r->time_ns, (int32_t)r->exit_code);
}

struct image *images__at(struct tracks *t, uint32_t pid, uint64_t time_ns)
{
	struct image *image = images__find(t, pid);

	if (image && image->exited && time_ns >= image->p.end_ns) {
		forget(t, image);
		image = NULL;
	}
	if (image)
		return image;
	image = add(t, pid, time_ns);
	if (image)
		image->p.attached_late = true;
	return image;
}

struct image *images__of(struct tracks *t, uint32_t pid, uint8_t lib_number, uint64_t start_ns,
			 int *err)
{
	const struct library *lib = &t->libraries[lib_number];
	struct image *image = images__at(t, pid, start_ns);

	if (!image) {
		*err = -ENOMEM;
		return NULL;
	}
	if (image->has_spans)
		return image;
	image->has_spans = true;
	*err = library__tell(lib, &image->p);
	if (!*err)
		*err = image->in_trace ? emit(t, image) : images__put_in_trace(t, image);
	return *err ? NULL : image;
}

int tracks__late(struct tracks *t, uint32_t pid)
{
	struct image *image = images__find(t, pid);

	if (!image || image->p.attached_late)
		return 0;
	image->p.attached_late = true;
	return image->in_trace ? emit(t, image) : 0;
}

int tracks__cwd(struct tracks *t, uint32_t pid, const char *cwd)
{
	struct image *image = images__find(t, pid);
	char *copy;

	if (!image || image->exited || (image->p.cwd && !strcmp(image->p.cwd, cwd)))
		return 0;
	copy = strdup(cwd);
	if (!copy)
		return -ENOMEM;
	free(image->p.cwd);
	image->p.cwd = copy;
	return image->in_trace ? emit(t, image) : 0;
}

uint32_t tracks__running(const struct tracks *t)
{
	return t->n_running;
}

uint32_t tracks__processes(const struct tracks *t)
{
	return t->n_processes;
}

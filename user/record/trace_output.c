// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/trace_output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/invoker.h"
#include "base/version.h"
#include "trace/trace_id.h"

void trace_output__default_name(char name[TRACE_OUTPUT_NAME_MAX])
{
	time_t now = time(NULL);
	struct tm tm;

	strftime(name, TRACE_OUTPUT_NAME_MAX, "qprof-%Y%m%dT%H%M%SZ.qpt", gmtime_r(&now, &tm));
}

/* The rights to be used for the file; the caller returns them and clears `inv`. */
static int take_rights(const struct trace_output *o, struct invoker *inv)
{
	return o->ours ? 0 : invoker__get(inv) ?: invoker__take_file_rights(inv);
}

/* To follow "cannot write"; --traces has no -o. */
static const char *remedy(const struct trace_output *o, int err)
{
	if (err == -ENOSPC || err == -EDQUOT)
		return o->ours ? "; free some space"
			       : "; free some space or choose another place with -o";
	return diag_step(err, o->ours ? "" : "; choose another place with -o");
}

int trace_output__create(struct trace_output *o, const struct trace_info *info)
{
	_invoker_ struct invoker inv = {0};
	int err = take_rights(o, &inv);
	mode_t mask = o->ours ? umask(0077) : 0;

	err = err ?: output_file__choose(&o->file, o->path, o->force)
		  ?: trace_writer__open(o->file.path, info, &o->writer);
	o->file.created = !err;
	if (o->ours)
		umask(mask);
	invoker__return_file_rights(&inv);
	if (err == -EEXIST)
		return diag_error_r(err,
				    "%s exists already; choose another name with -o, or "
				    "overwrite it with --force",
				    o->path);
	if (err == -EINVAL)
		return diag_error_r(err,
				    "%s is no regular file, and a trace cannot go anywhere else; "
				    "choose another name with -o",
				    o->path);
	return err ? diag_error_r(err, "cannot create %s: %s%s", o->path, output_file_error(err),
				  remedy(o, err))
		   : 0;
}

void trace_output__commit(struct trace_output *o)
{
	_invoker_ struct invoker inv = {0};
	int err;

	if (o->file.committed)
		return;
	err = take_rights(o, &inv) ?: output_file__commit(&o->file);
	invoker__return_file_rights(&inv);
	if (!err)
		return;
	o->file.committed = true;
	o->place_err = err;
	diag_error("cannot replace %s: %s; the trace goes to %s", o->path, strerror(-err),
		   o->file.path);
}

void trace_output__discard(struct trace_output *o)
{
	_invoker_ struct invoker inv = {0};

	if (take_rights(o, &inv))
		return;
	output_file__discard(&o->file);
	invoker__return_file_rights(&inv);
}

void trace_output__wrote(struct trace_output *o, int err)
{
	if (!err || o->err)
		return;
	o->err = err;
	diag_error("cannot write %s: %s%s. What was written up to here can be read", o->path,
		   strerror(-err), remedy(o, err));
}

/*
 * No name leads to the trace any more. A file system that counts no names is believed only if none
 * is at the trace's place, either.
 */
static bool is_removed(const struct trace_output *o)
{
	_invoker_ struct invoker inv = {0};
	struct stat ours, there;
	bool is_there;

	if (fstat(trace_writer__fd(o->writer), &ours) || ours.st_nlink || take_rights(o, &inv))
		return false;
	is_there = !stat(trace_output__place(o), &there) && there.st_ino == ours.st_ino &&
		   there.st_dev == ours.st_dev;
	invoker__return_file_rights(&inv);
	return !is_there;
}

void trace_output__finish(struct trace_output *o, struct sealer *sealer)
{
	int fd, err;

	if (o->err)
		return;
	if (is_removed(o)) {
		o->err = -ENOENT;
		diag_error("%s was removed while it was written, or another recording with "
			   "--force took its place: nothing of this recording is left%s",
			   trace_output__place(o), o->ours ? "" : "; choose another name with -o");
		return;
	}
	if (sealer)
		err = trace_writer__end(o->writer, &fd) ?: sealer__put(sealer, fd, o->path);
	else
		err = trace_writer__finish(o->writer);
	trace_output__wrote(o, err);
}

int trace_output__read(const struct trace_output *o, struct trace_reader **r)
{
	_invoker_ struct invoker inv = {0};
	int err = take_rights(o, &inv);

	if (err)
		return err;
	err = trace_reader__open(trace_output__place(o), r, NULL);
	invoker__return_file_rights(&inv);
	return err;
}

const char *trace_output__place(const struct trace_output *o)
{
	return o->place_err ? o->file.path : o->path;
}

void trace_output__destroy(struct trace_output *o)
{
	trace_writer__free(o->writer);
	output_file__clear(&o->file);
	free(o->path);
	*o = (struct trace_output){0};
}

/* ---- Its head -------------------------------------------------------------------------------- */

static char *joined(char *const words[])
{
	size_t size = 0;
	char *text, *end;

	for (size_t i = 0; words[i]; i++)
		size += strlen(words[i]) + 1;
	text = end = calloc(size + 1, 1);
	for (size_t i = 0; text && words[i]; i++) {
		if (i)
			*end++ = ' ';
		end = stpcpy(end, words[i]);
	}
	return text;
}

int trace_head__init(struct trace_head *head, char *const command[], struct trace_info *info)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	*head = (struct trace_head){.command = command ? joined(command) : NULL};
	uname(&head->machine);
	*info = (struct trace_info){
		.tool = (char *)"qprof-bpf " QPROF_VERSION,
		.kernel = head->machine.release,
		.host = head->machine.nodename,
		.cpus = cpus > 0 ? (uint64_t)cpus : 0,
		.command = head->command,
	};
	/* Without random bytes, the trace has no id of its own: readers make one. */
	if (trace_id__make(&info->id))
		info->id = (struct trace_id){};
	return command && !head->command ? -ENOMEM : 0;
}

void trace_head__destroy(struct trace_head *head)
{
	free(take_ptr(head->command));
}

/* ---- Its labels ------------------------------------------------------------------------------ */

int label_names__id(struct label_names *l, struct trace_output *trace, const char *name,
		    uint32_t *id)
{
	trace_output__write(trace, trace_writer__intern, name, id);
	/* Without a file, a name that is known keeps its id, and another one gets the next. */
	if (trace->err)
		for (*id = 0; *id < l->end && (!l->names[*id] || strcmp(l->names[*id], name));)
			++*id;
	if (array__reserve_at(&l->names, *id, &l->capacity, sizeof(*l->names)))
		return -ENOMEM;
	if (!l->names[*id])
		l->names[*id] = strdup(name);
	if (*id >= l->end)
		l->end = *id + 1;
	return l->names[*id] ? 0 : -ENOMEM;
}

const char *label_names__get(const struct label_names *l, uint32_t id)
{
	return id < l->end && l->names[id] ? l->names[id] : "<unknown>";
}

void label_names__clear(struct label_names *l)
{
	for (uint32_t i = 0; i < l->end; i++)
		free(l->names[i]);
	free(l->names);
	*l = (struct label_names){0};
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/outsiders.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/format.h"
#include "proc/command_line.h"
#include "proc/processes.h"

/* Compilers that the line at the end names. */
#define NAMED 3
/* A process maps several segments of a library: the last processes, round and round. */
#define SEEN_KEPT 64
/* Followed processes that may be a client; those that were followed first are left out. */
#define CLIENTS_MOST 512
/* Clients whose arguments are kept: the last ones, round and round. */
#define CLIENTS_KEPT 64
#define UNREAD_MOST  4096
/* The compiler is among these words of a client's, after the first. */
#define CLIENT_WORDS 3

struct outsider {
	pid_t pid, parent;
	char name[32], parent_name[32];
	char crate[64]; /* empty: unknown */
};

/* A followed process that runs a compiler by another program. */
struct client {
	pid_t pid; /* 0: none */
	struct arguments args;
};

struct seen {
	pid_t pid;
	bool serves;
};

struct outsiders {
	const struct kernel *kernel;
	struct broker *broker;
	struct outsider named[NAMED];
	uint32_t n;
	struct seen seen[SEEN_KEPT];
	uint32_t n_seen;
	struct client clients[CLIENTS_KEPT];
	uint32_t n_clients; /* that were ever kept */
	/* Compilers that had ended, and may have been a client's. */
	pid_t *unread;
	uint32_t n_unread, unread_capacity;
};

int outsiders__new(const struct kernel *kernel, struct broker *broker, struct outsiders **out)
{
	struct outsiders *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->kernel = kernel;
	o->broker = broker;
	*out = o;
	return 0;
}

/* ---- Clients --------------------------------------------------------------------------------- */

static bool is_same(struct word a, struct word b)
{
	return a.at && b.at && a.len == b.len && !memcmp(a.at, b.at, a.len);
}

/* sccache asks for the sources of a crate first, by a compiler without the directory. */
static bool is_same_or_left_out(struct word client, struct word compiler)
{
	return client.at && (!compiler.at || is_same(client, compiler));
}

/* A client is no compiler itself; it may be a script, whose interpreter comes first. */
static bool has_compiler(struct command_line line)
{
	bool found = false;

	if (word__names_compiler(command_line__next(&line)))
		return false;
	for (int i = 0; i < CLIENT_WORDS && !found; i++)
		found = word__names_compiler(command_line__next(&line));
	return found;
}

bool outsiders_is_client(const char *client, size_t client_size, const char *compiler,
			 size_t compiler_size)
{
	const struct command_line a = command_line_raw(client, client_size),
				  b = command_line_raw(compiler, compiler_size);

	return has_compiler(a) &&
	       is_same(command_line__value(a, "--crate-name"),
		       command_line__value(b, "--crate-name")) &&
	       is_same_or_left_out(command_line__value(a, "--out-dir"),
				   command_line__value(b, "--out-dir")) &&
	       is_same(command_line__codegen(a, "extra-filename"),
		       command_line__codegen(b, "extra-filename"));
}

int outsiders__on_exec(struct outsiders *o, const struct wire_exec *e)
{
	size_t size = e->args_len < WIRE_ARGS_MAX ? e->args_len : WIRE_ARGS_MAX, capacity = 0;
	struct client *to = &o->clients[o->n_clients % CLIENTS_KEPT];
	_arguments_ struct arguments args = {0};
	uint32_t kept = 0;

	for (size_t i = 0; i < CLIENTS_KEPT; i++)
		if (o->clients[i].pid == (pid_t)e->pid) {
			arguments__clear(&o->clients[i].args);
			o->clients[i].pid = 0;
		}
	/* It was followed: the record of its exec was read later than that of its mapping. */
	for (uint32_t i = 0; i < o->n_unread; i++)
		if (o->unread[i] != (pid_t)e->pid)
			o->unread[kept++] = o->unread[i];
	o->n_unread = kept;
	if (!has_compiler(command_line_raw(e->args, size)))
		return 0;
	/* Without all of them a client that runs is found by waits_for(). */
	if (e->truncated && broker__arguments(o->broker, (pid_t)e->pid, &args))
		return 0;
	if (!e->truncated && bytes__append(&args.bytes, &args.size, &capacity, e->args, size))
		return -ENOMEM;
	arguments__clear(&to->args);
	*to = (struct client){(pid_t)e->pid, args};
	args = (struct arguments){0};
	o->n_clients++;
	return 0;
}

static bool runs(const struct client *client, uid_t user)
{
	return client->pid && process_is_running(client->pid) && process_uid(client->pid) == user;
}

static bool has_running_client(const struct outsiders *o, uid_t user)
{
	for (size_t i = 0; i < CLIENTS_KEPT; i++)
		if (runs(&o->clients[i], user))
			return true;
	return false;
}

static const struct seen *find_seen(const struct outsiders *o, pid_t pid)
{
	for (size_t i = 0; i < SEEN_KEPT; i++)
		if (o->seen[i].pid == pid)
			return &o->seen[i];
	return NULL;
}

bool outsiders__have_clients(const struct outsiders *o)
{
	return o->n_clients;
}

bool outsiders__may_serve(const struct outsiders *o, pid_t pid, uid_t user)
{
	const struct seen *seen = find_seen(o, pid);

	return seen ? seen->serves : has_running_client(o, user);
}

static bool is_in(pid_t pid, const char *cwd)
{
	_free_ char *dir = process_cwd(pid);

	return dir && !strcmp(dir, cwd);
}

static bool waits_for(const struct outsiders *o, pid_t client, const char *args, size_t size,
		      const char *cwd)
{
	_arguments_ struct arguments theirs = {0};

	return !broker__arguments(o->broker, client, &theirs) &&
	       outsiders_is_client(theirs.bytes, theirs.size, args, size) && is_in(client, cwd);
}

static bool has_client(const struct outsiders *o, pid_t pid, uid_t user, const char *args,
		       size_t size)
{
	_free_ char *cwd = process_cwd(pid);
	_free_ pid_t *pids = NULL;
	size_t n = 0;

	if (!size || !cwd)
		return false;
	for (size_t i = 0; i < CLIENTS_KEPT; i++) {
		const struct client *one = &o->clients[i];

		if (runs(one, user) &&
		    outsiders_is_client(one->args.bytes, one->args.size, args, size) &&
		    is_in(one->pid, cwd))
			return true;
	}
	/* The records of their execs may not have been read yet. */
	if (kernel__followed(o->kernel, &pids, &n))
		return false;
	for (size_t i = n > CLIENTS_MOST ? n - CLIENTS_MOST : 0; i < n; i++)
		if (process_uid(pids[i]) == user && waits_for(o, pids[i], args, size, cwd))
			return true;
	return false;
}

/* ---- Others ---------------------------------------------------------------------------------- */

/* A compiler that only answers, as to -vV, is none that a build lacks. */
static bool compiles(struct command_line line)
{
	return command_line__value(line, "--crate-name").at || command_line__source(line).at;
}

static void note(struct outsiders *o, pid_t pid, struct command_line line)
{
	struct word crate = command_line__value(line, "--crate-name");
	struct outsider *one;

	if (o->n++ >= NAMED)
		return;
	one = &o->named[o->n - 1];
	*one = (struct outsider){.pid = pid, .parent = process_parent(pid)};
	process_name(pid, one->name, sizeof(one->name));
	process_name(one->parent, one->parent_name, sizeof(one->parent_name));
	if (crate.at)
		snprintf(one->crate, sizeof(one->crate), " of crate %.*s", (int)crate.len,
			 crate.at);
}

bool outsiders__serves(struct outsiders *o, pid_t pid, uid_t user)
{
	_arguments_ struct arguments args = {0};
	const struct seen *before = find_seen(o, pid);
	struct seen *seen = &o->seen[o->n_seen % SEEN_KEPT];
	struct command_line line;

	if (before)
		return before->serves;
	broker__arguments(o->broker, pid, &args);
	line = command_line_raw(args.bytes, args.size);
	o->n_seen++;
	*seen = (struct seen){pid, has_client(o, pid, user, args.bytes, args.size)};
	if (!args.size && has_running_client(o, user)) {
		/* Without memory it is not counted. */
		if (o->n_unread < UNREAD_MOST &&
		    !array__reserve_one(&o->unread, o->n_unread, &o->unread_capacity,
					sizeof(*o->unread)))
			o->unread[o->n_unread++] = pid;
	} else if (args.size && !seen->serves && compiles(line)) {
		note(o, pid, line);
	}
	return seen->serves;
}

void outsiders__report(const struct outsiders *o)
{
	uint32_t named = o->n < NAMED ? o->n : NAMED;
	_free_ char *list = NULL;
	size_t size;
	FILE *out = o->n ? open_memstream(&list, &size) : NULL;

	if (o->n_unread)
		diag_warn(
			"not recorded: %u compiler%s that others started, and that ended before "
			"qprof-bpf could look at %s; a recorded process waited for %s if a server, "
			"as sccache's, compiles for it",
			o->n_unread, o->n_unread == 1 ? "" : "s", o->n_unread == 1 ? "it" : "them",
			o->n_unread == 1 ? "it" : "them");
	if (!out)
		return;
	for (uint32_t i = 0; i < named; i++) {
		const struct outsider *one = &o->named[i];
		_free_ char *crate = format_clean(one->crate), *name = format_clean(one->name),
			    *parent = format_clean(one->parent_name);

		fprintf(out, "%s%s (process %d%s, started by %s, process %d)", i ? ", " : "",
			name ?: "?", (int)one->pid, crate ?: "", parent ?: "?", (int)one->parent);
	}
	if (o->n > named)
		fprintf(out, " and %u more", o->n - named);
	if (fclose(out))
		return;
	diag_info("not recorded, as nothing recorded started %s: %u compiler%s that ran meanwhile, "
		  "%s. If %s part of the build, --system records %s",
		  o->n == 1 ? "it" : "them", o->n, o->n == 1 ? "" : "s", list,
		  o->n == 1 ? "it is" : "they are", o->n == 1 ? "it" : "them");
}

void outsiders__free(struct outsiders *o)
{
	for (size_t i = 0; o && i < CLIENTS_KEPT; i++)
		arguments__clear(&o->clients[i].args);
	if (o)
		free(o->unread);
	free(o);
}

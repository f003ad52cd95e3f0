// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/session_sink.h"

#include <string.h>

#include "base/cleanup.h"
#include "proc/command_line.h"
#include "proc/processes.h"

/* The process may execute another program by now: then the arguments are not those of the record.
 */
static bool are_of(const struct arguments *args, const struct wire_exec *e)
{
	size_t same = command_line_file_at(e->args, e->args_len);

	return args->size >= same && args->size && !memcmp(args->bytes, e->args, same);
}

int session_sink__exec(const struct session_sink *sink, struct broker *broker,
		       const struct wire_exec *e)
{
	const size_t fixed = offsetof(struct wire_exec, args);
	bool hidden = command_line_file_at(e->args, e->args_len) < e->args_len;
	bool known = !e->truncated && !hidden;
	struct command_line line = command_line_raw(e->args, e->args_len);
	struct record r = {.kind = WIRE_EXEC, .pid = e->pid, .size = sizeof(*e), .exec = e};
	_arguments_ struct arguments args = {0};
	_free_ struct wire_exec *whole = NULL;
	size_t len = e->args_len;

	if (known || (e->args_len && !word__names_compiler(command_line__next(&line))))
		return session_sink__take(sink, &r);
	known = !broker__arguments(broker, (pid_t)e->pid, &args) && are_of(&args, e);
	if (known)
		len = args.size;
	whole = malloc(fixed + len);
	if (!whole)
		return -ENOMEM;
	memcpy(whole, e, fixed);
	whole->truncated = !known || args.cut;
	whole->args_len = (wire_u32)len;
	if (len)
		memcpy((char *)whole + fixed, known ? args.bytes : e->args, len);
	r.size = fixed + len;
	r.exec = whole;
	return session_sink__take(sink, &r);
}

int session_sink__cwd(const struct session_sink *sink, pid_t pid)
{
	_free_ char *cwd = sink->unnamed ? NULL : process_cwd(pid);
	const struct record r = {.kind = RECORD_CWD, .pid = (uint32_t)pid, .text = cwd};

	return cwd ? session_sink__take(sink, &r) : 0;
}

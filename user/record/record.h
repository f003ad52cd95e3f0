/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * `qprof-bpf record`, from the options to the exit status.
 *
 * Six files show how this room works. Read them in this order.
 * - record.c sets up a recording, watches until it is over, and writes it down.
 * - control.c takes signals, and notices that the command has ended.
 * - recorder.c gives the records of a session to user/decode/, and passes what comes of them on.
 * - trace_output.c creates the trace, and reports why it cannot be written.
 * - live_output.c writes what is shown meanwhile, and the summary at the end.
 * - traces.c has a recorder for each build, in place of the one: `record --traces`.
 */
#ifndef QPROF_RECORD_RECORD_H
#define QPROF_RECORD_RECORD_H

#include "options/options.h"
#include "record/recorder.h"

/*
 * Record as `o` requests, from the set-up to the closing line. Returns an exit status
 * (options/exit_code.h), or ends this process as the launched command ended. `report` as in struct
 * recorder_options; NULL with o->begun_fd.
 */
int record_run(const struct cli_record_options *o, recorder_report_fn report);

#endif /* QPROF_RECORD_RECORD_H */

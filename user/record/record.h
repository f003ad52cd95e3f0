/* SPDX-License-Identifier: Apache-2.0 OR MIT */
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

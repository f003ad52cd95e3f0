// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "base/diag.h"
#include "base/invoker.h"
#include "cli/cmd.h"
#include "doctor/judge.h"
#include "options/exit_code.h"
#include "cli/find_library.h"
#include "view/doctor_view.h"

struct doctor {
	struct findings findings;
	struct toolchains toolchains;
	struct invoker invoker;
};

static void doctor__clear(struct doctor *d)
{
	findings__clear(&d->findings);
	toolchains__clear(&d->toolchains);
	invoker__clear(&d->invoker);
}

#define _doctor_ __cleanup(doctor__clear)

/* Check the kernel and its permissions. */
static void examine_machine(struct doctor *d)
{
	const struct invoker *inv = &d->invoker;
	struct doctor_limits limits = {.files = UINT64_MAX};
	struct doctor_facts facts;
	struct doctor_trials trials;
	struct other_recordings others;
	struct statvfs fs;
	struct rlimit rl;
	char user[512];

	facts__read("", &facts);
	other_recordings__find(&others);
	trials__run(&trials);
	if (!getrlimit(RLIMIT_NOFILE, &rl) && rl.rlim_max != RLIM_INFINITY)
		limits.files = rl.rlim_max;
	if (!statvfs(".", &fs))
		limits.disk_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (!invoker__take_file_rights(inv)) {
		limits.can_write_here = !faccessat(AT_FDCWD, ".", W_OK, AT_EACCESS);
		invoker__return_file_rights(inv);
	}
	snprintf(user, sizeof(user), "%s%s (%u)", inv->sudo ? "root, by sudo for " : "",
		 inv->name ?: "nameless", inv->uid);
	judge_kernel(&d->findings, &facts, &trials);
	judge_privileges(&d->findings, &facts, &trials, user);
	judge_recording(&d->findings, &facts, &trials, &others);
	judge_limits(&d->findings, &limits, &trials);
}

static int find_installed(struct doctor *d)
{
	const char *rustup_home = getenv("RUSTUP_HOME");
	int err = rustup_home ? toolchains__add_rustup(&d->toolchains, rustup_home) : 0;
	_free_ char *rustup = NULL;

	if (asprintf(&rustup, "%s/.rustup", d->invoker.home) < 0) {
		rustup = NULL;
		return -ENOMEM;
	}
	return err ?: toolchains__add_rustup(&d->toolchains, rustup)
		   ?: toolchains__add_system(&d->toolchains, "");
}

/* The toolchain that was asked for, or the one in use here. */
static int find_wanted(struct doctor *d, const char *target)
{
	_library_file_ struct library_file *file = NULL;
	_free_ char *library = NULL;
	char why[1024] = "";
	int err;

	diag_hold_errors(why, sizeof(why));
	err = find_library(target, &library, &file);
	diag_hold_errors(NULL, 0);
	if (err) {
		findings__add(&d->findings, FINDING_TOOLCHAINS,
			      target ? FINDING_PROBLEM : FINDING_NOTE, target ?: "rustc",
			      target ? "see \"qprof-bpf doctor\" for what there is" : NULL, "%s",
			      why);
		return 0;
	}
	err = toolchains__add(&d->toolchains, target ?: "rustc", library, true);
	if (!err && file)
		toolchains__use_file(&d->toolchains, file);
	return err;
}

static int examine_toolchains(struct doctor *d, const char *target)
{
	int err = (target ? 0 : find_installed(d)) ?: find_wanted(d, target);

	if (err)
		return err;
	toolchains__survey(&d->toolchains);
	if (!target || d->toolchains.n)
		judge_toolchains(&d->findings, &d->toolchains);
	return 0;
}

static int cannot_examine(int err)
{
	diag_error("cannot examine this machine: %s", strerror(-err));
	return EXIT_CODE_FAILURE;
}

int cmd_doctor(const struct cli_doctor_options *o)
{
	_doctor_ struct doctor d = {};
	int err = invoker__get(&d.invoker);

	if (err)
		return cannot_examine(err);
	examine_machine(&d);
	/* From here on, files are read that the command line and the environment name. */
	if (cmd_drop_rights())
		return EXIT_CODE_FAILURE;
	err = examine_toolchains(&d, o->target);
	if (err)
		return cannot_examine(err);
	err = o->json ? doctor_json(stdout, &d.findings, &d.toolchains)
		      : doctor_text(stdout, &d.findings, &d.toolchains);
	if (err)
		return cannot_examine(err);
	return cmd_finish_stdout(findings__problems(&d.findings) ? EXIT_CODE_SICK : EXIT_CODE_OK);
}

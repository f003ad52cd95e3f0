// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/debuginfod.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"

/* Nothing but a server is asked. */
static char no_path[] = "";
static char *no_paths = no_path;
static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &no_paths,
};

/* libdwfl loads libdebuginfod. The file's descriptor, or -1. */
static int ask(Dwfl *dwfl, const struct library_file *lib, char **path)
{
	int fd = fcntl(library_file__fd(lib), F_DUPFD_CLOEXEC, 0);
	Dwfl_Module *mod = dwfl_report_offline(dwfl, "", library_file__path(lib), fd);
	GElf_Addr base, bias;
	const char *name;
	void **userdata;

	if (!mod) {
		close(fd);
		return -1;
	}
	dwfl_report_end(dwfl, NULL, NULL);
	if (!dwfl_module_getelf(mod, &bias))
		return -1;
	name = dwfl_module_info(mod, &userdata, &base, NULL, NULL, NULL, NULL, NULL);
	return dwfl_standard_find_debuginfo(mod, userdata, name, base, library_file__path(lib),
					    NULL, 0, path);
}

/* "/proc/self/fd/N" names a file that has no path any more. */
static int path_of(int fd, char **path)
{
	char link[32], target[4096];
	ssize_t n;

	if (*path)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	*path = strdup(target);
	return *path ? 0 : -ENOMEM;
}

int debuginfod__fetch(struct library_file *lib, char **path)
{
	const char *urls = getenv("DEBUGINFOD_URLS"), *of = library_file__path(lib);
	_close_ int fd = -1;
	_free_ char *found = NULL;
	Dwfl *dwfl;
	int err;

	if (!urls || !*urls)
		return diag_error_r(-EINVAL, "--debuginfod: no server is named in DEBUGINFOD_URLS");
	if (!geteuid() && library_file__identity(lib)->uid)
		return diag_error_r(
			-EPERM,
			"--debuginfod: %s belongs to another user, for whom root asks no "
			"server; run this as that user",
			of);
	dwfl = dwfl_begin(&callbacks);
	fd = dwfl ? ask(dwfl, lib, &found) : -1;
	dwfl_end(dwfl);
	err = fd < 0 ? -ENOENT : path_of(fd, &found);
	if (err)
		return diag_error_r(err, "no server in DEBUGINFOD_URLS has the symbols of %s: %s",
				    of, strerror(-err));
	*path = take_ptr(found);
	return 0;
}

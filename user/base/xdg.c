// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/xdg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/invoker.h"

static const struct {
	const char *variable, *below_home;
} places[] = {
	[XDG_DATA] = {"XDG_DATA_HOME", ".local/share"},
	[XDG_STATE] = {"XDG_STATE_HOME", ".local/state"},
	[XDG_CONFIG] = {"XDG_CONFIG_HOME", ".config"},
	[XDG_CACHE] = {"XDG_CACHE_HOME", ".cache"},
};

static const char *absolute(const char *path)
{
	return path && *path == '/' ? path : NULL;
}

char *xdg__path(enum xdg_kind kind, const char *rest)
{
	const char *base = absolute(getenv(places[kind].variable));
	const char *home = absolute(getenv("HOME"));
	_invoker_ struct invoker inv = {};
	char *path;

	if (base)
		return asprintf(&path, "%s/%s", base, rest) < 0 ? NULL : path;
	if (!home && invoker__get(&inv))
		return NULL;
	return asprintf(&path, "%s/%s/%s", home ?: inv.home, places[kind].below_home, rest) < 0
		       ? NULL
		       : path;
}

int xdg__make(char *path)
{
	for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		int failed;

		*at = '\0';
		failed = mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
		*at = '/';
		if (failed)
			return failed;
	}
	return mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <fnmatch.h>

#include "cli/commands.h"

bool cmd_matches(const struct cli_texts *globs, const char *text)
{
	for (size_t i = 0; i < globs->n; i++)
		if (!fnmatch(globs->texts[i], text, 0))
			return true;
	return !globs->n;
}

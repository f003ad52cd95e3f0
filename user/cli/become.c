// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <string.h>

#include "base/diag.h"
#include "base/invoker.h"
#include "cli/commands.h"

int cmd_become_invoker(void)
{
	_invoker_ struct invoker inv = {};
	int err = invoker__get(&inv);

	if (!err)
		err = invoker__become(&inv);
	if (err)
		return diag_error_r(err, "cannot act for the user who ran sudo: %s",
				    strerror(-err));
	return 0;
}

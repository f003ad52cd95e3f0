// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Any text as a symbol has a name, a path and a definition of bounded length, after a bounded time.
 */
#include "analyze/generic_name.h"
#include "base/cleanup.h"
#include "plan/symbols/function_name.h"
#include "fuzz.h"

static void check(const char *name, size_t symbol_len)
{
	if (!name || strlen(name) > FUNCTION_NAME_MAX + symbol_len)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_free_ char *symbol = strndup((const char *)data, size);
	_free_ char *name = symbol ? function_name(symbol) : NULL;
	_free_ char *path = symbol ? function_path(symbol) : NULL;

	if (symbol) {
		_generic_name_ struct generic_name generic = {};

		check(name, size);
		check(path, FUNCTION_NAME_MAX + size);
		if (generic_name__of(symbol, &generic))
			abort();
		check(generic.path, FUNCTION_NAME_MAX + size);
		check(generic.definition, FUNCTION_NAME_MAX + size);
	}
	return 0;
}

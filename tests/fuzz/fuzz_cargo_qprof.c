// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What `cargo qprof` reads of others: a Cargo.toml; the name of a file, which is removed only if it
 * is one of ours to its last character; and an environment, whose texts lie within its bytes.
 */
#include "base/cleanup.h"
#include "base/first_environ.h"
#include "cli/cargo_traces.h"
#include "fuzz.h"

static void read_manifest(const uint8_t *data, size_t size)
{
	_fclose_ FILE *f = size ? fmemopen((void *)data, size, "r") : NULL;

	if (f)
		cargo_manifest_is_workspace(f);
}

static void read_name(const uint8_t *data, size_t size)
{
	_free_ char *name = strndup((const char *)data, size);
	size_t length = name ? cargo_traces_command(name) : 0;

	expect(!length || strlen(name + length) == strlen("-20251201T095111.007Z.qpt"));
	expect(!length || (length > 9 && name[length - 9] == '-'));
}

static void read_environ(const uint8_t *data, size_t size)
{
	_free_ char *block = malloc(size + 1);
	_free_ char **env = NULL;

	if (!block)
		return;
	memcpy(block, data, size);
	if (first_environ__split(block, block + size, &env))
		return;
	for (char **entry = env; *entry; entry++)
		expect(*entry >= block && *entry + strlen(*entry) < block + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_manifest(data, size);
	read_name(data, size);
	read_environ(data, size);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "plan/symbols/elf_image.h"

/*
 * Loaded only when it is used: it brings an HTTP client, which no other command needs. The
 * prototypes are those of elfutils/debuginfod.h.
 */
#define CLIENT_LIBRARY "libdebuginfod.so.1"

struct debuginfod_client;

struct client {
	struct debuginfod_client *(*begin)(void);
	int (*find)(struct debuginfod_client *client, const unsigned char *build_id,
		    int build_id_len, char **path);
	void (*end)(struct debuginfod_client *client);
};

static int load_client(struct client *c)
{
	void *library = dlopen(CLIENT_LIBRARY, RTLD_NOW);

	if (library) {
		c->begin = dlsym(library, "debuginfod_begin");
		c->find = dlsym(library, "debuginfod_find_debuginfo");
		c->end = dlsym(library, "debuginfod_end");
	}
	if (!library || !c->begin || !c->find || !c->end)
		return diag_error_r(-ELIBACC,
				    "--debuginfod: cannot load " CLIENT_LIBRARY ": install it; "
				    "Debian's package is libdebuginfod1");
	return 0;
}

/* The servers' answer: 0 and the path of the file, which the caller frees, or a negative errno. */
static int ask(const uint8_t *id, size_t len, const char *of, char **path)
{
	struct debuginfod_client *asked;
	struct client c;
	int fd, err = load_client(&c);

	if (err)
		return err;
	asked = c.begin();
	fd = asked ? c.find(asked, id, (int)len, path) : -ENOMEM;
	c.end(asked);
	if (fd == -ENOENT)
		return diag_error_r(fd, "no server in DEBUGINFOD_URLS has the symbols of %s", of);
	if (fd < 0)
		return diag_error_r(fd,
				    "cannot get the symbols of %s from the servers in "
				    "DEBUGINFOD_URLS: %s",
				    of, strerror(-fd));
	close(fd);
	return 0;
}

static int fetch(struct library_file *lib, char **path)
{
	const char *of = library_file__path(lib);
	_elf_image_ struct elf_image *img = NULL;
	uint8_t id[ELF_BUILD_ID_MAX];
	size_t len;
	int err = elf_image__read(lib, &img);

	if (err)
		return err;
	*path = NULL;
	if (elf_image__has_symbols(img))
		return 0;
	len = elf_image__build_id(img, id);
	if (!len)
		return diag_error_r(-ENODATA,
				    "--debuginfod: %s has no build-id, by which servers know files",
				    of);
	return ask(id, len, of, path);
}

int debuginfod__fetch(struct library_file *lib, char **path)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (!urls || !*urls)
		return diag_error_r(-EINVAL, "--debuginfod: no server is named in DEBUGINFOD_URLS");
	if (!geteuid() && library_file__identity(lib)->uid)
		return diag_error_r(
			-EPERM,
			"--debuginfod: %s belongs to another user, for whom root asks no "
			"server; run this as that user",
			library_file__path(lib));
	return fetch(lib, path);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/trace_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/diag.h"

#define SUFFIX ".qpt"

/* Takes ownership of `path`. */
static int add(struct trace_list *list, char *path)
{
	if (!path || array__reserve_one(&list->paths, list->n, &list->capacity, sizeof(char *))) {
		free(path);
		return diag_error_r(-ENOMEM, "out of memory");
	}
	list->paths[list->n++] = path;
	return 0;
}

static int is_trace(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > strlen(SUFFIX) && !strcmp(entry->d_name + len - strlen(SUFFIX), SUFFIX);
}

static int add_entry(struct trace_list *list, const char *directory, const char *name)
{
	char *path;

	return add(list, asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path);
}

static int add_directory(struct trace_list *list, const char *directory)
{
	struct dirent **entries = NULL;
	int n = scandir(directory, &entries, is_trace, alphasort);
	int err = 0;

	if (n < 0)
		return diag_error_r(-errno, "cannot read %s: %s", directory, strerror(errno));
	for (int i = 0; i < n && !err; i++)
		err = add_entry(list, directory, entries[i]->d_name);
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	if (!n)
		return diag_error_r(-ENOENT, "there is no trace (*" SUFFIX ") in %s", directory);
	return err;
}

static int add_files(struct trace_list *list, const char *word)
{
	for (;; word++) {
		size_t len = strcspn(word, ",");
		int err;

		if (!len)
			return diag_error_r(-EINVAL, "a trace has no name: one comma too many?");
		err = add(list, strndup(word, len));
		word += len;
		if (err || !*word)
			return err;
	}
}

int trace_list__init(struct trace_list *list, const char *word)
{
	struct stat st;

	*list = (struct trace_list){};
	if (stat(word, &st))
		return add_files(list, word);
	return S_ISDIR(st.st_mode) ? add_directory(list, word) : add(list, strdup(word));
}

void trace_list__clear(struct trace_list *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		free(list->paths[i]);
	free(list->paths);
	*list = (struct trace_list){};
}

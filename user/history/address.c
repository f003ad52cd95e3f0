// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/address.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "base/own_path.h"

#define HTTP	  "http://"
#define HTTPS	  "https://"
#define FILE_NAME "qprof-bpf/clickhouse"
#define LINE_SIZE 4096

/* ---- The address ----------------------------------------------------------------------------- */

bool address__is(const char *where)
{
	return !strncmp(where, HTTP, strlen(HTTP)) || !strncmp(where, HTTPS, strlen(HTTPS));
}

/* The length of HOST and its port, if they are that; *port is where the colon is, or NULL. */
static size_t host_length(const char *text, const char **port)
{
	size_t n = *text == '['
			   ? strspn(text + 1, "0123456789abcdefABCDEF:.") + 1
			   : strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "0123456789.-_");
	size_t digits;

	*port = NULL;
	if (*text == '[' && text[n++] != ']')
		return 0;
	if (!n || text[n] != ':')
		return n;
	*port = text + n;
	digits = strspn(text + n + 1, "0123456789");
	return digits && digits <= 5 ? n + 1 + digits : 0;
}

static bool is_name(const char *text)
{
	return *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "0123456789_")] == '\0';
}

/* The path behind the host: "", "/", "/db", "/prefix/db". *len is that of the prefix. */
static bool split_path(struct address *a, const char *path, size_t *len)
{
	const char *last = strrchr(path, '/');
	const char *name = last && last[1] ? last + 1 : "default";

	*len = last ? (size_t)(last - path) : 0;
	if (!is_name(name) || strlen(name) >= sizeof(a->database))
		return false;
	if (strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./") <
	    strlen(path))
		return false;
	strcpy(a->database, name);
	return *path == '/' || !*path;
}

int address__parse(struct address *a, const char *where)
{
	bool tls = !strncmp(where, HTTPS, strlen(HTTPS));
	const char *host = where + strlen(tls ? HTTPS : HTTP), *port;
	size_t n = host_length(host, &port), prefix;
	char *at;

	*a = (struct address){};
	if (strchr(host, '@'))
		return diag_error_r(-EINVAL,
				    "--store: an address with a user or a password can be read by "
				    "every process of this machine; put them into the file "
				    "~/.config/" FILE_NAME " or into QPROF_CLICKHOUSE_USER and "
				    "QPROF_CLICKHOUSE_PASSWORD");
	if (!n || !split_path(a, host + n, &prefix) || strlen(where) + 16 >= sizeof(a->name))
		return diag_error_r(-EINVAL,
				    "--store: %.*s is no address of a server; give "
				    "http://HOST:PORT/DATABASE",
				    (int)strcspn(where, "?"), where); /* ?password=... */
	snprintf(a->base, sizeof(a->base), "%s%.*s%s%.*s/", tls ? HTTPS : HTTP, (int)n, host,
		 port  ? ""
		 : tls ? ":8443"
		       : ":8123",
		 (int)prefix, host + n);
	snprintf(a->name, sizeof(a->name), "%.*s%s", (int)(sizeof(a->name) - 64), a->base,
		 a->database);
	/* A file's name: a dash stands for all but letters, digits, dots and underscores. */
	at = a->directory;
	for (const char *c = strstr(a->name, "://") + 3; *c; c++)
		*at++ = isalnum((unsigned char)*c) || *c == '.' || *c == '_' ? *c : '-';
	*at = '\0';
	return 0;
}

/* ---- The user -------------------------------------------------------------------------------- */

static char *trim(char *text)
{
	size_t n;

	text += strspn(text, " \t");
	for (n = strlen(text); n && strchr(" \t\r\n", text[n - 1]); n--)
		;
	text[n] = '\0';
	return text;
}

static int read_line(struct http_login *login, char *line, const char *path, unsigned int number)
{
	const struct {
		const char *name;
		char **value;
	} keys[] = {
		{"user", &login->user},
		{"password", &login->password},
		{"ca", &login->ca_file},
		{"timeout", &login->timeout},
	};
	char *value = line, *key = trim(strsep(&value, "="));

	if (!*key || *key == '#')
		return 0;
	for (size_t i = 0; value && i < sizeof(keys) / sizeof(*keys); i++) {
		if (strcmp(key, keys[i].name))
			continue;
		free(*keys[i].value);
		*keys[i].value = strdup(trim(value));
		return *keys[i].value ? 0 : -ENOMEM;
	}
	/* The line may hold a password: it is not shown. */
	return diag_error_r(-EINVAL,
			    "%s: line %u is none of \"user = ...\", \"password = ...\", "
			    "\"ca = FILE\", \"timeout = SECONDS\"",
			    path, number);
}

static int read_file(struct http_login *login, const char *path)
{
	_fclose_ FILE *f = regular_file__stream(AT_FDCWD, path, 0);
	char line[LINE_SIZE];
	const char *seconds;
	size_t digits;
	struct stat st;
	int err = 0;

	if (!f && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (!f)
		return diag_error_r(-errno, "cannot read %s: %s", path,
				    errno == EINVAL ? "it is no file" : strerror(errno));
	/* Nobody else can have read or written it. */
	if (fstat(fileno(f), &st))
		return diag_error_r(-errno, "cannot read %s: %s", path, strerror(errno));
	if (st.st_uid && st.st_uid != geteuid())
		return diag_error_r(-EPERM, "%s is not a file of yours, so it is not used", path);
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return diag_error_r(-EPERM,
				    "others may read or write %s, which has a password; run "
				    "chmod 600 %s",
				    path, path);
	for (unsigned int n = 1; !err && fgets(line, sizeof(line), f); n++)
		err = read_line(login, line, path, n);
	explicit_bzero(line, sizeof(line));
	seconds = login->timeout;
	if (err || !seconds)
		return err;
	digits = strspn(seconds, "0123456789");
	if (digits && digits <= 4 && !seconds[digits] && atoi(seconds) >= 1 &&
	    atoi(seconds) <= HTTP_SECONDS_MAX)
		return 0;
	return diag_error_r(-EINVAL, "%s: \"timeout\" is not a number of seconds from 1 to %d",
			    path, HTTP_SECONDS_MAX);
}

static int take_variable(char **value, const char *name)
{
	const char *set = getenv(name);

	if (!set)
		return 0;
	free(*value);
	*value = strdup(set);
	return *value ? 0 : -ENOMEM;
}

int http_login__read(struct http_login *login)
{
	_free_ char *path = xdg__path(XDG_CONFIG, FILE_NAME);
	int err = path ? read_file(login, path) : -ENOMEM;

	if (!err)
		err = take_variable(&login->user, "QPROF_CLICKHOUSE_USER");
	return err ? err : take_variable(&login->password, "QPROF_CLICKHOUSE_PASSWORD");
}

void http_login__clear(struct http_login *login)
{
	if (login->password)
		explicit_bzero(login->password, strlen(login->password));
	free(login->user);
	free(login->password);
	free(login->ca_file);
	free(login->timeout);
	*login = (struct http_login){};
}

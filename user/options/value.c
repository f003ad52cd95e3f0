// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/value.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/diag.h"

#define MAX_DECIMALS	  6
#define MOST_GATE_PERCENT 1000000

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Read digits at *text, and move *text behind them. */
static int take_digits(const char **text, uint64_t *n)
{
	if (!is_digit(**text))
		return -EINVAL;
	for (*n = 0; is_digit(**text); (*text)++) {
		if (__builtin_mul_overflow(*n, 10, n) ||
		    __builtin_add_overflow(*n, (uint64_t)(**text - '0'), n))
			return -ERANGE;
	}
	return 0;
}

int value_number(const char *text, uint64_t *n)
{
	int err = take_digits(&text, n);

	return err ?: *text ? -EINVAL : 0;
}

/* The nanoseconds of a unit of durations, or of limits, whose m is a size; 0: there is none. */
static uint64_t unit_ns(const char *text, bool limit)
{
	static const struct {
		const char *name;
		uint64_t ns;
		bool duration, limit;
	} units[] = {
		{"", 1000000000, true, false},
		{"s", 1000000000, true, true},
		{"ms", 1000000, true, false},
		{"us", 1000, true, false},
		{"ns", 1, true, false},
		{"m", 60000000000, true, false},
		{"min", 60000000000, true, true},
		{"h", 3600000000000, true, true},
		{"d", 86400000000000, false, true},
	};

	for (size_t i = 0; i < N_OF(units); i++)
		if ((limit ? units[i].limit : units[i].duration) && !strcmp(text, units[i].name))
			return units[i].ns;
	return 0;
}

int value_duration(const char *text, uint64_t *ns)
{
	uint64_t whole, unit, part = 0, scale = 1;
	int err = take_digits(&text, &whole);

	if (err)
		return err;
	if (*text == '.') {
		const char *first = ++text;

		err = take_digits(&text, &part);
		if (err)
			return err;
		if (text - first > MAX_DECIMALS)
			return -EINVAL;
		for (; first < text; first++)
			scale *= 10;
	}
	unit = unit_ns(text, false);
	if (!unit)
		return -EINVAL;
	/* part < 10^6 and unit < 10^13: no overflow there. */
	if (__builtin_mul_overflow(whole, unit, ns) ||
	    __builtin_add_overflow(*ns, part * unit / scale, ns))
		return -ERANGE;
	return 0;
}

int value_size(const char *text, uint64_t *bytes)
{
	static const char letters[] = "kmg";
	unsigned int shift = 0;
	uint64_t n;
	int err = take_digits(&text, &n);

	if (err)
		return err;
	if (*text) {
		const char *letter = strchr(letters, *text | 0x20);

		if (!letter || !*letter)
			return -EINVAL;
		shift = 10 * (unsigned int)(letter - letters + 1);
		if (text[1] && strcasecmp(text + 1, "b") && strcasecmp(text + 1, "ib"))
			return -EINVAL;
	}
	if (n > UINT64_MAX >> shift)
		return -ERANGE;
	*bytes = n << shift;
	return 0;
}

int value_limit(const char *text, struct cli_limits *limits)
{
	const char *unit = text;
	uint64_t n, ns, bytes;
	int err = take_digits(&unit, &n);

	if (err)
		return err;
	ns = unit_ns(unit, true);
	if (!n || !*unit)
		return n ? -EINVAL : -ERANGE;
	if (ns && __builtin_mul_overflow(n, ns, &ns))
		return -ERANGE;
	if (ns) {
		limits->ns = ns;
		return 0;
	}
	err = value_size(text, &bytes);
	if (!err)
		limits->bytes = bytes;
	return err;
}

static int add_pid(struct cli_pids *pids, pid_t pid)
{
	pid_t *grown;

	for (size_t i = 0; i < pids->n; i++) {
		if (pids->pids[i] == pid)
			return 0;
	}
	grown = reallocarray(pids->pids, pids->n + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	pids->pids = grown;
	pids->pids[pids->n++] = pid;
	return 0;
}

int value_pids(const char *text, struct cli_pids *pids)
{
	for (;;) {
		uint64_t pid;
		int err = take_digits(&text, &pid);

		if (err)
			return err;
		if (!pid || pid > INT_MAX)
			return -ERANGE;
		if (*text && *text != ',')
			return -EINVAL;
		err = add_pid(pids, (pid_t)pid);
		if (err || !*text)
			return err;
		text++;
	}
}

int value_choice(const char *text, const char *choices, unsigned int *index)
{
	for (*index = 0;; (*index)++) {
		size_t len = strcspn(choices, "|");

		if (len == strlen(text) && !strncmp(choices, text, len))
			return 0;
		if (!choices[len])
			return -EINVAL;
		choices += len + 1;
	}
}

int value_texts(const char *text, struct cli_texts *texts)
{
	const char **more;

	if (!*text)
		return -EINVAL;
	more = reallocarray(texts->texts, texts->n + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	texts->texts = more;
	texts->texts[texts->n++] = text;
	return 0;
}

static int parse_threshold(const char *text, uint64_t most_percent, struct cli_threshold *threshold)
{
	const char *sign = strchr(text, '%');
	uint64_t whole, part = 0;
	unsigned int scale = 1000;
	int err;

	*threshold = (struct cli_threshold){0};
	if (!sign)
		return value_duration(text, &threshold->ns);
	err = take_digits(&text, &whole);
	if (err)
		return err;
	if (*text == '.') {
		if (!is_digit(*++text))
			return -EINVAL;
		for (; is_digit(*text) && scale > 1; text++)
			part += (uint64_t)(*text - '0') * (scale /= 10);
	}
	if (text != sign || sign[1])
		return -EINVAL;
	if (whole > most_percent)
		return -ERANGE;
	threshold->ppm = (whole * 1000 + part) * 10;
	return 0;
}

int value_threshold(const char *text, struct cli_threshold *threshold)
{
	return parse_threshold(text, 100, threshold);
}

/* Parse "typeck", "regex/typeck", or a crate, a slash and "*". Missing fields stay NULL. */
static int parse_what(const char *text, size_t len, struct cli_gate *gate)
{
	const char *slash = memchr(text, '/', len);
	const char *query = slash ? slash + 1 : text;
	size_t query_len = text + len - query;

	if (!query_len || slash == text)
		return -EINVAL;
	if (slash)
		gate->crate = strndup(text, slash - text);
	if (slash && !gate->crate)
		return -ENOMEM;
	/* A crate's total is not the sum of its queries. */
	if (slash && query_len == 1 && *query == '*')
		return 0;
	gate->query = strndup(query, query_len);
	return gate->query ? 0 : -ENOMEM;
}

static int parse_gate(const char *text, struct cli_gate *gate)
{
	const char *equals = strrchr(text, '='), *limit = equals ? equals + 1 : text;
	int err = parse_threshold(limit, MOST_GATE_PERCENT, &gate->limit);
	size_t len = strlen(limit);

	gate->text = text;
	if (err == -EINVAL)
		err = value_size(limit, &gate->limit_bytes);
	if (err)
		return err;
	/*
	 * Elsewhere a bare 5 is in seconds. Here the user most likely means 5 %, and a limit of 5 s
	 * would never be exceeded.
	 */
	if (len && is_digit(limit[len - 1]) && strspn(limit, "0.") != len)
		return -EINVAL;
	return equals ? parse_what(text, equals - text, gate) : 0;
}

int value_gate(const char *text, struct cli_gates *gates)
{
	struct cli_gate gate = {}, *more;
	int err = parse_gate(text, &gate);

	more = err ? NULL : reallocarray(gates->gates, gates->n + 1, sizeof(*more));
	if (!more) {
		free(gate.crate);
		free(gate.query);
		return err ?: -ENOMEM;
	}
	gates->gates = more;
	gates->gates[gates->n++] = gate;
	return 0;
}

bool value_matches(const struct cli_texts *globs, const char *text)
{
	for (size_t i = 0; i < globs->n; i++)
		if (!fnmatch(globs->texts[i], text, 0))
			return true;
	return !globs->n;
}

/* ---- Lists of traces ------------------------------------------------------------------------- */

#define SUFFIX ".qpt"

/* Takes ownership of `path`. */
static int add_trace(struct trace_list *list, char *path)
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

static int add_directory(struct trace_list *list, const char *directory)
{
	struct dirent **entries = NULL;
	int n = scandir(directory, &entries, is_trace, alphasort);
	int err = 0;

	if (n < 0)
		return diag_error_r(-errno, "cannot read %s: %s", directory, strerror(errno));
	for (int i = 0; i < n && !err; i++) {
		char *path;
		int len = asprintf(&path, "%s/%s", directory, entries[i]->d_name);

		err = add_trace(list, len < 0 ? NULL : path);
	}
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
		err = add_trace(list, strndup(word, len));
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
	return S_ISDIR(st.st_mode) ? add_directory(list, word) : add_trace(list, strdup(word));
}

void trace_list__clear(struct trace_list *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		free(list->paths[i]);
	free(list->paths);
	*list = (struct trace_list){};
}

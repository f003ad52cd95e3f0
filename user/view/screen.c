// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/screen.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/file_writer.h"
#include "base/writer_thread.h"

#define SAVE_CURSOR    "\0337"
#define RESTORE_CURSOR "\0338"
#define LINE_DOWN      "\033D" /* scrolls at the bottom; keeps the column, unlike \n */
#define WHOLE_REGION   "\033[r"
#define CLEAR_LINE     "\033[K"
#define CLEAR_BELOW    "\033[J"

#define DEFAULT_ROWS	24
#define DEFAULT_COLUMNS 80
#define LEAST_ABOVE	3 /* lines that remain for other output */

struct screen {
	FILE *out;
	struct writer_thread *writer; /* or NULL */
	size_t taken;		      /* lines that the display occupies; 0 after restore */
	struct winsize at;	      /* terminal size when the lines were taken */
};

bool screen_is_on(FILE *out)
{
	const char *term = getenv("TERM");
	int fd = fileno(out);

	return fd >= 0 && isatty(fd) && term && *term && strcmp(term, "dumb");
}

bool screen_wants_color(void)
{
	const char *no_color = getenv("NO_COLOR");

	return !no_color || !*no_color;
}

int screen__new(FILE *out, struct screen **s)
{
	if (!screen_is_on(out))
		return -ENOTTY;
	*s = calloc(1, sizeof(**s));
	if (!*s)
		return -ENOMEM;
	(*s)->out = out;
	return 0;
}

void screen__write_by(struct screen *s, struct writer_thread *writer)
{
	s->writer = writer;
}

/*
 * Write in one call: stdio would split the bytes, and output of other programs could come in
 * between.
 */
static int put(const struct screen *s, const char *bytes, size_t len)
{
	struct file_writer w = {.fd = fileno(s->out)};

	if (s->writer)
		return writer_thread__put(s->writer, bytes, len);
	return fflush(s->out) ? -errno : file_writer__write(&w, bytes, len);
}

static struct winsize size_of(FILE *out)
{
	struct winsize ws = {};

	/* A serial line does not know its size. */
	if (ioctl(fileno(out), TIOCGWINSZ, &ws) || !ws.ws_row || !ws.ws_col) {
		ws.ws_row = DEFAULT_ROWS;
		ws.ws_col = DEFAULT_COLUMNS;
	}
	return ws;
}

size_t screen_columns(FILE *out)
{
	return size_of(out).ws_col;
}

static size_t usable_lines(const struct winsize *ws)
{
	size_t lines = ws->ws_row * 2 / 3;

	if (ws->ws_row <= LEAST_ABOVE)
		return 0;
	return lines + LEAST_ABOVE > ws->ws_row ? (size_t)ws->ws_row - LEAST_ABOVE : lines;
}

void screen__size(const struct screen *s, size_t *lines, size_t *columns)
{
	struct winsize ws = size_of(s->out);

	*lines = usable_lines(&ws);
	*columns = ws.ws_col;
}

static void put_release(struct screen *s, FILE *to)
{
	struct winsize now = size_of(s->out);

	fputs(SAVE_CURSOR WHOLE_REGION, to);
	/* After a resize the position of our lines is unknown; they scroll away in time. */
	if (now.ws_row == s->at.ws_row && now.ws_col == s->at.ws_col)
		fprintf(to, "\033[%zu;1H" CLEAR_BELOW, s->at.ws_row - s->taken + 1);
	fputs(RESTORE_CURSOR, to);
	s->taken = 0;
}

int screen__draw(struct screen *s, const char *text, size_t n)
{
	struct winsize ws = size_of(s->out);
	_free_ char *frame = NULL;
	size_t len = 0;
	FILE *to;

	if (n > usable_lines(&ws))
		n = usable_lines(&ws);
	to = open_memstream(&frame, &len);
	if (!to)
		return -ENOMEM;
	if (s->taken && (n > s->taken || ws.ws_row != s->at.ws_row || ws.ws_col != s->at.ws_col))
		put_release(s, to);
	if (!s->taken && n) {
		/* Make room below the cursor, wherever it is, then exclude it from the scroll
		 * region. */
		for (size_t i = 0; i < n; i++)
			fputs(LINE_DOWN, to);
		fprintf(to, "\033[%zuA" SAVE_CURSOR "\033[1;%zur" RESTORE_CURSOR, n, ws.ws_row - n);
		s->taken = n;
		s->at = ws;
	}
	if (s->taken)
		fputs(SAVE_CURSOR, to);
	for (size_t i = 0; i < s->taken; i++) {
		len = strcspn(text, "\n");
		fprintf(to, "\033[%zu;1H" CLEAR_LINE "%.*s", s->at.ws_row - s->taken + 1 + i,
			(int)len, text);
		text += len + (text[len] == '\n');
	}
	if (s->taken)
		fputs(RESTORE_CURSOR, to);
	if (fclose(to))
		return -ENOMEM;
	return put(s, frame, len);
}

void screen__restore(struct screen *s)
{
	_free_ char *frame = NULL;
	size_t len = 0;
	FILE *to;

	if (!s || !s->taken)
		return;
	to = open_memstream(&frame, &len);
	if (!to)
		return;
	put_release(s, to);
	if (!fclose(to))
		put(s, frame, len);
}

void screen__free(struct screen *s)
{
	screen__restore(s);
	free(s);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/array.h"

#define CUT ".."

struct unit {
	uint64_t size;
	const char *name;
};

/* n / size with so many decimals, as an integer: 1234567 / 1000000 with two is 123. */
static uint64_t scaled(uint64_t n, uint64_t size, int decimals)
{
	static const unsigned int factors[] = {1, 10, 100};

	return ((unsigned __int128)n * factors[decimals] + size / 2) / size;
}

/*
 * Three significant digits of n, in the first unit in which it rounds to three digits or less:
 * 999,500 ns is 1.00 ms, not 1000 us.
 */
static char *format_scaled(char buf[FORMAT_MAX], uint64_t n, const struct unit *units, size_t count)
{
	const struct unit *unit = units, *last = units + count - 1;
	int decimals = 2;
	uint64_t value;

	while (unit < last && scaled(n, unit->size, 0) >= 1000)
		unit++;
	if (unit == units)
		decimals = 0;
	while (decimals && scaled(n, unit->size, decimals) >= 1000)
		decimals--;
	value = scaled(n, unit->size, decimals);
	if (decimals == 2)
		snprintf(buf, FORMAT_MAX, "%" PRIu64 ".%02" PRIu64 "%s", value / 100, value % 100,
			 unit->name);
	else if (decimals == 1)
		snprintf(buf, FORMAT_MAX, "%" PRIu64 ".%" PRIu64 "%s", value / 10, value % 10,
			 unit->name);
	else
		snprintf(buf, FORMAT_MAX, "%" PRIu64 "%s", value, unit->name);
	return buf;
}

char *format_duration(char buf[FORMAT_MAX], uint64_t ns)
{
	static const struct unit units[] = {
		{1, " ns"}, {1000, " us"}, {1000000, " ms"}, {1000000000, " s"}};

	return format_scaled(buf, ns, units, N_OF(units));
}

char *format_short(char buf[FORMAT_MAX], uint64_t n)
{
	static const struct unit units[] = {
		{1, ""}, {1000, "k"}, {1000000, "M"}, {1000000000, "G"}};

	return format_scaled(buf, n, units, N_OF(units));
}

char *format_bytes(char buf[FORMAT_MAX], uint64_t bytes)
{
	static const struct unit units[] = {
		{1, " B"}, {1 << 10, " KiB"}, {1 << 20, " MiB"}, {1 << 30, " GiB"}};

	return format_scaled(buf, bytes, units, N_OF(units));
}

char *format_count(char buf[FORMAT_MAX], uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	char *out = buf;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return buf;
}

char *format_percent(char buf[FORMAT_MAX], uint64_t part, uint64_t whole)
{
	uint64_t tenths = 0;

	if (whole)
		tenths = ((unsigned __int128)part * 1000 + whole / 2) / whole;
	snprintf(buf, FORMAT_MAX, "%" PRIu64 ".%" PRIu64, tenths / 10, tenths % 10);
	return buf;
}

uint64_t format_rate(uint64_t n, uint64_t ns)
{
	return ns ? (unsigned __int128)n * 1000000000 / ns : 0;
}

size_t format_utf8(const char *text, uint32_t *code_point)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *s = (const unsigned char *)text;
	uint32_t cp;
	size_t len;

	if (s[0] < 0x80) {
		*code_point = s[0];
		return s[0] != 0;
	}
	if (s[0] < 0xc2 || s[0] >= 0xf5)
		return 0;
	len = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	cp = s[0] & (0xff >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		cp = cp << 6 | (s[i] & 0x3f);
	}
	if (cp < least[len] || cp > 0x10ffff || (cp >= 0xd800 && cp < 0xe000))
		return 0;
	*code_point = cp;
	return len;
}

bool format_is_unsafe(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0x61c || cp == 0x200e ||
	       cp == 0x200f || (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069);
}

const char *format_json_escape(uint32_t cp, char scratch[FORMAT_ESCAPE])
{
	if (cp == '"')
		return "\\\"";
	if (cp == '\\')
		return "\\\\";
	if (!format_is_unsafe(cp))
		return NULL;
	snprintf(scratch, FORMAT_ESCAPE, "\\u%04" PRIx32, cp & 0xffff);
	return scratch;
}

void format_put_json(FILE *out, const char *json, size_t len)
{
	const char *clean = json, *end = json + len;
	char scratch[FORMAT_ESCAPE];

	while (json < end) {
		uint32_t cp = ' ';
		size_t n = format_utf8(json, &cp) ?: 1;

		if (cp != '\n' && format_is_unsafe(cp)) {
			fwrite(clean, 1, (size_t)(json - clean), out);
			fputs(format_json_escape(cp, scratch), out);
			clean = json + n;
		}
		json += n;
	}
	fwrite(clean, 1, (size_t)(end - clean), out);
}

char *format_clean(const char *text)
{
	char *clean = malloc(strlen(text) + 1), *out = clean;

	if (!clean)
		return NULL;
	while (*text) {
		uint32_t cp;
		size_t len = format_utf8(text, &cp);

		if (len && !format_is_unsafe(cp))
			out = mempcpy(out, text, len);
		else
			*out++ = '?';
		text += len ?: 1;
	}
	*out = '\0';
	return clean;
}

static size_t next_width(const char *text, size_t *bytes)
{
	uint32_t cp;
	int width;

	*bytes = format_utf8(text, &cp);
	if (!*bytes) {
		*bytes = 1;
		return 1;
	}
	if (cp < 0x80)
		return 1;
	width = wcwidth((wchar_t)cp);
	return width < 0 ? 1 : width; /* unknown to the locale: most are one column */
}

size_t format_width(const char *text)
{
	size_t width = 0, bytes;

	for (; *text; text += bytes)
		width += next_width(text, &bytes);
	return width;
}

size_t format_fit(const char *text, size_t columns)
{
	const char *at = text;

	while (*at) {
		size_t bytes, width = next_width(at, &bytes);

		if (width > columns)
			break;
		columns -= width;
		at += bytes;
	}
	return at - text;
}

void format_cut(char *text, size_t columns)
{
	size_t mark = columns > strlen(CUT) ? strlen(CUT) : 0, at; /* bytes */

	if (format_width(text) <= columns)
		return;
	at = format_fit(text, columns - mark);
	memcpy(text + at, CUT, mark);
	text[at + mark] = '\0';
}

const char *format_fit_end(const char *text, size_t columns)
{
	size_t width = format_width(text), bytes;

	for (; width > columns; text += bytes)
		width -= next_width(text, &bytes);
	return text;
}

void format_hex(char *text, const uint8_t *bytes, size_t n)
{
	text[0] = '\0';
	for (size_t i = 0; i < n; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
}

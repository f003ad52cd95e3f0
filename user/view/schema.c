// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/schema.h"

void schema__begin(struct schema *s, FILE *out, const char *of)
{
	*s = (struct schema){.json.out = out};
	json__begin(&s->json);
	json__text(&s->json, "schema", "qprof-fields/1");
	json__text(&s->json, "of", of);
	json__put_open(&s->json);
	json__array(&s->json, "fields");
}

void schema__field(struct schema *s, const char *path, const char *name, const char *unit,
		   const char *text)
{
	char whole[128];

	snprintf(whole, sizeof(whole), "%s%s%s", path, *path ? "." : "", name);
	json__line(&s->json, s->n++);
	json__text(&s->json, "path", whole);
	json__text(&s->json, "unit", unit);
	json__text(&s->json, "text", text);
	json__put(&s->json);
}

int schema__end(struct schema *s)
{
	json__print(&s->json, "]}\n");
	return s->json.err;
}

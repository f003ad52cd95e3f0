// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/http.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CLIENT_LIBRARY "libcurl.so.4"
#define CONNECT_S      5l
#define HEADS_MAX      (256u << 10)

struct http {
	__typeof__(curl_easy_init) *init;
	CURLcode (*set)(CURL *curl, CURLoption option, ...);
	CURLcode (*info)(CURL *curl, CURLINFO info, ...);
	__typeof__(curl_easy_perform) *perform;
	__typeof__(curl_easy_strerror) *strerror;
	__typeof__(curl_easy_cleanup) *cleanup;
	__typeof__(curl_slist_append) *append;
	__typeof__(curl_slist_free_all) *free_all;
	CURL *curl;
	struct curl_slist *headers;
	char error[CURL_ERROR_SIZE];
};

/* One exchange. */
struct exchange {
	struct http *h;
	const struct http_post *post;
	struct http_result *result;
	size_t len;   /* of result->text */
	size_t heads; /* bytes of lines before the answer */
	size_t bare;  /* bytes since the last of the answer itself */
	bool framed;  /* the answer says where it ends */
	bool ended;   /* by us: no more of it is needed */
	int err;      /* what `take` returned */
};

static void why(char text[HTTP_WHY_MAX], const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void why(char text[HTTP_WHY_MAX], const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, HTTP_WHY_MAX, fmt, args);
	va_end(args);
}

static int load(struct http *h)
{
	const struct {
		const char *name;
		void **function;
	} wanted[] = {
		{"curl_easy_init", (void **)&h->init},
		{"curl_easy_setopt", (void **)&h->set},
		{"curl_easy_getinfo", (void **)&h->info},
		{"curl_easy_perform", (void **)&h->perform},
		{"curl_easy_strerror", (void **)&h->strerror},
		{"curl_easy_cleanup", (void **)&h->cleanup},
		{"curl_slist_append", (void **)&h->append},
		{"curl_slist_free_all", (void **)&h->free_all},
	};
	void *library = dlopen(CLIENT_LIBRARY, RTLD_NOW);

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		*wanted[i].function = library ? dlsym(library, wanted[i].name) : NULL;
		if (!*wanted[i].function)
			return -ELIBACC;
	}
	return 0;
}

/* ---- The parts of an answer ------------------------------------------------------------------ */

static size_t take_body(char *bytes, size_t size, size_t n, void *ctx)
{
	struct exchange *e = ctx;
	struct http_result *r = e->result;
	size_t room = sizeof(r->text) - 1 - e->len, kept = n < room ? n : room;

	(void)size; /* always 1 */
	e->bare = 0;
	if (!r->status)
		e->h->info(e->h->curl, CURLINFO_RESPONSE_CODE, &r->status);
	/* Beside rows that were asked for, an answer is a text: a server may send it without end.
	 */
	if (r->status != 200 || !e->post->take) {
		memcpy(r->text + e->len, bytes, kept);
		e->len += kept;
		r->text[e->len] = '\0';
		e->ended = kept == room;
	} else {
		e->err = e->post->take(e->post->ctx, bytes, n);
	}
	/* Another number than `n` ends the exchange. */
	return e->err || e->ended ? !n : n;
}

static size_t take_header(char *line, size_t size, size_t n, void *ctx)
{
	struct exchange *e = ctx;

	(void)size;
	if ((n > 15 && !strncasecmp(line, "content-length:", 15)) ||
	    (n > 18 && !strncasecmp(line, "transfer-encoding:", 18)) ||
	    (n > 6 && !strncasecmp(line, "HTTP/2", 6)))
		e->framed = true;
	e->heads += n;
	if (e->heads <= HEADS_MAX)
		return n;
	why(e->result->why, "its answer has headers without end");
	e->err = -EPROTO;
	return !n;
}

/* Bytes that frame the answer, such as extensions of chunks, are passed to no other function. */
static int count_received(CURL *curl, curl_infotype type, char *bytes, size_t n, void *ctx)
{
	struct exchange *e = ctx;

	(void)curl;
	(void)bytes;
	if (type == CURLINFO_DATA_IN)
		e->bare += n;
	return 0;
}

static int look_at_progress(void *ctx, curl_off_t total, curl_off_t now, curl_off_t up_total,
			    curl_off_t up)
{
	struct exchange *e = ctx;

	(void)total, (void)now, (void)up_total, (void)up;
	if (e->bare <= HEADS_MAX || e->err)
		return 0;
	why(e->result->why, "its answer has chunks whose first lines are without end");
	e->err = -EPROTO;
	return 1;
}

/* ---- A client -------------------------------------------------------------------------------- */

static int add_header(struct http *h, const char *line)
{
	struct curl_slist *longer = h->append(h->headers, line);

	if (longer)
		h->headers = longer;
	return longer ? 0 : -ENOMEM;
}

static int add_secret(struct http *h, const char *name, const char *value)
{
	_free_ char *line = NULL;

	if (!value)
		return 0;
	if (strpbrk(value, "\r\n"))
		return -EINVAL;
	if (asprintf(&line, "%s: %s", name, value) < 0) {
		line = NULL;
		return -ENOMEM;
	}
	return add_header(h, line);
}

/* As the program curl: the library does not look at these variables by itself. */
static const char *authorities(const struct http_login *login)
{
	static const char *const variables[] = {"CURL_CA_BUNDLE", "SSL_CERT_FILE"};

	if (login->ca_file)
		return login->ca_file;
	for (size_t i = 0; i < 2; i++) {
		const char *path = getenv(variables[i]);

		if (path && *path)
			return path;
	}
	return NULL;
}

static int set_up(struct http *h, const struct http_login *login)
{
	const char *ca = authorities(login);
	int err = add_secret(h, "X-ClickHouse-User", login->user)
			  ?: add_secret(h, "X-ClickHouse-Key", login->password)
			  ?: add_header(h, "Content-Type: text/plain; charset=UTF-8");

	/* No round trip before a large body. */
	err = err ?: add_header(h, "Expect:");
	if (err)
		return err;
	h->curl = h->init();
	if (!h->curl)
		return -ENOMEM;
	h->set(h->curl, CURLOPT_ERRORBUFFER, h->error);
	h->set(h->curl, CURLOPT_HTTPHEADER, h->headers);
	h->set(h->curl, CURLOPT_POST, 1l);
	h->set(h->curl, CURLOPT_NOSIGNAL, 1l);
	h->set(h->curl, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
	h->set(h->curl, CURLOPT_WRITEFUNCTION, take_body);
	h->set(h->curl, CURLOPT_HEADERFUNCTION, take_header);
	h->set(h->curl, CURLOPT_VERBOSE, 1l);
	h->set(h->curl, CURLOPT_DEBUGFUNCTION, count_received);
	h->set(h->curl, CURLOPT_NOPROGRESS, 0l);
	h->set(h->curl, CURLOPT_XFERINFOFUNCTION, look_at_progress);
	if (ca)
		h->set(h->curl, CURLOPT_CAINFO, ca);
	return 0;
}

int http__open(const struct http_login *login, char text[HTTP_WHY_MAX], struct http **out)
{
	_http_ struct http *h = calloc(1, sizeof(*h));
	int err = h ? load(h) : -ENOMEM;

	if (!err)
		err = set_up(h, login);
	if (err == -ELIBACC)
		why(text,
		    "cannot load " CLIENT_LIBRARY ": install it; Debian's package is libcurl4");
	else if (err == -EINVAL)
		why(text, "the user or the password has a line break, which HTTP cannot send");
	else if (err)
		why(text, "%s", strerror(-err));
	if (!err)
		*out = take_ptr(h);
	return err;
}

/* ---- An exchange ----------------------------------------------------------------------------- */

/* Where the answer's status or end is wrong. */
static int judge_status(const struct exchange *e)
{
	struct http_result *r = e->result;

	if (r->status >= 300 && r->status < 400) {
		why(r->why, "it redirects to another address (status %ld); give that address",
		    r->status);
		return -EPROTO;
	}
	if (r->status == 200 && !e->framed) {
		why(r->why, "its answer does not say where it ends, so that half an answer would "
			    "look whole; ask the server itself, not by this proxy");
		return -EPROTO;
	}
	if (r->status == 200 && e->ended) {
		why(r->why, "its answer is not ClickHouse's");
		return -EPROTO;
	}
	if (r->status == 200)
		return 0;
	why(r->why, "it answers with status %ld", r->status);
	return r->status >= 500 && !e->len ? -EHOSTUNREACH : -EREMOTEIO;
}

static int judge_failure(const struct exchange *e, CURLcode code)
{
	struct http_result *r = e->result;
	const char *said = *e->h->error ? e->h->error : e->h->strerror(code);

	switch (code) {
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
		why(r->why,
		    "its certificate is not trusted (%s); name the file of its authority in "
		    "CURL_CA_BUNDLE, or by \"ca = FILE\" in the file of the credentials",
		    said);
		return -EPROTO;
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_URL_MALFORMAT:
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_SSL_CONNECT_ERROR:
		why(r->why, "%s", said);
		return -EPROTO;
	case CURLE_OUT_OF_MEMORY:
		why(r->why, "%s", said);
		return -ENOMEM;
	case CURLE_OPERATION_TIMEDOUT:
		why(r->why, "it does not answer in time (%s)", said);
		return -EHOSTUNREACH;
	case CURLE_PARTIAL_FILE:
	case CURLE_RECV_ERROR:
	case CURLE_GOT_NOTHING:
		why(r->why, "its answer broke off (%s)", said);
		return -EHOSTUNREACH;
	default:
		why(r->why, "%s", said);
		return -EHOSTUNREACH;
	}
}

int http__post(struct http *h, const struct http_post *post, struct http_result *result)
{
	struct exchange e = {.h = h, .post = post, .result = result};
	CURLcode code;

	*result = (struct http_result){};
	h->error[0] = '\0';
	h->set(h->curl, CURLOPT_URL, post->url);
	h->set(h->curl, CURLOPT_POSTFIELDS, post->len ? post->body : "");
	h->set(h->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post->len);
	h->set(h->curl, CURLOPT_TIMEOUT, (long)post->seconds);
	h->set(h->curl, CURLOPT_WRITEDATA, &e);
	h->set(h->curl, CURLOPT_HEADERDATA, &e);
	h->set(h->curl, CURLOPT_DEBUGDATA, &e);
	h->set(h->curl, CURLOPT_XFERINFODATA, &e);
	code = h->perform(h->curl);
	h->info(h->curl, CURLINFO_RESPONSE_CODE, &result->status);
	if (e.err)
		return e.err;
	return code == CURLE_OK || e.ended ? judge_status(&e) : judge_failure(&e, code);
}

void http__close(struct http *h)
{
	if (!h)
		return;
	if (h->headers)
		h->free_all(h->headers);
	if (h->curl)
		h->cleanup(h->curl);
	free(h);
}

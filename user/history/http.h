/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * HTTP and HTTPS by libcurl, which is loaded when it is used. The certificate of a server is always
 * verified; redirects are refused, since they would send a password elsewhere; proxies are those of
 * the environment (http_proxy, https_proxy, no_proxy).
 *
 * Nothing here prints: what failed is left as a text, for the line of the caller.
 */
#ifndef QPROF_HISTORY_HTTP_H
#define QPROF_HISTORY_HTTP_H

#include <stddef.h>

#include "base/cleanup.h"

#define HTTP_SECONDS_MAX 3600

/* All may be NULL. */
struct http_login {
	char *user;
	char *password;
	char *ca_file; /* the authorities to trust; NULL: those of CURL_CA_BUNDLE, SSL_CERT_FILE */
	char *timeout; /* seconds that an exchange may take, from 1 to 3600 */
};

struct http_post {
	const char *url;
	const void *body;
	size_t len;
	unsigned int seconds; /* the whole exchange must end in this time */
	/* Called with the parts of an answer of status 200. Not 0 ends the exchange. */
	int (*take)(void *ctx, const char *bytes, size_t n);
	void *ctx;
};

#define HTTP_WHY_MAX  512
#define HTTP_TEXT_MAX 2048

struct http_result {
	long status;		  /* 0: there was no answer */
	char why[HTTP_WHY_MAX];	  /* the cause, and the next step where there is one */
	char text[HTTP_TEXT_MAX]; /* the beginning of an answer of another status than 200 */
};

struct http;

/*
 * `login` must live as long as the client. -ELIBACC without libcurl, -EINVAL if the login cannot be
 * sent; `why` says so.
 */
int http__open(const struct http_login *login, char why[HTTP_WHY_MAX], struct http **out);

/*
 * 0: the answer of status 200 came whole. -EHOSTUNREACH: no connection, no whole answer in time, or
 * an answer of 500 and above without a cause of its own: a server that is away. -EPROTO: it is not
 * the server that was meant (its certificate, a redirect, no HTTP). -EREMOTEIO: another status; its
 * text is in `text`. What `take` returned, if it was not 0.
 */
int http__post(struct http *h, const struct http_post *post, struct http_result *result);

void http__close(struct http *h);
DEFINE_CLEANUP(struct http, http__close)
#define _http_ __cleanup(http__close_p)

#endif /* QPROF_HISTORY_HTTP_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* To be loaded before a program: ends it, with all its threads, once the file EXITS exists. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *end(void *unused)
{
	(void)unused;
	while (access(getenv("EXITS"), F_OK))
		usleep(10000);
	_exit(7);
}

__attribute__((constructor)) static void begin(void)
{
	pthread_t thread;

	if (getenv("EXITS"))
		pthread_create(&thread, NULL, end, NULL);
}

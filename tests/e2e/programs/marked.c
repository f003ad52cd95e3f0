// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * marked FILE PROGRAM ARGUMENT...: opens FILE for writing, has the mark of a recording, and
 * executes PROGRAM. Prints a line before that.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int mark = open(argc > 2 ? argv[2] : "", O_RDONLY);

	if (mark < 0 || open(argv[1], O_WRONLY) < 0 || flock(mark, LOCK_SH)) {
		perror("marked");
		return 2;
	}
	printf("marked\n");
	fflush(stdout);
	execv(argv[2], argv + 2);
	return 2;
}

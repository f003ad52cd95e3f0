/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The place of a file of SQLite that is written to. SQLite finds a file, its log and its journal by
 * name, each time anew; here the names lead through a descriptor of the directory, so that another
 * user who replaces a part of the path meanwhile changes nothing.
 */
#ifndef QPROF_HISTORY_SQLITE_PLACE_H
#define QPROF_HISTORY_SQLITE_PLACE_H

/*
 * For a path without links, as of own_path__resolve(): set *directory to a descriptor, and *path to
 * the name by which the file is to be opened as long as that is open, to be freed. -ELOOP: there is
 * a link in it by now; other errors are open(2)'s.
 */
int sqlite_place__open(const char *real, int *directory, char **path);

/* The name of the VFS that takes such paths as they are. NULL: SQLite has no memory. */
const char *sqlite_place__vfs(void);

#endif /* QPROF_HISTORY_SQLITE_PLACE_H */

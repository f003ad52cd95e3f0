/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Names of native functions, as symbols demangle to, for tables and trees; and the part of a
 * compiler that a function is in.
 */
#ifndef QPROF_ANALYZE_CODE_NAME_H
#define QPROF_ANALYZE_CODE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Without arguments of generic types and functions, and without parameters of C++. Of a Rust
 * method, "<T as Trait>::f" and "<T>::f" stay so. Freed by the caller; NULL: no memory.
 */
char *code_name_plain(const char *name);

/*
 * The last segments of a plain name: "SelectionContext::evaluate_candidate" of
 * "<rustc_trait_selection::traits::select::SelectionContext>::evaluate_candidate". A closure keeps
 * the function that it is in. Freed by the caller; NULL: no memory.
 */
char *code_name_short(const char *plain);

/* Texts that code_part() gives beside names of crates and files. */
#define CODE_LLVM      "LLVM"
#define CODE_ALLOCATOR "allocator"
#define CODE_LIBC      "libc"
#define CODE_UNKNOWN   "(unknown)"

/*
 * The part of the compiler that a function is in: the crate of a Rust function (its first path
 * segment; of a method, that of its type), LLVM, the allocator, the C library, or else the name of
 * its file without directory and version ("libz"). `name` is demangled, plain or not, and empty
 * without a symbol. `file` is the path of its file, or NULL. Freed by the caller; NULL: no memory.
 */
char *code_part(const char *name, const char *file);

/*
 * Whether code of this part works for its callers, whatever they are: allocator, C library, std and
 * its parts. Costs are better charged to the caller.
 */
bool code_part_is_general(const char *part);

#endif /* QPROF_ANALYZE_CODE_NAME_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_PLAN_SYMBOLS_SYMBOL_SOURCE_H
#define QPROF_PLAN_SYMBOLS_SYMBOL_SOURCE_H

/* Where the symbols that a plan is made from come from. */
enum symbol_source {
	SYMBOLS_OF_LIBRARY,   /* its .symtab */
	SYMBOLS_OF_DEBUGDATA, /* its .gnu_debugdata: a compressed ELF file with symbols only */
	SYMBOLS_OF_BUILD_ID,  /* a debug file, named by the build-id */
	SYMBOLS_OF_DEBUGLINK, /* a debug file, named by .gnu_debuglink */
	SYMBOLS_RECOVERED,    /* none: names follow from the library's code */
	SYMBOL_SOURCES,
};

#endif /* QPROF_PLAN_SYMBOLS_SYMBOL_SOURCE_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Names for people of what LLVM does for no function, by its own functions that do it. */
#ifndef QPROF_ANALYZE_LLVM_WORDS_H
#define QPROF_ANALYZE_LLVM_WORDS_H

#include "analyze/llvm.h"

#define LLVM_NO_WORDS UINT32_MAX

/* The number of the words for a native function, by its plain name; or LLVM_NO_WORDS. */
uint32_t llvm_words__find(const char *native);

extern const struct llvm_words {
	const char *text;
	enum llvm_work work;
	bool beat_passes; /* they say more than the name of the pass in which it ran */
} llvm_words[];

#endif /* QPROF_ANALYZE_LLVM_WORDS_H */

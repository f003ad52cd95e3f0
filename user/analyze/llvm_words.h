/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Names for people of what LLVM does for no function, by its own functions that do it. */
#ifndef QPROF_ANALYZE_LLVM_WORDS_H
#define QPROF_ANALYZE_LLVM_WORDS_H

#include "analyze/llvm.h"

#define LLVM_NO_WORDS UINT32_MAX

/* The number of the words for a native function, by its plain name; or LLVM_NO_WORDS. */
uint32_t llvm_words__find(const char *native);

/* Of a number that the former returned. */
const char *llvm_words__text(uint32_t number);
enum llvm_work llvm_words__work(uint32_t number);

/* Whether they say more than the name of the pass in which it ran. */
bool llvm_words__beat_passes(uint32_t number);

#endif /* QPROF_ANALYZE_LLVM_WORDS_H */

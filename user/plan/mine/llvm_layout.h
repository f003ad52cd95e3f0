/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where LLVM keeps the list of what runs on a thread, and the names of functions. All of it is read
 * off exported functions, as 22 has them:
 *
 *	SavePrettyStackState	lea  GOT(%rip), %rdi		the library's thread-local memory
 *				call __tls_get_addr
 *				mov  0x48(%rax), %rax		the head of the list
 *	PrettyStackTraceEntry()	mov  0x48(%r14), %rcx		an entry has the one around
 *				mov  %rcx, 0x8(%rbx)
 *	Value::getName		testb $0x10, 0x7(%rdi)		it has a name
 *				mov  0x8(%rdi), %rax		its type,
 *				mov  (%rax), %rax		the context,
 *				mov  (%rax), %rcx		what is private to that:
 *				mov  0xa0(%rcx), %rax		the table of names
 *				mov  0xb0(%rcx), %ecx		and its size
 *				... shr $4, shr $9, xor		where the value is in it
 *				mov  0x8(%r10), %rax		the entry of its name
 *				mov  (%rax), %rdx		the name's length,
 *				add  $0x10, %rax		and the name
 *	LLVMIsAFunction		cmpb $0xd, (%rdi)		the kind of a function
 *	print() of an entry	mov  0x20(%r14), %rdi		the pass: a virtual function of it
 *				mov  (%rdi), %rax		is called
 *				call *0x18(%rax)
 *				mov  0x18(%r14), %rsi		and what the pass runs on
 *	InlinerPass::run	mov  0x8(%rdx), %rax		a component's nodes,
 *				mov  (%rax), %rax		the first of them,
 *				mov  0x8(%rax), %rax		and its function
 *	PassManager<SCC>::run	mov  (%rsi), %rax		where the stack has the component
 *				mov  0x18(%rsp), %rdx		that a pass runs on
 *				call *0x10(%rax)
 */
#ifndef QPROF_PLAN_MINE_LLVM_LAYOUT_H
#define QPROF_PLAN_MINE_LLVM_LAYOUT_H

#include "plan/code/decode.h"
#include "plan/mine/llvm_passes.h"
#include "qprof/wire.h"
#include "qprof/wire_llvm.h"

/* Why nothing is known; also in a stored file. */
enum llvm_problem {
	LLVM_FOUND,
	LLVM_NO_LIBRARY, /* the list is another library's */
	LLVM_NO_HEAD,
	LLVM_NO_ENTRIES,
	LLVM_NO_PASS_MANAGER,
	LLVM_NO_NAMES,
	LLVM_NO_KIND,
	LLVM_HIDDEN, /* the list may be a part of this library, which does not show it */
	LLVM_PROBLEMS,
};

/* Text for a line; of LLVM_FOUND and unknown ones NULL. */
const char *llvm_problem_text(enum llvm_problem problem);

/* Set *out, if *problem is LLVM_FOUND. 0 or -ENOMEM. */
int llvm_layout__mine(struct elf_image *img, const struct llvm_symbols *s, struct wire_llvm *out,
		      enum llvm_problem *problem);

/* Whether all fields are within the limits of wire_llvm.h. */
bool llvm_layout_is_sound(const struct wire_llvm *layout);

#endif /* QPROF_PLAN_MINE_LLVM_LAYOUT_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Written in assembly, so each site is a known instruction. Each site is a function symbol, by
 * which plan_of_target.h finds it.
 */
	.text

	.macro function name
	.globl \name
	.type \name, @function
\name:
	.endm

	.macro body_begin name
	function \name
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	push %r12
	.cfi_def_cfa_offset 24
	push %r15
	.cfi_def_cfa_offset 32
	sub $0x40, %rsp
	.cfi_def_cfa_offset 96
	mov %esi, %r15d
	.endm

	.macro frame_end
	add $0x40, %rsp
	.cfi_def_cfa_offset 32
	pop %r15
	.cfi_def_cfa_offset 24
	pop %r12
	.cfi_def_cfa_offset 16
	pop %rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.endm

	/* The site is always executed and never taken: nothing here sets the carry. */
	.macro body_end name
	test %r15d, %r15d
	function site_end_\name
	jb 1f
1:	frame_end
	.endm

	/* A frame that is aligned, or on another stack, is found by rbp. */
	.macro by_rbp_begin
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	.endm

	.macro by_rbp_end
	mov %rbp, %rsp
	pop %rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.endm

	.macro provider name
	function provider_\name
	by_rbp_begin
	and $-16, %rsp
	call inside
	by_rbp_end
	.endm

	provider alpha
	provider delta
	provider epsilon
	provider eta
	provider gamma
	provider iota
	provider theta
	provider zeta
	provider unknown

	function provider_beta
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	function site_start_beta
	push %rbx
	.cfi_def_cfa_offset 24
	sub $8, %rsp
	.cfi_def_cfa_offset 32
	call inside
	add $8, %rsp
	.cfi_def_cfa_offset 24
	pop %rbx
	.cfi_def_cfa_offset 16
	pop %rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc

	/* The registers that may hold a query's key, and a slot of a body (SHAPE_KEY_SLOT). */
	.macro load_keys
	mov (%rdi), %rsi
	mov 0x8(%rdi), %rdx
	mov 0x10(%rdi), %rcx
	mov 0x18(%rdi), %r8
	mov 0x20(%rdi), %r9
	.endm

	.macro load_keys_and_slot
	load_keys
	mov 0x28(%rdi), %rax
	mov %rax, 0x18(%rsp)
	.endm

	body_begin body_alpha
	mov %rdx, %rax
	load_keys
	call *%rax
	body_end alpha

	body_begin body_beta
	mov %esi, 0x14(%rsp)
	xor %r15d, %r15d
	mov %rdx, %rax
	load_keys
	call *%rax
	body_end beta

	body_begin body_gamma
	call *%rdx
	body_end gamma

	function wrapper_gamma
	push %rbp
	test %rdx, %rdx
	je 1f
	call body_gamma
1:	pop %rbp
	ret

	/* The probe at the push reads the caller's address. */
	function wrapper_alpha
	push %rbp
	test %rdx, %rdx
	je 1f
	call body_alpha
1:	pop %rbp
	ret

	/* The same, with the body on the stack that ends at r10. */
	function wrapper_alpha_grown
	by_rbp_begin
	mov %r10, %rsp
	call body_alpha
	by_rbp_end

	/* Places that call the wrapper in rcx; r8 becomes r10. */
	.macro ask place
	function ask_\place
	sub $8, %rsp
	mov %rcx, %rax
	mov %r8, %r10
	mov 0x10(%rdi), %rcx
	mov 0x18(%rdi), %r8
	mov 0x20(%rdi), %r9
	call *%rax
	function asked_\place
	add $8, %rsp
	ret
	.endm

	ask here
	ask there

	body_begin body_epsilon
	mov %rdx, %r12
	load_keys_and_slot
	testb $2, mask(%rip)
	function site_start_epsilon
	jne 1f
1:	call *%r12
	body_end epsilon

	body_begin body_eta
	mov %rdx, %rax
	load_keys
	call shim_eta
	body_end eta

	function shim_eta
	sub $0x88, %rsp
	call *%rax
	add $0x88, %rsp
	ret

	body_begin body_incr
	mov %rdx, %r12
	load_keys_and_slot
	testb $2, mask(%rip)
	function site_identify_incr
	jne 1f
1:	call *0x18(%r12)
	body_end incr

	body_begin body_incr_slot
	mov %rdx, 0x28(%rsp)
	load_keys_and_slot
	testb $2, mask(%rip)
	function site_identify_incr_slot
	jne 1f
1:	mov 0x28(%rsp), %rax
	call *0x7ff8(%rax)
	body_end incr_slot

	/* The result is hashed before the end, in the same frame. */
	body_begin body_theta
	mov %rdi, %r12
	mov %rdx, 0x30(%rsp)
	load_keys_and_slot
	testb $2, mask(%rip)
	function site_start_theta
	jne 1f
1:	call *0x30(%rsp)
	testb $2, mask(%rip)
	function site_guard_hash
	jne 1f
1:	mov %r12, %rdi
	call hashing
	test %r15d, %r15d
	function site_guard_hash_end
	jb 1f
1:	mov %r12, %rdi
	call guard_left
	body_end theta

	body_begin body_iota
	mov %rdi, 0x8(%rsp)
	mov %rdx, %r12
	testb $2, mask(%rip)
	function site_guard_load
	jne 1f
1:	mov 0x8(%rsp), %rdi
	call inside_guard
	test %r15d, %r15d
	function site_guard_load_end
	jb 1f
1:	frame_end

	/* One guard inside another, in the same frame. */
	body_begin guards
	mov %rdi, %r12
	testb $2, mask(%rip)
	function site_guard_outer
	jne 1f
1:	mov %r12, %rdi
	call outer_guard
	testb $2, mask(%rip)
	function site_guard_inner
	jne 1f
1:	mov %r12, %rdi
	call inside_guard
	test %r15d, %r15d
	function site_guard_inner_end
	jb 1f
1:	mov %r12, %rdi
	call guard_left
	test %r15d, %r15d
	function site_guard_outer_end
	jb 1f
1:	frame_end

	body_begin dynamic_guard
	mov %rdx, 0x10(%rsp)
	mov %rcx, 0x18(%rsp)
	testb $2, mask(%rip)
	function site_guard_dynamic
	jne 1f
1:	call inside_guard
	test %r15d, %r15d
	function site_guard_dynamic_end
	jb 1f
1:	frame_end

	function timer_begin
	push %rbp
	pop %rbp
	ret

	function timer_drop
	push %rbp
	pop %rbp
	ret

	/* The second timer begins inside the first, and has moved when it ends. */
	body_begin timed
	mov %rdi, %r12
	lea 0x8(%rsp), %rdi
	call timer_begin
	mov %rdx, 0x30(%rsp)
	mov %rcx, 0x38(%rsp)
	mov %r12, %rdi
	call outer_guard
	mov 0x30(%rsp), %rdx
	mov 0x38(%rsp), %rcx
	lea 0x10(%rsp), %rdi
	call timer_begin
	mov %r12, %rdi
	call inside_guard
	lea 0x20(%rsp), %rdi
	call timer_drop
	mov %r12, %rdi
	call guard_left
	lea 0x8(%rsp), %rdi
	call timer_drop
	frame_end

	/* Three hits: ids[0] in a register, ids[1] on the stack, the id at rsi + 8 in memory. */
	function hits
	sub $0x28, %rsp
	mov (%rdi), %r9d
	mov 0x4(%rdi), %eax
	mov %eax, 0x14(%rsp)
	testb $2, mask(%rip)
	function site_hit_register
	jne 1f
1:	function site_hit_stack
	jne 1f
1:	function site_hit_memory
	jne 1f
1:	add $0x28, %rsp
	ret

	function panic_cleanup
	push %rbp
	pop %rbp
	ret

	function names_drop
	push %rbp
	pop %rbp
	ret

	function names_finish
	push %rbp
	pop %rbp
	ret

	function names_feed
	push %rbp
	pop %rbp
	function names_feed_query
	nop
	ret

	/* The layout's word with the offset in the thread-local memory; found as a function is. */
	function names_globals_offset
	.quad names_globals@tpoff
	function jobs_current_offset
	.quad jobs_current@tpoff
	function llvm_head_offset
	.quad llvm_head@tpoff
	function llvm_module
	.quad 1
	function llvm_no_module
	.quad 1000000
	function llvm_vtables
	.quad 0

	/* llvm_run_pass(run, inner, component): run(inner), with the component on the stack. */
	function llvm_run_pass
	.cfi_startproc
	sub $0x28, %rsp
	.cfi_def_cfa_offset 0x30
	mov %rdx, 0x18(%rsp)
	mov %rdi, %rax
	mov %rsi, %rdi
	call *%rax
	function asked_for_pass
	add $0x28, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc

	/* names_drop while the thread-local base (rsi) is 0: arch_prctl(ARCH_SET_FS, 0). */
	function names_drop_without_base
	push %rbx
	push %r12
	sub $8, %rsp
	mov %rdi, %rbx
	mov %rsi, %r12
	mov $158, %eax
	mov $0x1002, %edi
	xor %esi, %esi
	syscall
	mov %rbx, %rdi
	call names_drop
	mov $158, %eax
	mov $0x1002, %edi
	mov %r12, %rsi
	syscall
	add $8, %rsp
	pop %r12
	pop %rbx
	ret

	function call_on_stack
	by_rbp_begin
	mov %rdx, %rsp
	mov %rdi, %rax
	mov %rsi, %rdi
	call *%rax
	by_rbp_end

	.bss
mask:	.zero 8

	.section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_PLAN_CODE_REGISTERS_H
#define QPROF_PLAN_CODE_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

/* The registers of arguments, in their order: enum wire_reg. */
#define CODE_ARGUMENTS 6
extern const uint8_t code_arguments[CODE_ARGUMENTS];

/* The enum wire_reg, or CODE_REG_SP, that capstone's register is or is a part of; else
 * CODE_REG_OTHER. */
uint8_t code_register(unsigned int capstone_register);

/* ah, bh, ch, dh */
bool code_register_is_high_byte(unsigned int capstone_register);

#endif /* QPROF_PLAN_CODE_REGISTERS_H */

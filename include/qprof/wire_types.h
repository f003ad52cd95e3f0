/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) OR Apache-2.0 OR MIT */
/* Fixed-width types for both halves, whose headers define them in different ways. */
#ifndef QPROF_WIRE_TYPES_H
#define QPROF_WIRE_TYPES_H

#ifdef __bpf__
typedef unsigned char wire_u8;
typedef short wire_s16;
typedef unsigned short wire_u16;
typedef unsigned int wire_u32;
typedef int wire_s32;
typedef unsigned long long wire_u64;
#else
#include <stdint.h>
typedef uint8_t wire_u8;
typedef int16_t wire_s16;
typedef uint16_t wire_u16;
typedef uint32_t wire_u32;
typedef int32_t wire_s32;
typedef uint64_t wire_u64;
#endif

#endif /* QPROF_WIRE_TYPES_H */

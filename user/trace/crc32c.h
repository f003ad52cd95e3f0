/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_TRACE_CRC32C_H
#define QPROF_TRACE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * CRC-32C (Castagnoli), as iSCSI and ext4 use it. Start with crc = 0; pass the result to go on
 * with further bytes.
 */
uint32_t crc32c(uint32_t crc, const void *data, size_t size);

/* The same on processors without an instruction for it. */
uint32_t crc32c_by_table(uint32_t crc, const void *data, size_t size);

#endif /* QPROF_TRACE_CRC32C_H */

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/crc32c.h"

#include <pthread.h>

#include "trace/bytes.h"

#define POLYNOMIAL_REFLECTED 0x82f63b78u

/* tables[k][b]: what byte b adds to the sum when k more bytes follow it ("slicing by 8"). */
static uint32_t tables[8][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void make_tables(void)
{
	for (uint32_t b = 0; b < 256; b++) {
		uint32_t crc = b;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL_REFLECTED : 0);
		tables[0][b] = crc;
	}
	for (int k = 1; k < 8; k++)
		for (int b = 0; b < 256; b++)
			tables[k][b] = tables[k - 1][b] >> 8 ^ tables[0][tables[k - 1][b] & 0xff];
}

#ifdef __x86_64__
/* The processor's own instruction, of all x86-64 since 2008. */
__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *p,
								 size_t size)
{
	uint64_t sum = ~crc;

	for (; size >= 8; size -= 8, p += 8)
		sum = __builtin_ia32_crc32di(sum, bytes_load_u64(p));
	crc = (uint32_t)sum;
	while (size--)
		crc = __builtin_ia32_crc32qi(crc, *p++);
	return ~crc;
}
#endif

uint32_t crc32c(uint32_t crc, const void *data, size_t size)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("sse4.2"))
		return by_instruction(crc, data, size);
#endif
	return crc32c_by_table(crc, data, size);
}

uint32_t crc32c_by_table(uint32_t crc, const void *data, size_t size)
{
	const uint8_t *p = data;

	pthread_once(&tables_once, make_tables);
	crc = ~crc;
	for (; size >= 8; size -= 8, p += 8) {
		uint32_t low = bytes_load_u32(p) ^ crc;
		uint32_t high = bytes_load_u32(p + 4);

		crc = tables[7][low & 0xff] ^ tables[6][low >> 8 & 0xff] ^
		      tables[5][low >> 16 & 0xff] ^ tables[4][low >> 24] ^ tables[3][high & 0xff] ^
		      tables[2][high >> 8 & 0xff] ^ tables[1][high >> 16 & 0xff] ^
		      tables[0][high >> 24];
	}
	while (size--)
		crc = crc >> 8 ^ tables[0][(crc ^ *p++) & 0xff];
	return ~crc;
}

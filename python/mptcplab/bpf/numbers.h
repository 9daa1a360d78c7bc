/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * Positive floating-point numbers in integers, for BPF without floating point and 128-bit integers.
 *
 * Owns one representation, `number`: zero, or 32 bits with the highest set, times a power of two. No operation of a
 * controller overflows or underflows, and each is exact to 2^-31. Knows nothing of windows. The same code is compiled for
 * the kernel and, by the tests, for user space.
 */
#ifndef MPTCPLAB_NUMBERS_H
#define MPTCPLAB_NUMBERS_H

#ifdef __bpf__
/* The verifier checks global functions once, not for every call. */
#define NUMBER_FUNCTION __attribute__((noinline))
#else
#define NUMBER_FUNCTION static
#endif
#define INLINE static inline __attribute__((always_inline))

typedef unsigned long long u64;
typedef long long s64;
typedef unsigned int u32;

/*
 * The upper half is the exponent plus NUMBER_BIAS, the lower half the 32 bits; 0 is zero. So numbers compare like
 * integers. Exponents stay within a few hundred, far from the limits of 32 bits.
 */
typedef u64 number;

#define NUMBER_BIAS (1U << 20)

/* value * 2^(exponent - NUMBER_BIAS), truncated to 32 bits. */
NUMBER_FUNCTION number number_make(u64 value, u32 exponent)
{
	u32 shift = 0;

	if (value == 0)
		return 0;
	if ((value >> 32) == 0) {
		value <<= 32;
		shift += 32;
	}
	if ((value >> 48) == 0) {
		value <<= 16;
		shift += 16;
	}
	if ((value >> 56) == 0) {
		value <<= 8;
		shift += 8;
	}
	if ((value >> 60) == 0) {
		value <<= 4;
		shift += 4;
	}
	if ((value >> 62) == 0) {
		value <<= 2;
		shift += 2;
	}
	if ((value >> 63) == 0) {
		value <<= 1;
		shift += 1;
	}
	return ((u64)(exponent + 32 - shift) << 32) | (value >> 32);
}

INLINE number number_of(u64 value)
{
	return number_make(value, NUMBER_BIAS);
}

INLINE u32 number_exponent(number a)
{
	return (u32)(a >> 32);
}

INLINE u64 number_bits(number a)
{
	return (u32)a;
}

NUMBER_FUNCTION number number_times(number a, number b)
{
	if (a == 0 || b == 0)
		return 0;
	return number_make(number_bits(a) * number_bits(b), number_exponent(a) + number_exponent(b) - NUMBER_BIAS);
}

/* Division by zero gives zero. No caller divides by zero, but the kernel must not crash if one did. */
NUMBER_FUNCTION number number_over(number a, number b)
{
	if (a == 0 || b == 0)
		return 0;
	return number_make((number_bits(a) << 32) / number_bits(b),
			   number_exponent(a) - number_exponent(b) + NUMBER_BIAS - 32);
}

NUMBER_FUNCTION number number_plus(number a, number b)
{
	number large = a > b ? a : b, small = a > b ? b : a;
	u32 apart;

	if (small == 0)
		return large;
	apart = number_exponent(large) - number_exponent(small);
	if (apart > 32)
		return large;
	return number_make((number_bits(large) << 31) + ((number_bits(small) << 31) >> apart),
			   number_exponent(large) - 31);
}

/* In units of 2^-fraction, at most 2^62. */
NUMBER_FUNCTION u64 number_fixed(number a, u32 fraction)
{
	/* The left shift of the bits, plus NUMBER_BIAS. */
	u32 shift = number_exponent(a) + fraction;

	if (a == 0 || shift <= NUMBER_BIAS - 32)
		return 0;
	if (shift > NUMBER_BIAS + 30)
		return 1ULL << 62;
	if (shift >= NUMBER_BIAS)
		return number_bits(a) << ((shift - NUMBER_BIAS) & 31);
	return number_bits(a) >> ((NUMBER_BIAS - shift) & 31);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * Balanced linked adaptation (Peng, Walid, Hwang, Low 2016; draft-walid-mptcp-congestion-control).
 *
 * Balances the friendliness of LIA and the responsiveness of OLIA. Pure computation without sockets.
 */
#ifndef MPTCPLAB_BALIA_H
#define MPTCPLAB_BALIA_H

#include "paths.h"

/* A loss removes half of the window times alpha, with alpha at most 3/2 (section 3.3 of the draft). */
#define BALIA_FRACTION 16
#define BALIA_MOST (3ULL << (BALIA_FRACTION - 1))

struct balia_rates {
	number sum;
	number best;
	/* 0 before the first RTT sample of `own`. */
	number own;
};

INLINE struct balia_rates balia_rates(const struct paths *paths)
{
	struct balia_rates rates = {0, 0, 0};
	u32 at;

	for (at = 0; at < PATHS_MAX && at < paths->count; at++) {
		number rate;

		if (paths->all[at].srtt == 0)
			continue;
		rate = path_rate(&paths->all[at]);
		rates.sum = number_plus(rates.sum, rate);
		rates.best = rate > rates.best ? rate : rates.best;
	}
	if (paths->own.srtt)
		rates.own = path_rate(&paths->own);
	return rates;
}

/* Window growth of `own` per acknowledged segment. */
INLINE s64 balia_growth(const struct paths *paths)
{
	struct balia_rates rates = balia_rates(paths);
	number alpha, each;

	if (rates.own == 0 || rates.sum == 0)
		return path_growth(&paths->own, path_alone(&paths->own));
	/* x / rtt / (sum of x)^2 * (1 + alpha) / 2 * (4 + alpha) / 5, with alpha = max x / x. */
	alpha = number_over(rates.best, rates.own);
	each = number_over(number_over(number_over(rates.own, number_of(paths->own.srtt)), rates.sum), rates.sum);
	each = number_times(each, number_plus(number_of(1), alpha));
	each = number_times(each, number_plus(number_of(4), alpha));
	return path_growth(&paths->own, number_over(each, number_of(10)));
}

/* Reduces the window to 1 - min(alpha, 3/2) / 2. */
INLINE u32 balia_after_loss(const struct paths *paths)
{
	struct balia_rates rates = balia_rates(paths);
	u64 alpha = 1ULL << BALIA_FRACTION, kept;
	u64 cwnd = paths->own.cwnd < WINDOW_MOST ? paths->own.cwnd : WINDOW_MOST;

	if (rates.own)
		alpha = number_fixed(number_over(rates.best, rates.own), BALIA_FRACTION);
	if (alpha < 1ULL << BALIA_FRACTION)
		alpha = 1ULL << BALIA_FRACTION;
	if (alpha > BALIA_MOST)
		alpha = BALIA_MOST;
	kept = (cwnd << BALIA_FRACTION) - cwnd * alpha / 2;
	kept >>= BALIA_FRACTION;
	return kept > LEAST_WINDOW ? (u32)kept : LEAST_WINDOW;
}

#endif

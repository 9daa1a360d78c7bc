/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * Linked increases (RFC 6356): all subflows together take no more than one TCP flow on the best path.
 *
 * Slow start and the decrease are Reno's; only the increase is coupled. Pure computation without sockets.
 */
#ifndef MPTCPLAB_LIA_H
#define MPTCPLAB_LIA_H

#include "paths.h"

/* Window growth of `own` per acknowledged segment. */
INLINE s64 lia_growth(const struct paths *paths)
{
	number best = 0, sum = 0, alone = path_alone(&paths->own), coupled;
	u32 at;

	for (at = 0; at < PATHS_MAX && at < paths->count; at++) {
		const struct path *path = &paths->all[at];
		number rate, quality;

		if (path->srtt == 0)
			continue;
		rate = path_rate(path);
		quality = number_over(rate, number_of(path->srtt));
		best = quality > best ? quality : best;
		sum = number_plus(sum, rate);
	}
	if (sum == 0)
		return path_growth(&paths->own, alone);
	/*
	 * RFC 6356 section 3: min(alpha * acked * mss / total, acked * mss / cwnd), with section 4's
	 * alpha / total = max(cwnd / rtt^2) / (sum of cwnd / rtt)^2.
	 */
	coupled = number_over(number_over(best, sum), sum);
	return path_growth(&paths->own, coupled < alone ? coupled : alone);
}

INLINE u32 lia_after_loss(const struct paths *paths)
{
	return window_half(paths->own.cwnd);
}

#endif

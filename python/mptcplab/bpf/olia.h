/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * Opportunistic linked increases (Khalili, Gast, Popovic, Upadhyay, Le Boudec, CoNEXT 2012).
 *
 * Pareto-optimal resource pooling: shifts window from the paths with the largest windows to better paths. Pure
 * computation without sockets; the bytes between losses are counted elsewhere.
 */
#ifndef MPTCPLAB_OLIA_H
#define MPTCPLAB_OLIA_H

#include "paths.h"

/*
 * The square of the rate of TCP on a path, up to a factor: bytes between losses over rtt^2
 * (section IV).
 */
INLINE number olia_quality(const struct path *path)
{
	return number_over(number_over(number_of(path->interval), number_of(path->srtt)), number_of(path->srtt));
}

/* alpha of `own` over its window, in the unit of path_growth. */
INLINE s64 olia_shift(const struct paths *paths)
{
	const struct path *own = &paths->own;
	u32 largest = 0, all = 0, wide = 0, collected = 0, share, at;
	number best = 0;
	s64 shift;

	for (at = 0; at < PATHS_MAX && at < paths->count; at++) {
		const struct path *path = &paths->all[at];
		number quality;

		if (path->srtt == 0)
			continue;
		all++;
		largest = path->cwnd > largest ? path->cwnd : largest;
		quality = olia_quality(path);
		best = quality > best ? quality : best;
	}
	for (at = 0; at < PATHS_MAX && at < paths->count; at++) {
		const struct path *path = &paths->all[at];

		if (path->srtt == 0)
			continue;
		if (path->cwnd == largest)
			wide++;
		else if (olia_quality(path) == best)
			collected++;
	}
	if (collected == 0 || own->srtt == 0)
		return 0;
	if (own->cwnd == largest)
		share = wide;
	else if (olia_quality(own) == best)
		share = collected;
	else
		return 0;
	shift = path_growth(own, number_over(path_alone(own), number_of((u64)all * share)));
	return own->cwnd == largest ? -shift : shift;
}

/* Window growth of `own` per acknowledged segment; the shift can make it negative. */
INLINE s64 olia_growth(const struct paths *paths)
{
	const struct path *own = &paths->own;
	number sum = 0, each;
	u32 at;

	for (at = 0; at < PATHS_MAX && at < paths->count; at++)
		if (paths->all[at].srtt)
			sum = number_plus(sum, path_rate(&paths->all[at]));
	if (sum == 0 || own->srtt == 0)
		return path_growth(own, path_alone(own));
	/* (w / rtt^2) / (sum of w / rtt)^2 + alpha / w, for each acknowledged segment (equation 1 of the paper). */
	each = number_over(number_over(number_over(path_rate(own), number_of(own->srtt)), sum), sum);
	return path_growth(own, each) + olia_shift(paths);
}

INLINE u32 olia_after_loss(const struct paths *paths)
{
	return window_half(paths->own.cwnd);
}

#endif

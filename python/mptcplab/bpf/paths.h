/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * The state of subflows for a coupled controller, and the growth of a window.
 *
 * Owns `path`, the unit of growth, and the step of a window. Knows no sockets; kernel.h and subflows.h do.
 */
#ifndef MPTCPLAB_PATHS_H
#define MPTCPLAB_PATHS_H

#include "numbers.h"

/* Subflows of a connection (net/mptcp/protocol.h, MPTCP_PM_ADDR_MAX: no more than eight by endpoints). */
#define PATHS_MAX 8

/* Growth is in units of 2^-48 segments: precise enough, and the growth of ACKED_MOST segments fits. */
#define GROWTH_FRACTION 48
#define GROWTH_SEGMENT (1LL << GROWTH_FRACTION)

/* The minimum window after a decrease or a shift, segments (RFC 5681 equation 4). */
#define LEAST_WINDOW 2U

/* Maximum window and maximum segments per acknowledgement, against overflow. */
#define WINDOW_MOST (1U << 24)
#define ACKED_MOST (1U << 12)

struct path {
	/* Congestion window, segments. */
	u32 cwnd;
	/* Payload of a full segment, bytes. */
	u32 mss;
	/* Smoothed RTT, microseconds; 0 before the first sample, when the path does not count. */
	u32 srtt;
	u32 unused;
	/* OLIA: bytes acknowledged between the last two losses or since the last one, the larger. */
	u64 interval;
};

struct paths {
	struct path all[PATHS_MAX];
	/* The path whose data was acknowledged; also in `all`. */
	struct path own;
	u32 count;
};

struct window {
	/* Segments. */
	u32 cwnd;
	/* Growth below one segment, carried over. */
	s64 credit;
};

/* The window in bytes, as in RFC 6356 section 3, because segment sizes may differ between paths. */
INLINE number path_window(const struct path *path)
{
	u32 cwnd = path->cwnd < WINDOW_MOST ? path->cwnd : WINDOW_MOST;

	return number_of((u64)(cwnd ? cwnd : 1) * (path->mss ? path->mss : 1));
}

/* Bytes per microsecond. */
INLINE number path_rate(const struct path *path)
{
	return number_over(path_window(path), number_of(path->srtt));
}

/* The growth of one TCP flow: a segment per window (RFC 5681 section 3.1, equation 3). */
INLINE number path_alone(const struct path *path)
{
	return number_over(number_of(1), path_window(path));
}

/* Converts growth per acknowledged byte and per byte of a segment to the unit of window_grow. */
INLINE s64 path_growth(const struct path *path, number each)
{
	u64 growth = number_fixed(number_times(each, number_of(path->mss ? path->mss : 1)), GROWTH_FRACTION);

	/* At most one segment per acknowledged segment (RFC 5681 section 3.1). */
	return growth < (u64)GROWTH_SEGMENT ? (s64)growth : GROWTH_SEGMENT;
}

/* Grows the window by `growth` per acknowledged segment; it may be negative. */
INLINE void window_grow(struct window *window, s64 growth, u32 acked)
{
	if (acked > ACKED_MOST)
		acked = ACKED_MOST;
	window->credit += growth * (s64)acked;
	if (window->credit >= GROWTH_SEGMENT) {
		u64 whole = (u64)window->credit >> GROWTH_FRACTION;

		window->credit -= (s64)(whole << GROWTH_FRACTION);
		window->cwnd = window->cwnd < ~0U - (u32)whole ? window->cwnd + (u32)whole : ~0U;
	} else if (window->credit <= -GROWTH_SEGMENT) {
		u64 whole = (u64)-window->credit >> GROWTH_FRACTION;
		u32 least = window->cwnd < LEAST_WINDOW ? window->cwnd : LEAST_WINDOW;

		window->credit += (s64)(whole << GROWTH_FRACTION);
		window->cwnd = window->cwnd >= whole + least ? window->cwnd - (u32)whole : least;
	}
}

/* The window after a loss: half of it (RFC 5681 equation 4; of the window instead of the flight, as in Linux). */
INLINE u32 window_half(u32 cwnd)
{
	return cwnd / 2 > LEAST_WINDOW ? cwnd / 2 : LEAST_WINDOW;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * From a TCP socket of the kernel to the subflows of its connection.
 *
 * Owns the walk along the list of subflows and what a controller remembers in a socket. Never writes to a sibling.
 *
 * Whoever calls holds the lock of its own subflow, and not that of the connection, under which the list changes. It
 * reads all the same: programs run under RCU, a subflow's context is freed after a grace period (subflow_ulp_release),
 * TCP sockets lie in memory that stays one of TCP sockets (SLAB_TYPESAFE_BY_RCU), and what is not mapped reads as 0
 * (bpf_rdonly_cast). What can go wrong is that a subflow counts which is just leaving, or that some are missed for one
 * acknowledgement: whatever is found has to name our connection, or the walk ends.
 */
#ifndef MPTCPLAB_SUBFLOWS_H
#define MPTCPLAB_SUBFLOWS_H

#include "kernel.h"
#include "paths.h"

/* What a controller remembers of a subflow, in icsk_ca_priv. */
struct memory {
	/* As struct window has it. */
	s64 credit;
	/* What had been acknowledged, bytes, when data was lost last. */
	u64 lost_at;
	/* Bytes acknowledged between the two losses before. */
	u64 previous;
};

_Static_assert(sizeof(struct memory) <= PRIVATE_WORDS * sizeof(u64), "what is remembered has no room in a socket");

INLINE struct memory *subflow_memory(struct tcp_sock *tp)
{
	return (struct memory *)tp->inet_conn.icsk_ca_priv;
}

/* What is known of a subflow; `ours`: whether its controller is that of the caller. */
INLINE void subflow_read(struct path *path, struct tcp_sock *tp, _Bool ours)
{
	u64 acked = tp->bytes_acked;

	path->cwnd = tp->snd_cwnd;
	path->mss = tp->mss_cache;
	/* The kernel keeps eight times the round trip; one that is less than a microsecond was measured, too. */
	path->srtt = tp->srtt_us ? (tp->srtt_us >> 3 ? tp->srtt_us >> 3 : 1) : 0;
	path->unused = 0;
	path->interval = acked;
	if (ours) {
		struct memory *memory = subflow_memory(tp);
		u64 current = acked - memory->lost_at, previous = memory->previous;

		path->interval = current > previous ? current : previous;
	}
}

/* Whether a subflow counts: RFC 6356 sums over all that are established, whether or not they carry data just now. */
INLINE _Bool subflow_counts(struct tcp_sock *tp)
{
	unsigned char state = tp->inet_conn.icsk_inet.sk.__sk_common.skc_state;

	return state == STATE_ESTABLISHED || state == STATE_CLOSE_WAIT;
}

/* All subflows of the connection that `tp` belongs to; of plain TCP, and after a fallback, itself alone. */
INLINE void subflows(struct paths *paths, struct tcp_sock *tp)
{
	const struct tcp_congestion_ops *ops = tp->inet_conn.icsk_ca_ops;
	struct mptcp_subflow_context *context;
	struct list_head *at, *end;
	struct sock *connection;
	u32 count = 0, turn;

	subflow_read(&paths->own, tp, 1);
	paths->all[0] = paths->own;
	paths->count = 1;
	if (!tp->is_mptcp)
		return;
	context = CAST(mptcp_subflow_context, tp->inet_conn.icsk_ulp_data);
	connection = context->conn;
	if (!connection)
		return;
	end = &CAST(mptcp_sock, connection)->conn_list;
	at = end->next;
	for (turn = 0; turn < PATHS_MAX; turn++) {
		struct tcp_sock *other;

		if (!at || at == end)
			break;
		context = CAST(mptcp_subflow_context,
			       (char *)at - bpf_core_field_offset(struct mptcp_subflow_context, node));
		if (context->conn != connection)
			break;
		other = CAST(tcp_sock, context->tcp_sock);
		at = context->node.next;
		if (!subflow_counts(other))
			continue;
		subflow_read(&paths->all[count & (PATHS_MAX - 1)], other, other->inet_conn.icsk_ca_ops == ops);
		count++;
	}
	if (count)
		paths->count = count;
}

#endif

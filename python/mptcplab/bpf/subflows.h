/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * Finds the subflows of the connection of a kernel TCP socket.
 *
 * Owns the walk along the list of subflows, and the controller's state in a socket. Never writes to another subflow.
 *
 * The caller holds the lock of its own subflow, but not that of the connection, which protects the list. The walk is
 * safe without it. Programs run under RCU, and a subflow's context is freed after a grace period (subflow_ulp_release).
 * TCP sockets stay in memory of TCP sockets (SLAB_TYPESAFE_BY_RCU). Unmapped memory reads as 0 (bpf_rdonly_cast). A
 * closing subflow may be counted, or some may be missed for one acknowledgement. The walk ends at a subflow of another
 * connection.
 */
#ifndef MPTCPLAB_SUBFLOWS_H
#define MPTCPLAB_SUBFLOWS_H

#include "kernel.h"
#include "paths.h"

/* The controller's state of a subflow, in icsk_ca_priv. */
struct memory {
	/* As in struct window. */
	s64 credit;
	/* Bytes acknowledged before the last loss. */
	u64 lost_at;
	/* Bytes acknowledged between the two previous losses. */
	u64 previous;
};

_Static_assert(sizeof(struct memory) <= PRIVATE_WORDS * sizeof(u64), "what is remembered has no room in a socket");

INLINE struct memory *subflow_memory(struct tcp_sock *tp)
{
	return (struct memory *)tp->inet_conn.icsk_ca_priv;
}

/* The state of a subflow; `same_controller`: whether it has the controller of the caller. */
INLINE void subflow_read(struct path *path, struct tcp_sock *tp, _Bool same_controller)
{
	u64 acked = tp->bytes_acked;

	path->cwnd = tp->snd_cwnd;
	path->mss = tp->mss_cache;
	/* The kernel stores eight times the RTT; an RTT below a microsecond counts as measured, too. */
	path->srtt = tp->srtt_us ? (tp->srtt_us >> 3 ? tp->srtt_us >> 3 : 1) : 0;
	path->unused = 0;
	path->interval = acked;
	if (same_controller) {
		struct memory *memory = subflow_memory(tp);
		u64 current = acked - memory->lost_at, previous = memory->previous;

		path->interval = current > previous ? current : previous;
	}
}

/* Whether a subflow counts: RFC 6356 sums over all established subflows, with or without data. */
INLINE _Bool subflow_counts(struct tcp_sock *tp)
{
	unsigned char state = tp->inet_conn.icsk_inet.sk.__sk_common.skc_state;

	return state == STATE_ESTABLISHED || state == STATE_CLOSE_WAIT;
}

/* All subflows of the connection of `tp`; only itself for plain TCP and after a fallback. */
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

/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * A kernel congestion controller from two functions: the window growth, and the window after a loss.
 *
 * CONTROLLER(lia) uses lia_growth and lia_after_loss, and registers as mptcplab_lia, or with another PREFIX. Slow start,
 * the undo of spurious losses and everything else are the kernel's. The program choose, attached to a cgroup, sets the
 * controller of its subflows.
 */
#ifndef MPTCPLAB_CONTROLLER_H
#define MPTCPLAB_CONTROLLER_H

#include "subflows.h"

/* Whether the window limits the sender; otherwise it must not grow (RFC 7661 section 4, tcp_is_cwnd_limited). */
INLINE _Bool limited(struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return 1;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

INLINE void begin(struct tcp_sock *tp)
{
	struct memory *memory = subflow_memory(tp);

	memory->credit = 0;
	memory->lost_at = tp->bytes_acked;
	memory->previous = 0;
}

/* OLIA counts the bytes acknowledged between losses. */
INLINE void lost(struct tcp_sock *tp)
{
	struct memory *memory = subflow_memory(tp);
	u64 acked = tp->bytes_acked;

	memory->previous = acked - memory->lost_at;
	memory->lost_at = acked;
}

INLINE void grown(struct tcp_sock *tp, s64 growth, u32 acked)
{
	struct memory *memory = subflow_memory(tp);
	struct window window = {tp->snd_cwnd, memory->credit};

	window_grow(&window, growth, acked);
	memory->credit = window.credit;
	tp->snd_cwnd = window.cwnd < tp->snd_cwnd_clamp ? window.cwnd : tp->snd_cwnd_clamp;
}

/* Sets the controller of a connected or accepted TCP socket of a cgroup, if it is a subflow. */
INLINE void chosen(struct bpf_sock_ops *event, const char *name, int size)
{
	struct tcp_sock *tp;

	if (event->op != BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB && event->op != BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB)
		return;
	if (!event->sk)
		return;
	tp = (struct tcp_sock *)bpf_skc_to_tcp_sock(event->sk);
	if (tp && tp->is_mptcp)
		bpf_setsockopt(event, LEVEL_TCP, OPTION_CONGESTION, (void *)name, size);
}

#ifndef PREFIX
#define PREFIX mptcplab_
#endif
#define AS_TEXT(word) #word
#define TEXT(word) AS_TEXT(word)
#define AS_ONE(first, second) first##second
#define JOINED(first, second) AS_ONE(first, second)
/* The name of the controller in the kernel; at most NAME_SIZE bytes including the terminator. */
#define KERNEL_NAME(rule) TEXT(JOINED(PREFIX, rule))

/* clang-format off */
#define CONTROLLER(rule)                                                                                         \
	char _license[] SEC("license") = "Dual MIT/GPL";                                                         \
                                                                                                                 \
	SEC("struct_ops/init") void BPF_PROG(rule##_init, struct sock *sk)                                       \
	{                                                                                                        \
		begin((struct tcp_sock *)sk);                                                                    \
	}                                                                                                        \
                                                                                                                 \
	SEC("struct_ops/cong_avoid") void BPF_PROG(rule##_cong_avoid, struct sock *sk, u32 ack, u32 acked)       \
	{                                                                                                        \
		struct tcp_sock *tp = (struct tcp_sock *)sk;                                                     \
		struct paths paths = {};                                                                         \
                                                                                                                 \
		if (!limited(tp))                                                                                \
			return;                                                                                  \
		if (tp->snd_cwnd < tp->snd_ssthresh) {                                                           \
			acked = tcp_slow_start(tp, acked);                                                       \
			if (!acked)                                                                              \
				return;                                                                          \
		}                                                                                                \
		subflows(&paths, tp);                                                                            \
		grown(tp, rule##_growth(&paths), acked);                                                         \
	}                                                                                                        \
                                                                                                                 \
	SEC("struct_ops/ssthresh") u32 BPF_PROG(rule##_ssthresh, struct sock *sk)                                \
	{                                                                                                        \
		struct tcp_sock *tp = (struct tcp_sock *)sk;                                                     \
		struct paths paths = {};                                                                         \
                                                                                                                 \
		subflows(&paths, tp);                                                                            \
		lost(tp);                                                                                        \
		return rule##_after_loss(&paths);                                                                \
	}                                                                                                        \
                                                                                                                 \
	SEC("struct_ops/undo_cwnd") u32 BPF_PROG(rule##_undo_cwnd, struct sock *sk)                              \
	{                                                                                                        \
		return tcp_reno_undo_cwnd(sk);                                                                   \
	}                                                                                                        \
                                                                                                                 \
	SEC("sockops") int choose(struct bpf_sock_ops *event)                                                    \
	{                                                                                                        \
		char name[NAME_SIZE] = KERNEL_NAME(rule);                                                        \
                                                                                                                 \
		chosen(event, name, sizeof(KERNEL_NAME(rule)) - 1);                                              \
		return 1;                                                                                        \
	}                                                                                                        \
                                                                                                                 \
	SEC(".struct_ops") struct tcp_congestion_ops JOINED(PREFIX, rule) = {                                           \
		.init = (void *)rule##_init,                                                                     \
		.cong_avoid = (void *)rule##_cong_avoid,                                                         \
		.ssthresh = (void *)rule##_ssthresh,                                                             \
		.undo_cwnd = (void *)rule##_undo_cwnd,                                                           \
		.name = KERNEL_NAME(rule),                                                                       \
	}

#endif

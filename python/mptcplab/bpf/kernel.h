/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * The fields of Linux's structures that are read and written, relocated for the running kernel (CO-RE).
 *
 * Declarations only. The names are the kernel's (include/linux/tcp.h, include/net/inet_connection_sock.h,
 * net/mptcp/protocol.h), because the loader finds them by name.
 */
#ifndef MPTCPLAB_KERNEL_H
#define MPTCPLAB_KERNEL_H

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "numbers.h"

#define RELOCATED __attribute__((preserve_access_index))

/* include/net/tcp_states.h: states in which a subflow may still send. */
#define STATE_ESTABLISHED 1
#define STATE_CLOSE_WAIT 8

/* include/net/tcp.h, TCP_CA_NAME_MAX. */
#define NAME_SIZE 16
/* include/net/inet_connection_sock.h, ICSK_CA_PRIV_SIZE, in words. */
#define PRIVATE_WORDS 13

/* include/uapi/linux/in.h, tcp.h. */
#define LEVEL_TCP 6
#define OPTION_CONGESTION 13

struct list_head {
	struct list_head *next;
} RELOCATED;

struct sock_common {
	unsigned char skc_state;
} RELOCATED;

struct sock {
	struct sock_common __sk_common;
} RELOCATED;

struct inet_sock {
	struct sock sk;
} RELOCATED;

struct tcp_congestion_ops;

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	const struct tcp_congestion_ops *icsk_ca_ops;
	void *icsk_ulp_data;
	u64 icsk_ca_priv[PRIVATE_WORDS];
} RELOCATED;

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 mss_cache;
	u32 srtt_us;
	u32 snd_cwnd;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 max_packets_out;
	u64 bytes_acked;
	unsigned char is_cwnd_limited : 1;
	_Bool is_mptcp;
} RELOCATED;

struct mptcp_sock {
	struct list_head conn_list;
} RELOCATED;

struct mptcp_subflow_context {
	struct list_head node;
	struct sock *tcp_sock;
	struct sock *conn;
} RELOCATED;

/* The members that are set here; the kernel's structure has more. */
struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	char name[NAME_SIZE];
};

/* Functions of the kernel that congestion control in BPF may call (net/ipv4/bpf_tcp_ca.c, kernel/bpf/helpers.c). */
extern u32 tcp_slow_start(struct tcp_sock *tp, u32 acked) __ksym;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;
extern void *bpf_rdonly_cast(const void *object, u32 type) __ksym;

/* A read-only pointer to a structure; unmapped memory reads as 0. */
#define CAST(type, address) \
	((struct type *)bpf_rdonly_cast((const void *)(address), bpf_core_type_id_kernel(struct type)))

#endif

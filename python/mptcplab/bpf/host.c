// SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0
/*
 * The controllers compiled for user space: reads states and writes the result of each controller.
 *
 * crates/mptcp/tests/it/kernel_policies.rs compiles and runs it, and depends on the layout of both records.
 */
#include <stdio.h>

#include "balia.h"
#include "lia.h"
#include "olia.h"

#define RULES 3

struct question {
	u32 count;
	/* The index of the acknowledged path, and the number of acknowledged segments. */
	u32 own;
	u32 acked;
	u32 unused;
	/* Growth below one segment, carried over. */
	s64 credit;
	struct path all[PATHS_MAX];
};

struct answer {
	s64 growth[RULES];
	s64 credit[RULES];
	u32 cwnd[RULES];
	u32 after_loss[RULES];
};

int main(void)
{
	struct question question;

	while (fread(&question, sizeof(question), 1, stdin) == 1) {
		struct answer answer = {0};
		struct paths paths;
		u32 at;

		if (question.count > PATHS_MAX || question.own >= question.count)
			return 2;
		for (at = 0; at < PATHS_MAX; at++)
			paths.all[at] = question.all[at];
		paths.own = question.all[question.own];
		paths.count = question.count;
		answer.growth[0] = lia_growth(&paths);
		answer.growth[1] = olia_growth(&paths);
		answer.growth[2] = balia_growth(&paths);
		answer.after_loss[0] = lia_after_loss(&paths);
		answer.after_loss[1] = olia_after_loss(&paths);
		answer.after_loss[2] = balia_after_loss(&paths);
		for (at = 0; at < RULES; at++) {
			struct window window = {paths.own.cwnd, question.credit};

			window_grow(&window, answer.growth[at], question.acked);
			answer.credit[at] = window.credit;
			answer.cwnd[at] = window.cwnd;
		}
		if (fwrite(&answer, sizeof(answer), 1, stdout) != 1)
			return 1;
	}
	return fflush(stdout) ? 1 : 0;
}

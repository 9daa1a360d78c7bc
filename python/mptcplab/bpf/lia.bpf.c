// SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0
/* The kernel congestion controller mptcplab_lia. */
#include "controller.h"
#include "lia.h"

CONTROLLER(lia);

// SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0
/* The controller mptcplab_lia of the kernel. */
#include "controller.h"
#include "lia.h"

CONTROLLER(lia);

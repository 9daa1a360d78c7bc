// SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0
/* The controller mptcplab_balia of the kernel. */
#include "controller.h"
#include "balia.h"

CONTROLLER(balia);

// SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0
/* The controller mptcplab_olia of the kernel. */
#include "controller.h"
#include "olia.h"

CONTROLLER(olia);

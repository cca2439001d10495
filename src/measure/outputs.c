// SPDX-License-Identifier: Apache-2.0
// Compares what two arms computed.
#include "measure/outputs.h"

#pragma once

#include <stddef.h>
#include <stdint.h>

/// Runs libFuzzer with its own command line and calls `callback` with each input it generates.
int LLVMFuzzerRunDriver(
    int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));

#pragma once

#include <stddef.h>
#include <stdint.h>

/// Runs libFuzzer with its own command line and calls back with each input it makes.
int LLVMFuzzerRunDriver(
    int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));

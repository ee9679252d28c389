#pragma once

// Marks what the shared libraries show; all else in them is hidden.
#define BITPOOL_EXPORT __attribute__((visibility("default")))

#pragma once

// Marks what the shared libraries export; everything else in them is hidden.
#define BITPOOL_EXPORT __attribute__((visibility("default")))

#pragma once

// Errors are part of what guests see.
#include "bitpool/error.h"

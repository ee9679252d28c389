#pragma once

#include "bitpool/base/error.h"

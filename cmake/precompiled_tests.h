// The same for all tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "precompiled.h"

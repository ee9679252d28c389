#pragma once

// All of the component `core`: train and encode, build and search an index.
#include "bitpool/codes.h"
#include "bitpool/error.h"
#include "bitpool/index.h"
#include "bitpool/model.h"
#include "bitpool/run.h"
#include "bitpool/vectors.h"
#include "bitpool/version.h"

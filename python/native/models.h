#pragma once

#include <memory>
#include <utility>

#include "bitpool/training/model_file.h"

namespace bitpool::python {

// Never changes, so that a copy made by Python is the object itself.
struct ModelHandle {
  explicit ModelHandle(StoredModel stored)
      : shared(std::make_shared<const StoredModel>(std::move(stored))) {}
  const HashModel& model() const { return shared->model; }

  std::shared_ptr<const StoredModel> shared;
};

}  // namespace bitpool::python

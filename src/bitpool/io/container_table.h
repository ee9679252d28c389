#pragma once

#include <cstdint>
#include <vector>

#include "bitpool/io/container.h"
#include "bitpool/io/file_view.h"

// What this room shares: what a container says about itself. Not for users.
namespace bitpool {

struct ContainerTable {
  std::vector<Section> sections;
  uint64_t blocks_offset = 0;  // of the checksums of their blocks
};

// Checks everything but the content of the sections; throws as Container::Parse does.
ContainerTable ReadContainerTable(const FileView& view);

}  // namespace bitpool

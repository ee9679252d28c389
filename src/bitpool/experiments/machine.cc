#include "bitpool/experiments/machine.h"

#include <fstream>
#include <string>

#include "bitpool/base/blas.h"

namespace bitpool {
namespace {

// The model in /proc/cpuinfo, where there is one.
std::string CpuName() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

MachineFacts FactsOfThisMachine(const RunContext& context) {
  return {.cpu = CpuName(), .threads = context.threads(), .blas = DescribeBlas()};
}

}  // namespace bitpool

#include "config.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "bitpool/training/tune.h"
#include "session.h"

namespace bitpool::app {
namespace {

nlohmann::json ParseConfig(const std::string& file) {
  const auto view = Env::Posix().Map(file);
  const std::string_view text(reinterpret_cast<const char*>(view->bytes().data()),
                              view->bytes().size());
  nlohmann::json config = nlohmann::json::parse(text, nullptr, false);
  if (config.is_discarded() || !config.is_object()) {
    throw Error(ErrorCode::kInvalidArgument, file + ": expected JSON that tune has written");
  }
  return config;
}

}  // namespace

HashSettings LoadConfig(const std::string& file, const HashSettings& settings) {
  return NamingTheFile(file, [&] { return ReadConfig(ParseConfig(file), settings); });
}

std::string MethodOfConfig(const std::string& file) {
  const nlohmann::json config = ParseConfig(file);
  if (!config.contains("method") || !config["method"].is_string()) {
    throw Error(ErrorCode::kInvalidArgument, file + ": expected \"method\" with a name");
  }
  return config["method"].get<std::string>();
}

}  // namespace bitpool::app

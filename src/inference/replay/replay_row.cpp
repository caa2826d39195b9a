#include "inference/replay/replay_row.h"

#include <nlohmann/json.hpp>

#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron::inference {

nlohmann::json recorded_json(const std::filesystem::path& path) {
  nlohmann::json value = nlohmann::json::parse(read_file(path), nullptr, false);
  if (value.is_discarded()) {
    throw_data("{}: not valid JSON", path.string());
  }
  return value;
}

}  // namespace mpitron::inference

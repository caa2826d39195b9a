#include <nlohmann/json.hpp>

#include "io/arrays/safetensors.h"
#include "utils/check.h"
#include "utils/error.h"

// Writes a safetensors file. All sizes are known before it begins, so that a file is written in one
// pass.

namespace mpitron::io {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson entry_json(const SafetensorsEntry& entry, Index begin, Index end) {
  return {{"dtype", safetensors_name(entry.type)},
          {"shape", entry.shape},
          {"data_offsets", {begin, end}}};
}

}  // namespace

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& path,
                                     std::span<const SafetensorsEntry> layout,
                                     const SafetensorsMetadata& metadata)
    : file_(path) {
  OrderedJson json = OrderedJson::object();
  if (!metadata.empty()) {
    json[kMetadata] = metadata;
  }
  for (const SafetensorsEntry& entry : layout) {
    const Index numel = checked_numel(entry);
    MPITRON_CHECK(numel >= 0 && !json.contains(entry.name), entry.name);
    const Index begin = remaining_;
    remaining_ += numel * static_cast<Index>(size_of(entry.type));
    json[entry.name] = entry_json(entry, begin, remaining_);
  }
  std::string header = json.dump();
  header.resize((header.size() + kPrefixBytes - 1) / kPrefixBytes * kPrefixBytes, ' ');
  const std::uint64_t length = header.size();
  file_.write(&length, sizeof(length));
  file_.write(header);
}

void SafetensorsWriter::write(std::span<const std::byte> data) {
  remaining_ -= static_cast<Index>(data.size());
  MPITRON_CHECK(remaining_ >= 0, remaining_);
  file_.write(data.data(), data.size());
}

void SafetensorsWriter::commit() {
  MPITRON_CHECK(remaining_ == 0, remaining_);
  file_.commit();
}

}  // namespace mpitron::io

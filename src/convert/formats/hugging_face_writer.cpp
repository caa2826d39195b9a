#include <nlohmann/json.hpp>

#include "convert/formats/hugging_face_folder.h"
#include "utils/error.h"
#include "utils/system/files.h"

// Writes weights as safetensors files of a folder, filled up to a limit in the order of the
// tensors, as transformers does, and their index.

namespace mpitron::convert {
namespace {

namespace fs = std::filesystem;

std::string file_name(std::size_t number, std::size_t count) {
  return count == 1 ? kSingle : fmt::format("model-{:05}-of-{:05}.safetensors", number + 1, count);
}

/// Consecutive tensors of one file.
using Part = std::vector<const TensorInfo*>;

/// Begins a new file before the tensor that would pass the limit; order is kept, so that a file can
/// be written while the source is read once.
std::vector<Part> divide(const std::vector<TensorInfo>& tensors, Index bytes_per_file) {
  std::vector<Part> parts(1);
  Index bytes = 0;
  for (const TensorInfo& info : tensors) {
    if (!parts.back().empty() && bytes + info.bytes() > bytes_per_file) {
      parts.emplace_back();
      bytes = 0;
    }
    parts.back().push_back(&info);
    bytes += info.bytes();
  }
  return parts;
}

/// Returns the entries of a file's header, which has to be written before the first tensor.
std::vector<io::SafetensorsEntry> layout_of(const Part& part) {
  std::vector<io::SafetensorsEntry> layout;
  for (const TensorInfo* info : part) {
    io::SafetensorsEntry entry{info->name, io::element_type(info->dtype), {}};
    for (int i = 0; i < info->shape.rank(); ++i) {
      entry.shape.push_back(info->shape[i]);
    }
    layout.push_back(std::move(entry));
  }
  return layout;
}

void write_index(const fs::path& folder, const std::vector<Part>& parts, Index total) {
  nlohmann::ordered_json json = {{"metadata", {{"total_size", total}}}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const TensorInfo* info : parts[i]) {
      json["weight_map"][info->name] = file_name(i, parts.size());
    }
  }
  AtomicFile file(folder / kIndex);
  file.write(json.dump(2) + "\n");
  file.commit();
}

/// Old weights would be read together with the new ones, or in place of them.
void refuse_old_weights(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".safetensors") || name == kIndex) {
      throw_data("--to {}: {} is there already; give an empty folder", folder.string(), name);
    }
  }
}

}  // namespace

void write_hugging_face_weights(const fs::path& folder, TensorSource& source, Index bytes_per_file,
                                const Progress& progress) {
  refuse_old_weights(folder);
  const std::vector<Part> parts = divide(source.tensors(), bytes_per_file);
  const Index total = source.bytes();
  Index done = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    io::SafetensorsWriter writer(folder / file_name(i, parts.size()), layout_of(parts[i]),
                                 {{"format", "pt"}});
    for (const TensorInfo* info : parts[i]) {
      writer.write(source.read(info->name).bytes());
      done += info->bytes();
      progress(done, total, info->name);
    }
    writer.commit();
  }
  if (parts.size() > 1) {
    write_index(folder, parts, total);
  }
}

}  // namespace mpitron::convert

#include "convert/formats/hugging_face_folder.h"

#include <algorithm>
#include <cstdint>

#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include "utils/error.h"
#include "utils/system/files.h"
#include "utils/text/json_nesting.h"

// Safetensors files of a folder, by its index where there are several.

namespace mpitron::convert {
namespace {

namespace fs = std::filesystem;
using UnorderedJson = nlohmann::json;  // of many members, looked up by name
/// Companions are read into memory and kept in a checkpoint's header: a limit against other files
/// that have such a name.
constexpr std::uintmax_t kLargestCompanion = std::uintmax_t{256} << 20;

constexpr const char* kCompanions[] = {"tokenizer.json",
                                       "tokenizer_config.json",
                                       "special_tokens_map.json",
                                       "added_tokens.json",
                                       "vocab.json",
                                       "merges.txt",
                                       "tokenizer.model",
                                       "chat_template.jinja",
                                       "generation_config.json"};

/// Returns tensor -> file, as the index says.
std::map<std::string, std::string> read_index(const fs::path& path) {
  const std::string text = read_file(path);
  const UnorderedJson json =
      nests_too_deep(text) ? UnorderedJson() : UnorderedJson::parse(text, nullptr, false);
  std::map<std::string, std::string> files;
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object()) {
    throw_data("{}: expected a JSON object with weight_map", path.string());
  }
  for (const auto& [tensor, file] : json["weight_map"].items()) {
    // A name, not a path: an index must not reach outside its folder.
    if (!file.is_string() ||
        fs::path(file.get<std::string>()).filename() != file.get<std::string>() ||
        !file.get<std::string>().ends_with(".safetensors")) {
      throw_data("{}: weight_map: {}: expected the name of a safetensors file, found {}",
                 path.string(), tensor,
                 file.is_string() ? file.get<std::string>() : file.type_name());
    }
    files[tensor] = file.get<std::string>();
  }
  return files;
}

Shape shape_of(const io::SafetensorsFile::Tensor& tensor, const fs::path& path) {
  Shape shape;
  if (tensor.shape.size() > Shape::kMaxRank) {
    throw_data("{}: tensor {} has {} dimensions, allowed are {}", path.string(), tensor.name,
               tensor.shape.size(), Shape::kMaxRank);
  }
  for (const Index extent : tensor.shape) {
    shape.push_back(extent);
  }
  return shape;
}

}  // namespace

HuggingFaceFolder::HuggingFaceFolder(const fs::path& folder) : folder_(folder) {
  if (fs::exists(folder / kIndex)) {
    const auto file_of = read_index(folder / kIndex);
    std::vector<std::string> names;
    for (const auto& [tensor, file] : file_of) {
      names.push_back(file);
    }
    // Each file is opened once, though it stands behind many tensors.
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    for (const std::string& name : names) {
      add_file(folder / name);
    }
    check_index(file_of);
  } else if (fs::exists(folder / kSingle)) {
    add_file(folder / kSingle);
  } else {
    throw_data("{}: neither {} nor {}: weights in safetensors files are needed", folder.string(),
               kSingle, kIndex);
  }
}

void HuggingFaceFolder::add_file(const fs::path& path) {
  files_.push_back(std::make_unique<io::SafetensorsFile>(path));
  for (const auto& [name, tensor] : files_.back()->tensors()) {
    const std::optional<DType> dtype = io::dtype_of(tensor.type);
    // Bytes are weights only where experts are packed in MXFP4 (stacked_experts.h).
    const bool packed = dtype == DType::u8 && name.find(".experts.") != std::string::npos;
    const bool weight = packed || (dtype && is_floating(*dtype) && *dtype != DType::f64);
    if (!found_.emplace(name, &tensor).second) {
      throw_data("{}: tensor {} is in {} as well", path.string(), name, in_file_[name]);
    }
    in_file_[name] = path.filename().string();
    if (weight) {  // masks of old files are not listed; what is wanted and not listed is missing
      tensors_.push_back({name, shape_of(tensor, path), *dtype});
    }
  }
}

void HuggingFaceFolder::check_index(const std::map<std::string, std::string>& file_of) const {
  for (const auto& [tensor, file] : file_of) {
    const auto found = in_file_.find(tensor);
    if (found == in_file_.end() || found->second != file) {
      throw_data("{}: tensor {} is not in {} as the index says", (folder_ / kIndex).string(),
                 tensor, file);
    }
  }
}

HostTensor HuggingFaceFolder::read(const std::string& name) {
  const TensorInfo* info = find(name);
  if (info == nullptr) {
    throw_data("{}: no tensor {} of a floating-point type among {}", folder_.string(), name,
               tensors_.size());
  }
  // The result is a view of the mapped file; pages of the tensor before are given back, so that no
  // more than one tensor is resident.
  forget_pages(last_);
  last_ = found_.at(name)->data;
  return HostTensor(*info, last_);
}

std::map<std::string, std::string> read_companions(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const char* name : kCompanions) {
    const fs::path path = folder / name;
    if (fs::is_regular_file(path) && fs::file_size(path) <= kLargestCompanion) {
      files[name] = read_file(path);
    }
  }
  return files;
}

void forget_pages(std::span<const std::byte> mapped) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped.data());
  const std::uintptr_t first = begin / page * page, last = (begin + mapped.size()) / page * page;
  if (last > first) {  // advice: nothing depends on its success
    ::madvise(const_cast<std::byte*>(mapped.data()) - (begin - first), last - first, MADV_DONTNEED);
  }
}

}  // namespace mpitron::convert

#include "convert/formats/format.h"

#include <charconv>
#include <string>

#include <fmt/ranges.h>

#include "checkpoint/folders/folder.h"
#include "convert/formats/megatron_dist.h"
#include "convert/formats/megatron_torch.h"
#include "convert/formats/mpitron_checkpoint.h"
#include "utils/error.h"

// The formats of models by name, and how a path is recognised: by the files that tell them apart.

namespace mpitron::convert {
namespace {

constexpr std::pair<Format, std::string_view> kNames[] = {
    {Format::mpitron, "mpitron"},
    {Format::hugging_face, "huggingface"},
    {Format::megatron_torch, "megatron-torch"},
    {Format::megatron_torch_dist, "megatron-torch-dist"}};

}  // namespace

std::string_view name_of(Format format) {
  return kNames[static_cast<std::size_t>(format)].second;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const auto& [format, name] : kNames) {
    names.emplace_back(name);
  }
  return names;
}

Format parse_format(const std::string& name, const std::string& option) {
  for (const auto& [format, candidate] : kNames) {
    if (name == candidate) {
      return format;
    }
  }
  throw_usage("{} {}: allowed are {}", option, name, fmt::join(format_names(), ", "));
}

Format detect_format(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) {
    throw_data("{}: no such file or folder", path.string());
  }
  if (is_mpitron_checkpoint(path)) {
    return Format::mpitron;
  }
  if (is_megatron_dist(path)) {
    return Format::megatron_torch_dist;
  }
  if (is_megatron_torch(path)) {
    return Format::megatron_torch;
  }
  if (std::filesystem::exists(path / "config.json")) {
    return Format::hugging_face;
  }
  throw_data(
      "{}: none of checkpoint.h5 (mpitron), config.json (huggingface), mp_rank_00* "
      "(megatron-torch), .metadata (megatron-torch-dist) is there; a folder of checkpoints needs "
      "its latest_checkpointed_iteration.txt, else give the iter_* folder itself",
      path.string());
}

namespace fs = std::filesystem;

bool has_tracker(const fs::path& root) {
  return checkpoint::Folder(root).tracked().has_value();
}

fs::path iteration_folder(const fs::path& root) {
  const checkpoint::Folder folder(root);
  const std::optional<Index> tracked = folder.tracked();
  return tracked ? folder.file(*tracked).parent_path() : root;
}

Index iteration_of(const fs::path& folder) {
  constexpr std::string_view kPrefix = "iter_";
  const std::string name = folder.filename().string();
  Index iteration = -1;
  if (name.starts_with(kPrefix)) {
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), iteration);
  }
  return iteration;
}

}  // namespace mpitron::convert

#include "data/index/index_cache.h"

#include <algorithm>
#include <utility>

#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/files.h"
#include "utils/text/hash.h"

// Built indices on disk. Whoever gets the lock builds, others wait for it and read the result;
// files appear whole under their names, so that a killed builder leaves nothing that is taken for
// an index.

namespace mpitron::data {
namespace {

bool is_index(io::ElementType type) {
  return type == io::ElementType::i16 || type == io::ElementType::i32 ||
         type == io::ElementType::u32 || type == io::ElementType::i64;
}

bool fits(const std::vector<Index>& shape, const std::vector<Index>& wanted) {
  return std::equal(shape.begin(), shape.end(), wanted.begin(), wanted.end(),
                    [](Index a, Index b) { return b == IndexCache::kAnyExtent || a == b; });
}

/// Returns the shape with the extent that follows from the number of elements.
std::vector<Index> completed(std::vector<Index> shape, Index elements) {
  Index known = 1;
  for (const Index extent : shape) {
    known *= extent == IndexCache::kAnyExtent ? 1 : extent;
  }
  std::replace(shape.begin(), shape.end(), IndexCache::kAnyExtent,
               elements / std::max(known, Index{1}));
  return shape;
}

}  // namespace

IndexCache::IndexCache(std::filesystem::path folder, std::string class_and_split,
                       std::string description, IndexContent content)
    : folder_(std::move(folder)),
      stem_(md5_hex(description) + "-" + class_and_split + content.variant),
      description_(std::move(description)),
      content_(std::move(content.sequences)) {}

bool IndexCache::has_content() const {
  const std::filesystem::path file = path("content.txt");
  try {
    return std::filesystem::exists(file) && read_file(file) == content_;
  } catch (const Error& error) {
    log::warning("{}", error.what());
    return false;
  }
}

std::filesystem::path IndexCache::path(const std::string& name) const {
  return folder_ / (stem_ + "-" + name);
}

std::vector<IndexArray> IndexCache::get(
    const std::vector<std::string>& names, const std::vector<std::vector<Index>>& shapes,
    const std::function<std::vector<IndexArray>()>& build) const {
  if (folder_.empty()) {
    return build();
  }
  if (auto found = load(names, shapes)) {
    return std::move(*found);
  }
  std::error_code ignored;  // `store` tells what is wrong with the folder
  std::filesystem::create_directories(folder_, ignored);
  const BuildLock lock(path("lock"));
  if (auto found = load(names, shapes)) {
    return std::move(*found);
  }
  std::vector<IndexArray> built = build();
  store(names, shapes, built);
  return built;
}

std::optional<std::vector<IndexArray>> IndexCache::load(
    const std::vector<std::string>& names, const std::vector<std::vector<Index>>& shapes) const {
  if (folder_.empty() || names.empty() || !std::filesystem::exists(path(names[0] + ".npy"))) {
    return std::nullopt;
  }
  if (!has_content()) {
    log::warning("{}: not known to be the index of this corpus; building it anew",
                 path(names[0] + ".npy").string());
    return std::nullopt;
  }
  std::vector<IndexArray> arrays;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::filesystem::path file = path(names[i] + ".npy");
    if (!std::filesystem::exists(file)) {
      return std::nullopt;
    }
    try {
      io::NpyFile npy(file);
      if (!fits(npy.shape(), shapes[i]) || !is_index(npy.type())) {
        log::warning("{}: not the index of this corpus (it changed, perhaps); building it anew",
                     file.string());
        return std::nullopt;
      }
      arrays.emplace_back(std::move(npy));
    } catch (const Error& error) {
      log::warning("{}; building it anew", error.what());
      return std::nullopt;
    }
  }
  return arrays;
}

void IndexCache::store(const std::vector<std::string>& names,
                       const std::vector<std::vector<Index>>& shapes,
                       const std::vector<IndexArray>& arrays) const {
  if (folder_.empty()) {
    return;
  }
  try {
    std::filesystem::create_directories(folder_);
    for (std::size_t i = 0; i < names.size(); ++i) {
      io::write_npy(path(names[i] + ".npy"), arrays[i].type(),
                    completed(shapes[i], arrays[i].size()), arrays[i].bytes());
    }
    // The content comes last: what it says holds for all files.
    for (const auto& [name, text] :
         {std::pair("description.txt", &description_), std::pair("content.txt", &content_)}) {
      AtomicFile file(path(name));
      file.write(*text);
      file.commit();
    }
  } catch (const std::exception& error) {
    log::warning("no index cache (set --data-cache-path to a writable folder): {}", error.what());
  }
}

}  // namespace mpitron::data

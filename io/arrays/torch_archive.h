#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/arrays/element_type.h"
#include "io/arrays/pickle.h"
#include "io/arrays/zip_archive.h"
#include "utils/numbers/shape.h"

namespace mpitron::io {

/// A tensor of a torch file: a strided view of a storage. Everything lies inside the storage.
struct TorchTensor {
  ElementType type = ElementType::f32;
  std::vector<Index> shape;
  std::vector<Index> stride;           // elements
  std::span<const std::byte> storage;  // from the tensor's first element on

  Index numel() const;
  bool contiguous() const;
  /// Row-major; `out` has room for numel() elements.
  void copy_to(std::byte* out) const;
};

/// What torch.save wrote (version 1.6 and later): a zip archive with a pickle and the storages. The
/// pickle is read as data, see Pickle; of its globals those that make up tensors have a meaning
/// here. Error(data) names the source.
class TorchArchive {
 public:
  /// `bytes` must outlive this.
  TorchArchive(std::span<const std::byte> bytes, const std::string& source);

  const PickleValue& root() const { return pickle_.root(); }
  /// `what` is its name in messages. Error(data) for anything but a tensor that lies in this file;
  /// the global that it would need is named.
  TorchTensor tensor(const PickleValue& value, std::string_view what) const;
  const std::string& source() const { return zip_.source(); }

 private:
  std::span<const std::byte> entry(std::string_view name) const;

  ZipArchive zip_;
  std::string prefix_;  // the archive's only folder, with a slash
  Pickle pickle_;
};

/// A torch.Size, tuple or list of natural numbers; false for anything else.
bool read_extents(const PickleValue& value, std::vector<Index>& out);

}  // namespace mpitron::io

#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "convert/description/model_description.h"
#include "convert/formats/tensor_source.h"
#include "io/arrays/pickle.h"
#include "utils/system/files.h"

namespace mpitron::convert {

/// A Megatron checkpoint of `--ckpt-format torch_dist`: `.metadata` says which piece of which
/// global tensor lies where in the files `__R_S.distcp`, `common.pt` has the arguments. Layers that
/// are stacked along a first dimension are taken apart; names are ours. Optimizer states are left
/// out. Nothing in the files is run. Error(data) for pieces that are missing or outside their file.
class MegatronDist : public TensorSource {
 public:
  /// Opens iter_0000123, or the folder with the tracker, and reads the metadata; tensors are read
  /// later.
  explicit MegatronDist(const std::filesystem::path& path);

  const std::vector<TensorInfo>& tensors() const override { return tensors_; }
  HostTensor read(const std::string& name) override;

  const ModelDescription& description() const { return description_; }

 private:
  using Extents = std::vector<Index>;
  /// A stretch of a file: an archive with one tensor.
  struct Stored {
    std::string file;
    Index offset = 0, bytes = 0;
  };
  /// A block of a global tensor.
  struct Chunk {
    Extents offset, size;
  };
  /// A tensor as the metadata describes it, before layers are taken apart.
  struct Global {
    DType dtype = DType::f32;
    Extents size;
    std::vector<Chunk> chunks;
  };
  /// One of our tensors, or a part of its rows: a whole global one, or one layer of it.
  struct Source {
    std::string key;
    Index layer = -1;  // index in the first dimension; -1: all of it
  };

  void read_arguments();
  void read_metadata();
  void read_tensors(const io::PickleValue& list);
  void read_places(const io::PickleValue& list);
  void add_parameter(const std::string& key, const Global& global);
  /// `info` has our name of the source's key.
  void add_tensor(TensorInfo info, const Source& source);
  HostTensor read_key(const Source& source, const TensorInfo& info);
  /// Copies the part of a chunk that belongs to the tensor; returns how many elements.
  Index copy_chunk(const Source& source, const Global& global, const Chunk& chunk,
                   HostTensor& result);
  const MappedFile& file(const std::string& name);
  [[noreturn]] void broken(const std::string& what) const;

  std::filesystem::path folder_;
  std::map<std::string, Global> globals_;
  std::map<std::string, Stored> stored_;  // by place_key
  std::map<std::string, MappedFile> files_;
  std::map<std::string, std::vector<Source>> sources_;  // by our name: one, or one a part
  std::vector<TensorInfo> tensors_;
  ModelDescription description_;
};

/// Returns whether there is a `.metadata`.
bool is_megatron_dist(const std::filesystem::path& path);

}  // namespace mpitron::convert

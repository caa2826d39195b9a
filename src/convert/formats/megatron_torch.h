#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "convert/description/model_description.h"
#include "convert/formats/tensor_source.h"
#include "io/arrays/torch_archive.h"
#include "utils/system/files.h"

namespace mpitron::convert {

/// A Megatron checkpoint of `--ckpt-format torch`: a folder mp_rank_TT[_PPP] for each tensor and
/// pipeline rank, with model_optim_rng.pt. The shards are put together while a tensor is read;
/// names are ours. Nothing in the files is run. Error(data) for a rank that is missing, shards that
/// do not fit, copies that differ.
class MegatronTorch : public TensorSource {
 public:
  /// Opens iter_0000123, or the folder with the tracker: all ranks' files are mapped and listed,
  /// tensors are read later.
  explicit MegatronTorch(const std::filesystem::path& path);

  const std::vector<TensorInfo>& tensors() const override { return tensors_; }
  HostTensor read(const std::string& name) override;

  const ModelDescription& description() const { return description_; }
  /// Names the output matrices that the last stage keeps as a copy of the embedding.
  const std::vector<std::string>& ignored() const { return ignored_; }

 private:
  /// The mapped file of a rank; the archive views it.
  struct RankFile {
    explicit RankFile(const std::filesystem::path& path)
        : mapped(path), archive(mapped.bytes(), path.string()) {}
    MappedFile mapped;
    io::TorchArchive archive;
  };
  /// A parameter on every tensor parallel rank.
  struct Shards {
    std::size_t stage = 0;
    std::vector<const io::PickleValue*> values;
  };

  void open_ranks(const std::filesystem::path& folder);
  const RankFile& rank(std::size_t tensor_rank, std::size_t stage) const {
    return *ranks_[stage * tensor_ranks_ + tensor_rank];
  }
  void read_description(const std::filesystem::path& folder);
  void collect_parameters();
  void add_chunk(std::size_t stage, const std::string& key, Index first_layer);
  void add_parameter(std::size_t tensor_rank, std::size_t stage, const std::string& name,
                     const io::PickleValue& value);
  std::vector<io::TorchTensor> shards_of(const std::string& name) const;
  TensorInfo global_info(const std::string& name) const;

  std::vector<std::unique_ptr<RankFile>> ranks_;  // stage-major
  std::size_t tensor_ranks_ = 0, stages_ = 0;
  std::map<std::string, Shards> shards_;
  std::vector<TensorInfo> tensors_;
  std::vector<std::string> ignored_;
  ModelDescription description_;
};

/// Returns whether there are folders mp_rank_TT.
bool is_megatron_torch(const std::filesystem::path& path);

}  // namespace mpitron::convert

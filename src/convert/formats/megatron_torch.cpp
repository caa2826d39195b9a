#include "convert/formats/megatron_torch.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <set>

#include "convert/formats/format.h"
#include "convert/formats/megatron_names.h"
#include "utils/error.h"

// Megatron's older checkpoints, a folder for each rank: numbers of layers count within a pipeline
// stage, and a tensor is joined from the files of all tensor parallel ranks.

namespace mpitron::convert {
namespace {

namespace fs = std::filesystem;
using io::PickleValue;
using io::TorchTensor;

constexpr const char *kTorchFile = "model_optim_rng.pt", *kPrefix = "mp_rank_",
                     *kLayers = "decoder.layers.";

/// The place of a rank's folder, ordered by stage.
struct RankName {
  std::size_t tensor = 0, stage = 0;
  bool operator<(const RankName& other) const {
    return std::pair(stage, tensor) < std::pair(other.stage, other.tensor);
  }
};

/// Reads "mp_rank_01" or "mp_rank_01_003"; none for other names. A third number would be an expert
/// rank, whose experts are numbered within it: refused.
std::optional<RankName> parse_rank_name(const std::string& name) {
  if (!name.starts_with(kPrefix)) {
    return std::nullopt;
  }
  RankName rank;
  const char *at = name.data() + std::strlen(kPrefix), *const end = name.data() + name.size();
  auto result = std::from_chars(at, end, rank.tensor);
  if (result.ec == std::errc{} && result.ptr != end && *result.ptr == '_') {
    result = std::from_chars(result.ptr + 1, end, rank.stage);
  }
  if (result.ec != std::errc{} || result.ptr != end) {
    throw_data(
        "{}: expected mp_rank_TT or mp_rank_TT_PPP (expert parallel checkpoints cannot be "
        "read)",
        name);
  }
  return rank;
}

/// Returns the number of the layer in a name, and the text behind it.
std::optional<std::pair<Index, std::string>> layer_in(const std::string& name) {
  if (!name.starts_with(kLayers)) {
    return std::nullopt;
  }
  Index layer = -1;
  const char* at = name.data() + std::strlen(kLayers);
  const auto result = std::from_chars(at, name.data() + name.size(), layer);
  if (result.ec != std::errc{} || layer < 0 || layer > 1'000'000) {
    return std::nullopt;
  }
  return std::pair(layer, std::string(result.ptr));
}

/// Calls `use(name, value)` for every parameter of a state_dict.
template <class Use>
void for_each_parameter(const PickleValue& state_dict, const Use& use) {
  for (std::size_t i = 0; i + 1 < state_dict.entries.size(); i += 2) {
    const PickleValue& key = *state_dict.entries[i];
    if (key.kind != PickleValue::Kind::text) {
      continue;
    }
    const std::string name = our_name_of(std::string(key.text));
    if (!is_extra_state(name)) {
      use(name, *state_dict.entries[i + 1]);
    }
  }
}

/// Counts the layers of a chunk, which it numbers from 0.
Index layers_in(const PickleValue& state_dict) {
  std::set<Index> layers;
  for_each_parameter(state_dict, [&](const std::string& name, const PickleValue&) {
    if (const auto layer = layer_in(name)) {
      layers.insert(layer->first);
    }
  });
  return static_cast<Index>(layers.size());
}

/// Joins shards by rows: each has its piece of every part, one below the other.
void join_rows(const std::vector<TorchTensor>& shards, const std::vector<RowPart>& parts,
               HostTensor& result) {
  const std::size_t row = result.bytes().size() / static_cast<std::size_t>(result.shape()[0]);
  std::vector<std::byte> shard(result.bytes().size() / shards.size());
  for (std::size_t rank = 0; rank < shards.size(); ++rank) {
    shards[rank].copy_to(shard.data());
    const std::byte* from = shard.data();
    std::byte* to = result.data();
    for (const RowPart& part : parts) {
      const std::size_t whole = static_cast<std::size_t>(part.rows) * row;
      const std::size_t piece = whole / shards.size();
      std::memcpy(to + rank * piece, from, piece);
      from += piece, to += whole;
    }
  }
}

/// Returns whether the parts make up all rows, each with the same number for every rank.
bool fits(const std::vector<RowPart>& parts, Index rows, Index ranks) {
  for (const RowPart& part : parts) {
    rows -= part.rows;
    if (part.rows % ranks != 0) {
      return false;
    }
  }
  return rows == 0;
}

/// Joins shards side by side.
void join_columns(const std::vector<TorchTensor>& shards, HostTensor& result) {
  const auto rows = static_cast<std::size_t>(result.shape()[0]);
  const std::size_t row = result.bytes().size() / rows, piece = row / shards.size();
  std::vector<std::byte> shard(rows * piece);
  for (std::size_t rank = 0; rank < shards.size(); ++rank) {
    shards[rank].copy_to(shard.data());
    for (std::size_t i = 0; i < rows; ++i) {
      std::memcpy(result.data() + i * row + rank * piece, shard.data() + i * piece, piece);
    }
  }
}

/// Compares what all tensor parallel ranks hold whole (norms, biases behind a sum): copies that
/// drifted apart are a damaged run, and none of them is the right one.
void check_copies(const std::vector<TorchTensor>& copies, const HostTensor& first,
                  const std::string& name) {
  std::vector<std::byte> other(first.bytes().size());
  for (std::size_t rank = 1; rank < copies.size(); ++rank) {
    copies[rank].copy_to(other.data());
    if (!std::ranges::equal(other, first.bytes())) {
      throw_data("{}: tensor parallel ranks 0 and {} should have the same values and differ", name,
                 rank);
    }
  }
}

}  // namespace

MegatronTorch::MegatronTorch(const fs::path& path) {
  const fs::path folder = iteration_folder(path);
  open_ranks(folder);
  read_description(folder);
  collect_parameters();
  for (const auto& [name, shards] : shards_) {
    tensors_.push_back(global_info(name));
  }
}

/// Maps every rank's file; folders must make up a full grid of tensor ranks and stages.
void MegatronTorch::open_ranks(const fs::path& folder) {
  std::map<RankName, fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (const auto rank = parse_rank_name(entry.path().filename().string())) {
      files[*rank] = entry.path() / kTorchFile;
      tensor_ranks_ = std::max(tensor_ranks_, rank->tensor + 1);
      stages_ = std::max(stages_, rank->stage + 1);
    }
  }
  if (files.empty() || files.size() != tensor_ranks_ * stages_) {
    throw_data("{}: {} folders mp_rank_TT_PPP, expected {} tensor ranks times {} stages",
               folder.string(), files.size(), tensor_ranks_, stages_);
  }
  for (const auto& [rank, file] : files) {
    ranks_.push_back(std::make_unique<RankFile>(file));
  }
}

/// Reads the arguments of the first rank; all ranks store the same.
void MegatronTorch::read_description(const fs::path& folder) {
  const io::TorchArchive& first = rank(0, 0).archive;
  const PickleValue* arguments = first.root().find("args");
  if (arguments == nullptr) {
    throw_data("{}: no 'args': not a checkpoint of Megatron", first.source());
  }
  bool has_positions = false;
  for (const char* key : {"model", "model0"}) {
    if (const PickleValue* chunk = first.root().find(key)) {
      for_each_parameter(*chunk, [&](const std::string& name, const PickleValue&) {
        has_positions = has_positions || name == kPositions;
      });
    }
  }
  description_ = read_megatron_arguments(*arguments, first.source(), has_positions);
  description_.iteration = iteration_of(folder);
}

/// Walks chunks and stages in the order of the layers: chunks lie over the layers chunk by chunk,
/// and in each chunk stage by stage (interleaved pipelines have model0, model1, ...).
void MegatronTorch::collect_parameters() {
  std::vector<std::string> keys;
  for (int chunk = 0; rank(0, 0).archive.root().find("model" + std::to_string(chunk)); ++chunk) {
    keys.push_back("model" + std::to_string(chunk));
  }
  if (keys.empty()) {
    keys.emplace_back("model");
  }
  Index layer = 0;
  for (const std::string& key : keys) {
    for (std::size_t stage = 0; stage < stages_; ++stage) {
      const PickleValue* chunk = rank(0, stage).archive.root().find(key);
      if (chunk == nullptr) {
        throw_data("{}: no '{}'", rank(0, stage).archive.source(), key);
      }
      add_chunk(stage, key, layer);
      layer += layers_in(*chunk);
    }
  }
  if (layer != description_.model.num_layers) {
    throw_data("{}: {} layers in all stages, num_layers is {}", rank(0, 0).archive.source(), layer,
               description_.model.num_layers);
  }
}

/// Lists a chunk's parameters of all tensor ranks, with layers renumbered from `first_layer` on.
void MegatronTorch::add_chunk(std::size_t stage, const std::string& key, Index first_layer) {
  for (std::size_t tensor_rank = 0; tensor_rank < tensor_ranks_; ++tensor_rank) {
    const PickleValue* chunk = rank(tensor_rank, stage).archive.root().find(key);
    if (chunk == nullptr) {
      throw_data("{}: no '{}'", rank(tensor_rank, stage).archive.source(), key);
    }
    for_each_parameter(*chunk, [&](const std::string& name, const PickleValue& value) {
      const auto layer = layer_in(name);
      add_parameter(
          tensor_rank, stage,
          layer ? kLayers + std::to_string(first_layer + layer->first) + layer->second : name,
          value);
    });
  }
}

/// Notes a rank's shard. The output layer of a tied model is a copy of the embedding on the last
/// stage, and ignored.
void MegatronTorch::add_parameter(std::size_t tensor_rank, std::size_t stage,
                                  const std::string& name, const PickleValue& value) {
  if (name == "output_layer.weight" && !description_.model.untie_embeddings_and_output_weights) {
    if (tensor_rank == 0) {
      ignored_.push_back(name);
    }
    return;
  }
  const auto [at, fresh] = shards_.try_emplace(name);
  Shards& shards = at->second;
  if (fresh) {
    shards.stage = stage;
    shards.values.resize(tensor_ranks_);
  } else if (shards.stage != stage) {
    return;  // a tied embedding that another stage holds as well
  }
  shards.values[tensor_rank] = &value;
}

/// Returns the shards in the order of tensor ranks; Error(data) where one is missing or differs in
/// shape or type.
std::vector<TorchTensor> MegatronTorch::shards_of(const std::string& name) const {
  const auto found = shards_.find(name);
  if (found == shards_.end()) {
    throw_data("{}: no parameter {}", rank(0, 0).archive.source(), name);
  }
  const Shards& shards = found->second;
  std::vector<TorchTensor> tensors;
  for (std::size_t i = 0; i < tensor_ranks_; ++i) {
    const io::TorchArchive& archive = rank(i, shards.stage).archive;
    if (shards.values[i] == nullptr) {
      throw_data("{}: no parameter {}, which tensor rank 0 has", archive.source(), name);
    }
    tensors.push_back(archive.tensor(*shards.values[i], name));
    if (tensors.back().shape != tensors[0].shape || tensors.back().type != tensors[0].type) {
      throw_data("{}: {} has another shape or type than on tensor rank 0", archive.source(), name);
    }
  }
  return tensors;
}

/// Returns type and shape of the whole tensor, from its first shard and the way it is divided.
TensorInfo MegatronTorch::global_info(const std::string& name) const {
  const std::vector<TorchTensor> shards = shards_of(name);
  const std::string& source = rank(0, shards_.at(name).stage).archive.source();
  TensorInfo info = info_of(shards[0], name, source);
  const Division division = division_of(name);
  const auto count = static_cast<Index>(shards.size());
  const int dim = division == Division::columns ? 1 : 0;
  if (division == Division::whole) {
    return info;
  }
  const Index rows = info.shape.rank() > dim ? info.shape[0] * (dim == 0 ? count : 1) : 0;
  if (rows == 0 || (dim == 0 && !fits(parts_of(name, description_.model, rows), rows, count))) {
    throw_data("{}: {} has the shape {}, which cannot be a shard", source, name,
               to_string(info.shape));
  }
  info.shape[dim] *= count;
  return info;
}

/// Joins the shards by the way in which Megatron divides this parameter.
HostTensor MegatronTorch::read(const std::string& name) {
  const TensorInfo info = global_info(name);
  const std::vector<TorchTensor> shards = shards_of(name);
  // A single shard needs no memory of its own.
  if (shards.size() == 1 && shards[0].contiguous()) {
    return HostTensor(info, shards[0].storage.first(static_cast<std::size_t>(info.bytes())));
  }
  HostTensor result(info);
  switch (division_of(name)) {
    case Division::whole:
      shards[0].copy_to(result.data());
      check_copies(shards, result, name);
      break;
    case Division::rows:
      join_rows(shards, parts_of(name, description_.model, info.shape[0]), result);
      break;
    case Division::columns:
      join_columns(shards, result);
      break;
  }
  return result;
}

/// Looks for folders mp_rank_... in the folder, or in that of the iteration that it names.
bool is_megatron_torch(const fs::path& path) {
  if (!fs::is_directory(path)) {
    return false;
  }
  const fs::path folder = iteration_folder(path);
  if (!fs::is_directory(folder)) {
    return false;
  }
  return std::ranges::any_of(fs::directory_iterator(folder), [](const fs::directory_entry& entry) {
    return entry.path().filename().string().starts_with(kPrefix);
  });
}

}  // namespace mpitron::convert

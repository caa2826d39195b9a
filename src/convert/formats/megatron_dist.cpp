#include "convert/formats/megatron_dist.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <fmt/ranges.h>

#include "convert/formats/format.h"
#include "convert/formats/megatron_names.h"
#include "io/arrays/torch_archive.h"
#include "utils/error.h"

// Megatron's sharded checkpoints: the metadata is a pickle of PyTorch's distributed checkpoints;
// each piece is a tensor in a torch archive inside a larger file. A tensor is put together from the
// pieces that cover it, each element once.

namespace mpitron::convert {
namespace {

namespace fs = std::filesystem;
using io::PickleValue;
using Kind = io::PickleValue::Kind;

constexpr const char *kMetadata = ".metadata", *kCommon = "common.pt",
                     *kStacked = "decoder.layers.";

/// Types of weights, by the global names under which PyTorch pickles them.
constexpr std::pair<std::string_view, DType> kTensorTypes[] = {
    {"torch.float32", DType::f32}, {"torch.bfloat16", DType::bf16}, {"torch.float16", DType::f16}};

/// Returns the key under which the place of a piece is looked up: the tensor's name and the piece's
/// offset.
std::string place_key(std::string_view name, const std::vector<Index>& offset) {
  return fmt::format("{} {}", name, fmt::join(offset, ","));
}

/// Returns the element type in a TensorProperties, whose state is a tuple or, in older versions, a
/// dictionary; null for types that weights do not have.
const DType* dtype_in(const PickleValue& properties) {
  const PickleValue* value = properties.find("dtype");
  if (value == nullptr && properties.state != nullptr && !properties.state->items.empty()) {
    value = properties.state->items[0];
  }
  if (value == nullptr) {
    return nullptr;
  }
  const auto* found = std::ranges::find(kTensorTypes, value->global_name(),
                                        &std::pair<std::string_view, DType>::first);
  return found == std::end(kTensorTypes) ? nullptr : &found->second;
}

bool read_member(const PickleValue& object, const char* name, std::vector<Index>& out) {
  const PickleValue* value = object.find(name);
  return value != nullptr && io::read_extents(*value, out);
}

Index product(const std::vector<Index>& extents) {
  return std::accumulate(extents.begin(), extents.end(), Index{1}, std::multiplies<>());
}

/// Returns the number of elements; -1 where an extent is 0 or there are more than `limit`.
Index bounded_product(const std::vector<Index>& extents, Index limit) {
  Index numel = 1;
  for (const Index extent : extents) {
    if (extent == 0 || __builtin_mul_overflow(numel, extent, &numel) || numel > limit) {
      return -1;
    }
  }
  return numel;
}

/// Returns whether a block lies inside an array. Sizes are compared by subtraction, since the sum
/// of offset and size could overflow.
bool is_inside(const std::vector<Index>& offset, const std::vector<Index>& size,
               const std::vector<Index>& whole) {
  if (offset.size() != whole.size() || size.size() != whole.size()) {
    return false;
  }
  for (std::size_t d = 0; d < whole.size(); ++d) {
    if (size[d] == 0 || offset[d] > whole[d] || size[d] > whole[d] - offset[d]) {
      return false;
    }
  }
  return true;
}

/// Returns the bytes of all files beside the metadata: what they can hold at most.
Index bytes_of_files(const fs::path& folder) {
  std::uintmax_t sum = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".distcp" && entry.is_regular_file()) {
      sum += entry.file_size();
    }
  }
  return static_cast<Index>(sum);
}

/// Returns the row-major distances between neighbours.
std::vector<Index> strides_of(const std::vector<Index>& extents) {
  std::vector<Index> strides(extents.size(), 1);
  for (std::size_t i = extents.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * extents[i];
  }
  return strides;
}

/// Copies a block into a larger array at `offset`, row by row of the last dimension.
void copy_block(const std::byte* from, const std::vector<Index>& size, std::byte* to,
                const std::vector<Index>& to_size, const std::vector<Index>& offset,
                Index element) {
  const std::vector<Index> to_strides = strides_of(to_size);
  const Index row = size.empty() ? 1 : size.back(), rows = product(size) / row;
  std::vector<Index> at(size.size());
  for (Index i = 0; i < rows; ++i) {
    Index place = 0;
    for (std::size_t d = 0; d < size.size(); ++d) {
      place += (at[d] + offset[d]) * to_strides[d];
    }
    std::memcpy(to + place * element, from + i * row * element,
                static_cast<std::size_t>(row * element));
    for (std::size_t d = size.size(); d-- > 1;) {
      const std::size_t outer = d - 1;
      if (++at[outer] < size[outer]) {
        break;
      }
      at[outer] = 0;
    }
  }
}

}  // namespace

MegatronDist::MegatronDist(const fs::path& path) : folder_(iteration_folder(path)) {
  read_metadata();
  read_arguments();
  for (const auto& [key, global] : globals_) {
    add_parameter(key, global);
  }
}

/// All that is unexpected in the metadata ends here: such files come from a damaged copy or from a
/// release whose metadata has another form.
void MegatronDist::broken(const std::string& what) const {
  throw_data("{}: {}: corrupt, or of an unknown version", (folder_ / kMetadata).string(), what);
}

void MegatronDist::read_arguments() {
  const fs::path path = folder_ / kCommon;
  const MappedFile mapped(path);
  const io::TorchArchive archive(mapped.bytes(), path.string());
  const PickleValue* arguments = archive.root().find("args");
  if (arguments == nullptr) {
    throw_data("{}: no 'args': not a checkpoint of Megatron", path.string());
  }
  description_ = read_megatron_arguments(*arguments, path.string(), globals_.contains(kPositions));
  description_.iteration = iteration_of(folder_);
}

void MegatronDist::read_metadata() {
  const fs::path path = folder_ / kMetadata;
  const MappedFile mapped(path);
  const io::Pickle pickle(mapped.bytes(), path.string());
  const PickleValue* tensors = pickle.root().find("state_dict_metadata");
  const PickleValue* places = pickle.root().find("storage_data");
  if (tensors == nullptr || places == nullptr) {
    broken(
        fmt::format("no state_dict_metadata and storage_data in {}", pickle.root().global_name()));
  }
  read_tensors(*tensors);
  read_places(*places);
}

/// Collects the global tensors that are parameters, with their pieces. Sizes are held against the
/// bytes on disk before memory for them is asked for.
void MegatronDist::read_tensors(const PickleValue& list) {
  const Index most_bytes = bytes_of_files(folder_);
  for (std::size_t i = 0; i + 1 < list.entries.size(); i += 2) {
    const std::string key(list.entries[i]->text);
    const PickleValue& value = *list.entries[i + 1];
    const PickleValue* properties = value.find("properties");
    const PickleValue* chunks = value.find("chunks");
    if (key.starts_with("optimizer.") || key.starts_with("rng_state") ||
        key.starts_with("rerun_state") || is_extra_state(key) || properties == nullptr) {
      continue;  // no parameter
    }
    const DType* dtype = dtype_in(*properties);
    Global global;
    if (dtype == nullptr || chunks == nullptr || !read_member(value, "size", global.size)) {
      broken(fmt::format("{}: expected a type (fp32, bf16 or fp16), a size and chunks", key));
    }
    global.dtype = *dtype;
    if (bounded_product(global.size, most_bytes / static_cast<Index>(size_of(*dtype))) < 0) {
      broken(fmt::format("{}: [{}] is more than the {} bytes of all files", key,
                         fmt::join(global.size, ", "), most_bytes));
    }
    for (const PickleValue* item : chunks->items) {
      Chunk chunk;
      if (!read_member(*item, "offsets", chunk.offset) ||
          !read_member(*item, "sizes", chunk.size) ||
          !is_inside(chunk.offset, chunk.size, global.size)) {
        broken(fmt::format("{}: expected a chunk inside [{}]", key, fmt::join(global.size, ", ")));
      }
      global.chunks.push_back(std::move(chunk));
    }
    globals_.emplace(key, std::move(global));
  }
}

/// Collects where each piece lies. A name with a folder in it is refused: metadata must not reach
/// outside its checkpoint.
void MegatronDist::read_places(const PickleValue& list) {
  for (std::size_t i = 0; i + 1 < list.entries.size(); i += 2) {
    const PickleValue &index = *list.entries[i], &place = *list.entries[i + 1];
    const PickleValue *name = index.find("fqn"), *path = place.find("relative_path"),
                      *offset = place.find("offset"), *length = place.find("length");
    std::vector<Index> position;
    if (name == nullptr || path == nullptr || offset == nullptr || length == nullptr) {
      broken("an entry of storage_data without name, file, offset and length");
    }
    if (!read_member(index, "offset", position)) {
      continue;  // bytes, not a tensor
    }
    const std::string file(path->text);
    if (fs::path(file).filename() != fs::path(file) || offset->integer < 0 || length->integer < 0) {
      broken(fmt::format("{} lies in '{}' at {}: expected a file of this folder", name->text, file,
                         offset->integer));
    }
    stored_[place_key(name->text, position)] = {file, offset->integer, length->integer};
  }
}

/// Lists a global tensor under our names: parameters of all layers are one tensor there, unless the
/// layers differ.
void MegatronDist::add_parameter(const std::string& key, const Global& global) {
  const std::size_t prefix = std::strlen(kStacked);
  const bool stacked =
      key.starts_with(kStacked) && key.size() > prefix && std::isalpha(key[prefix]) != 0;
  const Index layers = description_.model.num_layers;
  if (global.size.size() > Shape::kMaxRank + (stacked ? 1 : 0) || global.size.empty() ||
      (stacked && (global.size[0] != layers || layers > config::kMostLayers))) {
    broken(fmt::format("{} has the size [{}] with {} layers", key, fmt::join(global.size, ", "),
                       layers));
  }
  TensorInfo info{"", {}, global.dtype};
  for (std::size_t d = stacked ? 1 : 0; d < global.size.size(); ++d) {
    info.shape.push_back(global.size[d]);
  }
  for (Index layer = 0; layer < (stacked ? layers : 1); ++layer) {
    info.name = stacked ? our_name_of(kStacked + std::to_string(layer) + "." + key.substr(prefix))
                        : our_name_of(key);
    add_tensor(info, {key, stacked ? layer : -1});
  }
}

/// Lists a tensor, or notes it as a part: parts of a parameter have keys of their own, whose last
/// words name them.
void MegatronDist::add_tensor(TensorInfo info, const Source& source) {
  const std::size_t point = info.name.rfind('.');
  const std::string parameter = info.name.substr(0, point), word = info.name.substr(point + 1);
  const std::vector<RowPart> parts = parts_of(parameter, description_.model, 0);
  const auto part = std::ranges::find(parts, word, &RowPart::name);
  if (part == parts.end()) {
    sources_[info.name] = {source};
    tensors_.push_back(std::move(info));
    return;
  }
  if (info.shape[0] != part->rows) {
    broken(fmt::format("{} has {} rows, expected {}", source.key, info.shape[0], part->rows));
  }
  const auto [at, fresh] = sources_.try_emplace(parameter, parts.size());
  if (at->second.size() != parts.size()) {
    broken(parameter + " is there as a whole and in parts");
  }
  at->second[static_cast<std::size_t>(part - parts.begin())] = source;
  if (fresh) {
    info.name = parameter;
    info.shape[0] = 0;
    for (const RowPart& each : parts) {
      info.shape[0] += each.rows;
    }
    tensors_.push_back(std::move(info));
  }
}

const MappedFile& MegatronDist::file(const std::string& name) {
  const auto found = files_.find(name);
  return found != files_.end() ? found->second
                               : files_.emplace(name, MappedFile(folder_ / name)).first->second;
}

/// Opens the archive of one tensor inside the larger file, compares its shape and type with the
/// metadata, and copies the rows of the asked layer.
Index MegatronDist::copy_chunk(const Source& source, const Global& global, const Chunk& chunk,
                               HostTensor& result) {
  const bool stacked = source.layer >= 0;
  if (stacked &&
      (source.layer < chunk.offset[0] || source.layer - chunk.offset[0] >= chunk.size[0])) {
    return 0;
  }
  const auto place = stored_.find(place_key(source.key, chunk.offset));
  if (place == stored_.end()) {
    broken(fmt::format("{}: no place for the chunk at [{}]", source.key,
                       fmt::join(chunk.offset, ", ")));
  }
  const Stored& stored = place->second;
  const auto bytes = file(stored.file).bytes();
  const auto all = static_cast<Index>(bytes.size());
  if (stored.offset > all || stored.bytes > all - stored.offset) {
    throw_data("{}: {} bytes, but {} has {} from byte {} on: truncated",
               (folder_ / stored.file).string(), all, source.key, stored.bytes, stored.offset);
  }
  const io::TorchArchive archive(
      bytes.subspan(static_cast<std::size_t>(stored.offset),
                    static_cast<std::size_t>(stored.bytes)),
      fmt::format("{}:{}", (folder_ / stored.file).string(), stored.offset));
  const io::TorchTensor tensor = archive.tensor(archive.root(), source.key);
  if (tensor.shape != chunk.size ||
      info_of(tensor, source.key, archive.source()).dtype != global.dtype) {
    throw_data("{}: {}: another shape or type than the metadata says", archive.source(),
               source.key);
  }
  const auto element = static_cast<Index>(size_of(global.dtype));
  std::vector<std::byte> data;
  const std::byte* from = tensor.storage.data();
  if (!tensor.contiguous()) {
    data.resize(static_cast<std::size_t>(tensor.numel() * element));
    tensor.copy_to(data.data());
    from = data.data();
  }
  std::vector<Index> size = chunk.size, offset = chunk.offset, whole = global.size;
  if (stacked) {
    for (auto* extents : {&size, &offset, &whole}) {
      extents->erase(extents->begin());
    }
    from += (source.layer - chunk.offset[0]) * product(size) * element;
  }
  copy_block(from, size, result.data(), whole, offset, element);
  return product(size);
}

/// Puts a parameter together: its parts one below the other, each from its chunks.
HostTensor MegatronDist::read(const std::string& name) {
  const TensorInfo* info = find(name);
  if (info == nullptr) {
    broken("no parameter " + name);
  }
  const std::vector<Source>& sources = sources_.at(name);
  if (sources.size() == 1) {
    return read_key(sources.front(), *info);
  }
  HostTensor result(*info);
  std::byte* to = result.data();
  const std::vector<RowPart> parts = parts_of(name, description_.model, info->shape[0]);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (sources[i].key.empty()) {
      broken(fmt::format("{}: no part {}", name, parts[i].name));
    }
    TensorInfo part = *info;
    part.shape[0] = parts[i].rows;
    const HostTensor rows = read_key(sources[i], part);
    std::ranges::copy(rows.bytes(), to);
    to += rows.bytes().size();
  }
  return result;
}

/// Reads one global tensor, or one layer of it, of the shape and type that `info` says. Chunks lie
/// inside the tensor each; that their sizes add up shows that none is missing.
HostTensor MegatronDist::read_key(const Source& source, const TensorInfo& info) {
  const Global& global = globals_.at(source.key);
  Shape shape;
  for (std::size_t d = source.layer >= 0 ? 1 : 0; d < global.size.size(); ++d) {
    shape.push_back(global.size[d]);
  }
  if (global.dtype != info.dtype || shape != info.shape) {
    broken(fmt::format("{}: {} of {} beside other parts", source.key, to_string(shape),
                       name_of(global.dtype)));
  }
  HostTensor result(info);
  Index copied = 0;
  for (const Chunk& chunk : global.chunks) {
    copied += copy_chunk(source, global, chunk, result);
  }
  if (copied != info.shape.numel()) {
    broken(
        fmt::format("{}: chunks hold {} of {} elements", source.key, copied, info.shape.numel()));
  }
  return result;
}

bool is_megatron_dist(const fs::path& path) {
  return fs::is_directory(path) && fs::exists(iteration_folder(path) / kMetadata);
}

}  // namespace mpitron::convert

#pragma once
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "autograd/parameter_list.h"
#include "device/device.h"
#include "kernels/attention/cached_attention.h"
#include "kernels/linear/packed_formats.h"
#include "kernels/state_space/state_types.h"

namespace mpitron::autograd {

/// Weights as generation reads them: each packed when a product first uses it. The parameters must
/// live longer and keep their values, but for those that were taken.
class PackedWeights {
 public:
  PackedWeights(device::Device& device, kernels::WeightFormat format)
      : device_(device), format_(format) {}

  kernels::WeightFormat format() const { return format_; }
  /// Whether products read packed weights: on a GPU they read numbers from the parameters
  /// themselves, and integers packed.
  bool packs() const { return device_.tensors_on_host() || kernels::facts(format_).group > 0; }
  const Tensor& of(const Parameter& weight);
  /// Packs a weight and gives up the memory of its value, which keeps its shape alone. Only for
  /// weights that nobody reads but by `of`.
  void take(Parameter& weight);
  /// Returns a matrix that some heads multiply with, made of a weight: `make` gives [heads, n, k].
  /// `part` tells apart what is made of one weight.
  const Tensor& of_heads(const Parameter& weight, int part, const std::function<Tensor()>& make);
  /// Counts the bytes of all that are packed so far.
  Index bytes() const { return bytes_; }

 private:
  Tensor pack(const Tensor& heads);

  device::Device& device_;
  kernels::WeightFormat format_;
  Index bytes_ = 0;
  std::unordered_map<const Parameter*, Tensor> whole_;
  std::map<std::pair<const Parameter*, int>, Tensor> of_heads_;
};

/// Keys and values of sequences, layer by layer, in blocks of positions. Who uses which block is
/// the caller's.
class KeyValueCache {
 public:
  struct Layer {
    Tensor keys, values;  // [blocks, g, block_size, d or dv]; no values where they are in the keys
    Tensor key_scales, value_scales;  // [blocks, g, block_size], of caches in 8 bits

    std::array<const Tensor*, 4> tensors() const {
      return {&keys, &values, &key_scales, &value_scales};
    }
  };
  /// Numbers that a position holds of one layer.
  struct Width {
    Index groups = 1, key = 1, value = 1;
    DType dtype = DType::f32;  // of the model
  };

  KeyValueCache(device::Device& device, Index blocks, Index block_size,
                kernels::CacheType type = kernels::CacheType::model)
      : device_(device), blocks_(blocks), block_size_(block_size), type_(type) {}

  /// The layer's memory, taken when it is first asked for. `number`: from 1.
  const Layer& layer(Index number, const Width& width);
  void copy_block(Index from, Index to);
  /// Makes the system hand out the memory of the first `used` blocks, and a little ahead: each
  /// tensor of the host a different part of a huge page, so that a growing cache waits for one page
  /// at a time instead of for those of all layers in one step. Nothing beyond is touched.
  void prepare(Index used);
  /// Counts the bytes of all layers so far.
  Index bytes() const;

 private:
  Tensor memory(const Width& width, Index numbers) const;
  Tensor scales(const Width& width, Index numbers) const;

  device::Device& device_;
  Index blocks_, block_size_;
  kernels::CacheType type_;
  std::vector<Layer> layers_;
  std::vector<Index> ready_;  // bytes of all tensors, layer by layer, that `prepare` asked for
};

/// States that layers carry from position to position in memory of a fixed size (the window of a
/// convolution, the state of a scan), in places for many sequences. A piece of a pass says from
/// which place a layer reads and to which it writes (CachedPiece), so that the caller takes a pass
/// back by reading the old place again.
class LayerStates {
 public:
  LayerStates(device::Device& device, Index places, kernels::StateTypes types = {})
      : device_(device), places_(places), types_(types) {}

  /// What layers give `of` as type.
  const kernels::StateTypes& types() const { return types_; }

  /// [places, of_one..]: part `part` (from 0) of layer `number` (from 1), taken when it is first
  /// asked for. A place holds what was written to it last.
  const Tensor& of(Index number, Index part, const Shape& of_one, DType dtype);
  /// Copies the states of all layers.
  void copy(Index from, Index to);
  Index bytes() const;

 private:
  device::Device& device_;
  Index places_;
  kernels::StateTypes types_;
  std::vector<std::vector<Tensor>> layers_;  // by number - 1 and part
};

/// Low-rank updates (Hu et al. 2021) that rows of generation have on top of a model whose weights
/// stay as they are: y + s B A x of every linear layer that they name. A model serves many at once.
class Adapter {
 public:
  /// Factors of one part of a layer: A [r, in] and B [out, r], as they lie on this rank.
  struct Factors {
    const Parameter* a = nullptr;
    const Parameter* b = nullptr;
    double scale = 1;
  };
  /// Factors of all parts that a layer's output fuses: A [R, in], B [out, R] with the factors s in
  /// it.
  struct Joined {
    Parameter a, b;
  };

  /// `number`: from 1, of no other adapter of the program. `factors`: by config::module_name of the
  /// parts; their parameters are in `parameters`. Products read them in the model's type.
  Adapter(device::Device& device, DType type, Index number,
          std::shared_ptr<ParameterList> parameters, std::map<std::string, Factors> factors);

  Index number() const { return number_; }
  /// Null where the part keeps its weights alone.
  const Factors* find(const std::string& part) const;
  /// Returns what a layer, known by its first part, adds: made when it is first asked for. Null
  /// where nothing of the layer is updated; then `make` gives parameters without values.
  Joined* of_layer(const std::string& first_part, const std::function<Joined()>& make);
  /// Returns the weights through which products read what `of_layer` gave.
  PackedWeights& weights() { return weights_; }

 private:
  Index number_;
  std::shared_ptr<ParameterList> parameters_;
  std::map<std::string, Factors> factors_;
  std::map<std::string, Joined> joined_;
  PackedWeights weights_;
};

/// Rows [first, end) of a pass that an adapter updates.
struct AdaptedRows {
  Adapter* adapter = nullptr;
  Index first = 0, end = 0;
};
/// Factors of a layer for some rows of a pass.
struct AdaptedLayer {
  AdaptedRows rows;
  Adapter::Joined* factors = nullptr;
};

/// A pass over pieces of several sequences, one after the other as rows [t, 1]: attention sees what
/// the cache holds of each sequence and adds the rows to it.
struct CachedPass {
  /// Whether the rows are those of an encoder instead: one sequence whose positions all see each
  /// other, of which only what decoders look at goes into the cache, on the blocks of `pieces`.
  bool encodes = false;
  KeyValueCache& cache;
  LayerStates& states;
  PackedWeights& weights;
  std::span<const kernels::CachedPiece> pieces;
  /// Pieces of the same rows in what an encoder has left for them, up to position `first_position`.
  std::span<const kernels::CachedPiece> encoded = {};
  /// Pieces of the same rows in layers that attend within chunks: each within one, its positions
  /// and blocks counted from the chunk's first.
  std::span<const kernels::CachedPiece> chunked = {};
  Tensor positions = {};  // [t], int64, of the rows in their sequences
  // Of a GPU: kernels::append_piece_table of these pieces.
  Tensor table = {}, encoded_table = {}, chunked_table = {};
  std::span<const AdaptedRows> adapted = {};  // the others are the model's alone
  std::span<Adapter* const> known = {};  // that rows of other ranks may have; the same on all ranks
};

}  // namespace mpitron::autograd

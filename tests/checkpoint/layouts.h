#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "checkpoint/format/file.h"
#include "tensor/state.h"

namespace mpitron::checkpoint {

/// A model's state cut in many ways, without a model: enough to test what a checkpoint sees.
struct TestTensor {
  std::string name;
  Shape shape;
  DType dtype = DType::f32;
  int dim = 0;        // that tensor parallelism cuts; -1: none
  Index blocks = 1;   // of that dimension
  bool flat = false;  // the distributed optimizer cuts it
  bool tied = false;  // every stage has it
};

struct TestLayout {
  Index tensor = 1, pipeline = 1, data = 1;
  bool distributed_optimizer = false;
  Index ranks() const { return tensor * pipeline * data; }
};

inline std::string name_of(const TestLayout& layout) {
  return "tp" + std::to_string(layout.tensor) + "_pp" + std::to_string(layout.pipeline) + "_dp" +
         std::to_string(layout.data) + (layout.distributed_optimizer ? "_sharded" : "");
}

/// The global tensor's bytes, a function of its name only.
inline std::vector<std::byte> values_of(const TestTensor& tensor) {
  const auto elements = static_cast<std::size_t>(tensor.shape.numel());
  std::vector<std::byte> bytes(elements * size_of(tensor.dtype));
  std::mt19937_64 random(hash64(tensor.name));
  std::normal_distribution<float> normal;
  for (std::size_t i = 0; i < elements; ++i) {
    std::byte* const to = bytes.data() + i * size_of(tensor.dtype);
    if (tensor.dtype == DType::f32) {
      const float value = normal(random);
      std::memcpy(to, &value, sizeof value);
    } else if (tensor.dtype == DType::bf16) {
      const BFloat16 value(normal(random));
      std::memcpy(to, &value, sizeof value);
    } else {
      const std::uint64_t value = random();
      std::memcpy(to, &value, size_of(tensor.dtype));
    }
  }
  return bytes;
}

/// What one rank holds, and its memory.
struct HeldState {
  std::vector<std::vector<std::byte>> memory;
  std::vector<tensor::ShardedTensor> tensors;
};

namespace detail {

inline void hold(HeldState& state, const TestTensor& tensor, const tensor::Shard& shard,
                 std::pair<Index, Index> cut, bool filled) {
  const auto element = static_cast<Index>(size_of(tensor.dtype));
  const Shape local = shard.local(tensor.shape);
  std::vector<std::byte> whole(static_cast<std::size_t>(filled ? local.numel() * element : 0));
  if (filled) {
    const std::vector<std::byte> values = values_of(tensor);
    tensor::take_shard({values.data(), tensor.dtype, tensor.shape}, shard,
                       {whole.data(), tensor.dtype, local});
  }
  const auto [begin, end] = cut;
  std::vector<std::byte> part(static_cast<std::size_t>((end - begin) * element), std::byte{0xee});
  if (filled) {
    std::copy(whole.begin() + begin * element, whole.begin() + end * element, part.begin());
  }
  state.memory.push_back(std::move(part));
  state.tensors.push_back({.name = tensor.name,
                           .shape = tensor.shape,
                           .shard = shard,
                           .begin = begin,
                           .value = {state.memory.back().data(), tensor.dtype, {end - begin}}});
}

}  // namespace detail

/// Rank order: tensor, data, pipeline, the first fastest. The distributed optimizer lays a stage's
/// shards one after the other and cuts the whole into equal parts.
inline HeldState hold_state(const std::vector<TestTensor>& tensors, const TestLayout& layout,
                            Index rank, bool filled = true) {
  const Index t = rank % layout.tensor;
  const Index d = rank / layout.tensor % layout.data;
  const Index stage = rank / layout.tensor / layout.data;
  HeldState state;
  state.memory.reserve(tensors.size());
  std::vector<std::size_t> own;
  std::vector<tensor::Shard> shards;
  Index flat = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TestTensor& tensor = tensors[i];
    if (!tensor.tied && static_cast<Index>(i) % layout.pipeline != stage) {
      continue;
    }
    own.push_back(i);
    shards.push_back(tensor.dim < 0 ? tensor::Shard{}
                                    : tensor::even_shard(tensor.dim, tensor.shape[tensor.dim],
                                                         {t, layout.tensor}, tensor.blocks));
    flat += tensor.flat ? shards.back().local(tensor.shape).numel() : 0;
  }
  const Index part = (flat + layout.data - 1) / layout.data;
  Index at = 0;  // in the flat buffer
  for (std::size_t i = 0; i < own.size(); ++i) {
    const TestTensor& tensor = tensors[own[i]];
    const Index numel = shards[i].local(tensor.shape).numel();
    std::pair<Index, Index> cut = {0, numel};
    if (tensor.flat && layout.distributed_optimizer) {
      cut = {std::clamp<Index>(d * part - at, 0, numel),
             std::clamp<Index>((d + 1) * part - at, 0, numel)};
    }
    at += tensor.flat ? numel : 0;
    if (cut.first < cut.second || numel == 0) {
      detail::hold(state, tensor, shards[i], cut, filled);
    }
  }
  return state;
}

/// All kinds of a transformer's tensors, of random sizes; `scale` multiplies the elements.
inline std::vector<TestTensor> random_tensors(std::mt19937_64& random, Index layers, Index scale) {
  const auto pick = [&](Index low, Index high) {
    return std::uniform_int_distribution<Index>(low, high)(random);
  };
  const Index h = 8 * pick(1, 6) * scale, f = 16 * pick(1, 6) * scale, v = 8 * pick(3, 40) * scale;
  std::vector<TestTensor> tensors = {
      {.name = "model/embedding.weight", .shape = {v, h}, .tied = true},
      {.name = "model/empty", .shape = {0, h}, .dim = -1},
      {.name = "model/scalar", .shape = {}, .dtype = DType::i64, .dim = -1}};
  for (Index layer = 0; layer < layers; ++layer) {
    const std::string prefix = "layers." + std::to_string(layer) + ".";
    for (const char* kind : {"model/", "exp_avg/", "exp_avg_sq/"}) {
      const bool flat = kind[0] == 'e';
      const DType dtype = flat || layer % 2 == 0 ? DType::f32 : DType::bf16;
      const std::string name = kind + prefix;
      tensors.push_back({name + "norm.weight", {h}, dtype, -1, 1, flat});
      tensors.push_back({name + "qkv.weight", {h * 3, h}, dtype, 0, 1, flat});
      tensors.push_back({name + "proj.weight", {h, h}, dtype, 1, 1, flat});
      tensors.push_back({name + "fc1.weight", {2 * f, h}, dtype, 0, 2, flat});
      tensors.push_back({name + "fc2.weight", {h, f}, dtype, 1, 1, flat});
      tensors.push_back({name + "conv.weight", {3, f, 5}, dtype, 1, 2, flat});
    }
  }
  return tensors;
}

inline TestLayout random_layout(std::mt19937_64& random, Index ranks) {
  std::vector<TestLayout> all;
  for (Index t = 1; t <= ranks; ++t) {
    for (Index p = 1; ranks % t == 0 && p <= ranks / t; ++p) {
      if (ranks / t % p == 0 && 8 % t == 0) {
        all.push_back({t, p, ranks / t / p, false});
        all.push_back({t, p, ranks / t / p, true});
      }
    }
  }
  return all[random() % all.size()];
}

}  // namespace mpitron::checkpoint

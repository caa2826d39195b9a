#include "autograd/cached_pass.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace mpitron::autograd {
namespace cached_pass_test {

using kernels::WeightFormat;

/// A weight [3, 32] of rising numbers.
Parameter& rising_weight(device::Device& device, ParameterList& parameters) {
  Parameter& weight = parameters.add({.name = "weight", .shape = {3, 32}});
  weight.value = Tensor::empty(device, weight.shape, DType::f32);
  for (Index i = 0; i < 96; ++i) {
    weight.value.data<float>()[i] = static_cast<float>(i);
  }
  return weight;
}

TEST(PackedWeights, PackEachWeightOnce) {
  const auto device = device::make_device("host");
  ParameterList parameters;
  const Parameter& weight = rising_weight(*device, parameters);
  PackedWeights packed(*device, WeightFormat::int8);
  EXPECT_TRUE(packed.packs());
  EXPECT_EQ(packed.bytes(), 0);
  const void* const first = packed.of(weight).view().data;
  EXPECT_EQ(packed.of(weight).view().data, first);
  EXPECT_EQ(packed.bytes(), kernels::packed_bytes(WeightFormat::int8, 3, 32));
}

TEST(PackedWeights, MatricesOfHeadsAreMadeOnce) {
  const auto device = device::make_device("host");
  ParameterList parameters;
  const Parameter& weight = rising_weight(*device, parameters);
  PackedWeights packed(*device, WeightFormat::q4);
  int made = 0;
  const auto make = [&] {
    ++made;
    return weight.value.reshape({3, 1, 32});
  };
  const void* const first = packed.of_heads(weight, 0, make).view().data;
  EXPECT_EQ(packed.of_heads(weight, 0, make).view().data, first);
  EXPECT_NE(packed.of_heads(weight, 1, make).view().data, first);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(packed.bytes(), 2 * 3 * kernels::packed_bytes(WeightFormat::q4, 1, 32));
}

/// The value's memory is free again; its shape is still known.
TEST(PackedWeights, TakeThePlaceOfAValue) {
  const auto device = device::make_device("host");
  ParameterList parameters;
  Parameter& weight = rising_weight(*device, parameters);
  PackedWeights packed(*device, WeightFormat::int8);
  const Tensor value = weight.value;
  packed.take(weight);
  EXPECT_TRUE(value.unique());
  EXPECT_EQ(weight.value.view().data, nullptr);
  EXPECT_EQ(weight.local_shape(), Shape({3, 32}));
  EXPECT_EQ(weight.value.dtype(), DType::f32);
  EXPECT_EQ(packed.of(weight).view().bytes(), packed.bytes());
}

TEST(CachedPass, StatesAreTakenOnceAndCopiedTogether) {
  const auto device = device::make_device("host");
  LayerStates states(*device, 3);
  float* first = states.of(2, 0, {2}, DType::f32).data<float>();
  float* second = states.of(2, 1, {1, 2}, DType::f32).data<float>();
  EXPECT_EQ(states.of(2, 1, {1, 2}, DType::f32).data<float>(), second);
  EXPECT_EQ(states.bytes(), 2 * 3 * 2 * 4);
  std::fill_n(first, 6, 1.F);
  std::fill_n(second, 6, 2.F);
  first[2] = 5;
  second[3] = 6;
  states.copy(1, 0);
  EXPECT_EQ(first[0], 5);
  EXPECT_EQ(second[1], 6);
  EXPECT_EQ(first[4], 1);
}

TEST(Adapter, MakesALayersUpdateOnce) {
  const auto device = device::make_device("host");
  auto parameters = std::make_shared<ParameterList>();
  const Parameter& a = parameters->add({.name = "a", .shape = {2, 3}});
  Adapter adapter(*device, DType::f32, 7, parameters, {{"model.q_proj", {&a, &a, 0.5}}});
  EXPECT_EQ(adapter.number(), 7);
  EXPECT_EQ(adapter.find("model.q_proj")->a, &a);
  EXPECT_EQ(adapter.find("model.k_proj"), nullptr);
  int made = 0;
  const auto make = [&] {
    ++made;
    return Adapter::Joined{.a = {.value = Tensor::empty(*device, {2, 3}, DType::f32)}, .b = {}};
  };
  Adapter::Joined* const first = adapter.of_layer("model.q_proj", make);
  EXPECT_EQ(adapter.of_layer("model.q_proj", make), first);
  EXPECT_EQ(made, 1);
  EXPECT_EQ(adapter.of_layer("model.o_proj", [] { return Adapter::Joined(); }), nullptr);
}

/// Bytes of a tensor, from its beginning on, that have memory of their own.
Index bytes_in_memory(const Tensor& tensor) {
  constexpr Index kPage = 4096;
  std::vector<unsigned char> present(static_cast<std::size_t>(tensor.view().bytes() / kPage));
  char* const first = tensor.data<char>();  // of a page, but for what the tensor keeps before it
  char* const page = first - reinterpret_cast<std::uintptr_t>(first) % kPage;
  EXPECT_EQ(::mincore(page, present.size() * kPage, present.data()), 0);
  const auto end = std::ranges::find_if(present, [](unsigned char page) { return page % 2 == 0; });
  EXPECT_TRUE(std::all_of(end, present.end(), [](unsigned char page) { return page % 2 == 0; }));
  return (end - present.begin()) * kPage;
}

TEST(CachedPass, MemoryOfTheCacheComesAPageAtATime) {
  const auto device = device::make_device("host");
  constexpr Index kBlocks = 400, kOfBlock = 8 * 16 * 64 * 4, kPage = Index{2} << 20;
  KeyValueCache cache(*device, kBlocks, 16);
  cache.prepare(1);  // no layer has memory yet
  std::vector<Tensor> tensors;
  for (const Index number : {1, 2, 3, 4}) {
    const KeyValueCache::Layer& layer =
        cache.layer(number, {.groups = 8, .key = 64, .value = 64, .dtype = DType::f32});
    tensors.insert(tensors.end(), {layer.keys, layer.values});
  }
  tensors[0].data<char>()[5] = 7;
  Index before = 0;
  for (Index used = 1; used <= 130; ++used) {
    cache.prepare(used);
    Index now = 0;
    for (const Tensor& tensor : tensors) {
      const Index ready = bytes_in_memory(tensor);
      EXPECT_GE(ready, used * kOfBlock);
      EXPECT_LE(ready, used * kOfBlock + 2 * kPage);
      now += ready;
    }
    EXPECT_LE(now - before, used == 1 ? 9 * kPage : kPage) << used;
    before = now;
  }
  EXPECT_EQ(tensors[0].data<char>()[5], 7);
  cache.prepare(kBlocks);
  EXPECT_EQ(bytes_in_memory(tensors[7]), kBlocks * kOfBlock / 4096 * 4096);
}

TEST(CachedPass, BlocksAreCopiedInAllLayers) {
  const auto device = device::make_device("host");
  KeyValueCache cache(*device, 2, 4);
  const KeyValueCache::Width width{.groups = 1, .key = 2, .value = 3, .dtype = DType::f32};
  for (const Index layer : {1, 3}) {
    const KeyValueCache::Layer& of_layer = cache.layer(layer, width);
    std::fill_n(of_layer.keys.data<float>(), 16, 0.F);
    std::fill_n(of_layer.values.data<float>(), 24, 0.F);
    of_layer.values.data<float>()[12 + 7] = static_cast<float>(layer);
  }
  cache.copy_block(1, 0);
  EXPECT_EQ(cache.layer(1, width).values.data<float>()[7], 1);
  EXPECT_EQ(cache.layer(3, width).values.data<float>()[7], 3);
  EXPECT_EQ(cache.bytes(), 2 * (16 + 24) * 4);
}

TEST(CachedPass, ScalesOf8BitsAreCopiedAndCounted) {
  const auto device = device::make_device("host");
  KeyValueCache cache(*device, 2, 4, kernels::CacheType::e4m3);
  const KeyValueCache::Layer& layer =
      cache.layer(1, {.groups = 3, .key = 2, .value = 5, .dtype = DType::f32});
  EXPECT_EQ(layer.keys.dtype(), DType::u8);
  EXPECT_EQ(cache.bytes(), 2 * 3 * 4 * (2 + 5 + 2));
  std::fill_n(layer.key_scales.data<std::uint8_t>(), 24, std::uint8_t{1});
  std::fill_n(layer.value_scales.data<std::uint8_t>(), 24, std::uint8_t{2});
  layer.key_scales.data<std::uint8_t>()[12 + 7] = 8;
  layer.value_scales.data<std::uint8_t>()[12 + 9] = 9;
  cache.copy_block(1, 0);
  EXPECT_EQ(layer.key_scales.data<std::uint8_t>()[7], 8);
  EXPECT_EQ(layer.value_scales.data<std::uint8_t>()[9], 9);
  // One scale for what latent attention keeps; a cache in bf16 has none.
  EXPECT_FALSE(cache.layer(2, {.key = 6, .value = 0, .dtype = DType::f32}).value_scales);
  KeyValueCache half(*device, 2, 4, kernels::CacheType::bf16);
  EXPECT_EQ(half.layer(1, {.key = 6, .value = 6, .dtype = DType::f32}).keys.dtype(), DType::bf16);
  EXPECT_EQ(half.bytes(), 2 * 4 * 12 * 2);
}

}  // namespace cached_pass_test
}  // namespace mpitron::autograd

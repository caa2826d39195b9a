#include "autograd/cached_pass.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace mpitron::autograd {
namespace cached_pass_test {

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

TEST(CachedPass, BlocksAreCopiedInAllLayers) {
  const auto device = device::make_device("host");
  KeyValueCache cache(*device, 2, 4);
  const KeyValueCache::Width width{.groups = 1, .key = 2, .value = 3, .dtype = DType::f32};
  for (const Index layer : {1, 3}) {
    const auto& [keys, values] = cache.layer(layer, width);
    std::fill_n(keys.data<float>(), 16, 0.F);
    std::fill_n(values.data<float>(), 24, 0.F);
    values.data<float>()[12 + 7] = static_cast<float>(layer);
  }
  cache.copy_block(1, 0);
  EXPECT_EQ(cache.layer(1, width).values.data<float>()[7], 1);
  EXPECT_EQ(cache.layer(3, width).values.data<float>()[7], 3);
  EXPECT_EQ(cache.bytes(), 2 * (16 + 24) * 4);
}

}  // namespace cached_pass_test
}  // namespace mpitron::autograd

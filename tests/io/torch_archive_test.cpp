#include "io/torch_archive.h"

#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "support/foreign_files.h"

namespace mpitron::io {
namespace {

using mpitron::test::convert_data;
using mpitron::test::element;

std::string checkpoint_text() {
  return read_file(convert_data("megatron/torch/iter_0000005/mp_rank_00_001/model_optim_rng.pt"));
}

TorchArchive open(const std::string& text) {
  return {std::as_bytes(std::span(text)), "x.pt"};
}

TEST(TorchArchive, ReadsTensors) {
  const std::string text = checkpoint_text();
  const TorchArchive archive = open(text);
  const PickleValue* model = archive.root().find("model1");
  ASSERT_NE(model, nullptr);
  const PickleValue* norm = model->find("decoder.final_layernorm.weight");
  ASSERT_NE(norm, nullptr);
  const TorchTensor tensor = archive.tensor(*norm, "norm");
  EXPECT_EQ(tensor.type, ElementType::f32);
  EXPECT_EQ(tensor.shape, (std::vector<Index>{8}));
  float values[8];
  tensor.copy_to(reinterpret_cast<std::byte*>(values));
  EXPECT_EQ(values[5], element("decoder.final_layernorm.weight", 5));
}

TEST(TorchArchive, NamesTheGlobalThatAnObjectWouldNeed) {
  const std::string text = checkpoint_text();
  const TorchArchive archive = open(text);
  const PickleValue* hostile = archive.root().find("args")->find("hostile");
  ASSERT_NE(hostile, nullptr);
  try {
    archive.tensor(*hostile, "hostile");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("posix.system, which is not run"), std::string::npos)
        << error.what();
  }
}

TEST(TorchTensor, CopiesStridedViewsRowByRow) {
  const std::uint8_t storage[] = {0, 1, 2, 3, 4, 5};
  const TorchTensor columns{ElementType::u8, {3, 2}, {1, 3}, std::as_bytes(std::span(storage))};
  EXPECT_FALSE(columns.contiguous());
  std::uint8_t out[6];
  columns.copy_to(reinterpret_cast<std::byte*>(out));
  const std::uint8_t expected[] = {0, 3, 1, 4, 2, 5};
  EXPECT_EQ(std::memcmp(out, expected, 6), 0);
}

TEST(TorchArchive, ReadsExtents) {
  std::vector<Index> out;
  PickleValue one, tuple;
  one.kind = PickleValue::Kind::integer;
  one.integer = 3;
  tuple.kind = PickleValue::Kind::tuple;
  tuple.items = {&one, &one};
  EXPECT_TRUE(read_extents(tuple, out));
  EXPECT_EQ(out, (std::vector<Index>{3, 3}));
  one.integer = -1;
  EXPECT_FALSE(read_extents(tuple, out));
  EXPECT_FALSE(read_extents(one, out));
}

/// Whatever is changed in a file: an Error, or tensors that lie inside it.
TEST(TorchArchive, SurvivesDamage) {
  const std::string good = checkpoint_text();
  std::mt19937 random(11);
  int refused = 0, read = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = mpitron::test::mutated(good, random);
    const bool accepted = mpitron::test::accepts([&] {
      const TorchArchive archive = open(text);
      const PickleValue* model = archive.root().find("model1");
      if (model == nullptr) {
        throw_data("no model");
      }
      for (std::size_t j = 0; j + 1 < model->entries.size(); j += 2) {
        if (model->entries[j + 1]->is_object_of("torch._utils._rebuild_tensor_v2")) {
          const TorchTensor tensor = archive.tensor(*model->entries[j + 1], "x");
          ASSERT_LE(tensor.numel(), static_cast<Index>(text.size()));
          std::vector<std::byte> out(static_cast<std::size_t>(tensor.numel()) *
                                     size_of(tensor.type));
          tensor.copy_to(out.data());
        }
      }
    });
    ++(accepted ? read : refused);
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(read, 20);
}

}  // namespace
}  // namespace mpitron::io

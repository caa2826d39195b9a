#include "io/arrays/torch_archive.h"

#include <cstring>
#include <limits>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "io/arrays/recorded_archive.h"
#include "support/foreign_files.h"

namespace mpitron::io {
namespace torch_archive_test {

using mpitron::test::element;

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

template <class T>
void put(std::string& text, T value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

/// A zip archive of stored entries.
std::string zip_of(const std::map<std::string, std::string>& entries) {
  std::string text, directory;
  for (const auto& [name, content] : entries) {
    const auto at = static_cast<std::uint32_t>(text.size());
    const auto size = static_cast<std::uint32_t>(content.size());
    const auto name_size = static_cast<std::uint16_t>(name.size());
    text += "PK\3\4" + std::string(22, '\0');
    put(text, name_size);
    text += std::string(2, '\0') + name + content;
    directory += "PK\1\2" + std::string(16, '\0');
    put(directory, size);
    put(directory, size);
    put(directory, name_size);
    directory += std::string(12, '\0');
    put(directory, at);
    directory += name;
  }
  const auto at = static_cast<std::uint32_t>(text.size());
  text += directory + "PK\5\6" + std::string(6, '\0');
  put(text, static_cast<std::uint16_t>(entries.size()));
  text += std::string(4, '\0');
  put(text, at);
  return text + std::string(2, '\0');
}

/// A file with one tensor over a storage of four numbers.
std::string tensor_file(const std::vector<Index>& shape, const std::vector<Index>& stride) {
  const auto tuple = [](const std::vector<Index>& values) {
    std::string text = "(";
    for (const Index value : values) {
      text += "\x8a\x08";
      put(text, value);
    }
    return text + "t";
  };
  const std::string storage = std::string("(U\7storagectorch\nFloatStorage\nU\1") + "0U\3cpuK\4tQ";
  return zip_of({{"x/data.pkl", "ctorch._utils\n_rebuild_tensor_v2\n(" + storage +
                                    std::string("K\0", 2) + tuple(shape) + tuple(stride) + "tR."},
                 {"x/data/0", std::string(16, '\1')}});
}

TEST(TorchArchive, RefusesExtentsWhoseProductsOverflow) {
  const auto numel = [](const std::vector<Index>& shape, const std::vector<Index>& stride) {
    const std::string text = tensor_file(shape, stride);
    const TorchArchive archive = open(text);
    const TorchTensor tensor = archive.tensor(archive.root(), "x");
    std::vector<std::byte> out(16);
    tensor.copy_to(out.data());
    return tensor.numel();
  };
  constexpr Index kLargest = std::numeric_limits<Index>::max(), kHalf = Index{1} << 40;
  EXPECT_EQ(numel({2, 2}, {2, 1}), 4);
  EXPECT_EQ(numel({2, 2}, {1, 2}), 4);
  EXPECT_EQ(numel({0, 9}, {9, 1}), 0);
  EXPECT_EQ(numel({kLargest, 0}, {1, 1}), 0);
  for (const auto& [shape, stride] :
       {std::pair<std::vector<Index>, std::vector<Index>>{{2}, {kLargest}},
        {{2, 2}, {kLargest, kLargest}},
        {{kHalf, kHalf, 0}, {1, 1, 1}},
        {{kHalf, kHalf}, {0, 0}},
        {{5}, {1}}}) {
    EXPECT_THROW(numel(shape, stride), Error) << shape[0];
  }
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

}  // namespace torch_archive_test

}  // namespace mpitron::io

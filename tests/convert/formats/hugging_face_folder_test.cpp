#include "convert/formats/hugging_face_folder.h"

#include <random>

#include <gtest/gtest.h>

#include "convert/tiny_models.h"
#include "support/temporary_folder.h"

namespace mpitron::convert {
namespace hugging_face_folder_test {

using test::TemporaryFolder;

void ignore_progress(Index, Index, const std::string&) {}

TEST(HuggingFaceFolder, ReadsOneFile) {
  const TemporaryFolder folder;
  test::write_hugging_face_folder(folder.path(), "gpt2");
  HuggingFaceFolder source(folder.path());
  test::ReferenceModel model = test::reference_model("gpt2");
  EXPECT_EQ(source.tensors().size(), model.weights.tensors().size());
  for (const TensorInfo& info : source.tensors()) {
    EXPECT_EQ(test::floats_of(source.read(info.name)),
              test::floats_of(model.weights.read(info.name)));
  }
  EXPECT_THROW(source.read("none"), Error);
  EXPECT_EQ(read_companions(folder.path()).count("tokenizer.json"), 1u);
  EXPECT_EQ(read_companions(folder.path()).count("config.json"), 0u);
}

TEST(HuggingFaceFolder, RefusesIndexesThatDoNotFit) {
  const std::string nested = "{\"x\": " + std::string(100'000, '[') + std::string(100'000, ']') +
                             ", \"metadata\": 1, \"b\": 2, \"weight_map\": {}}";
  for (const char* index : {
           nested.c_str(),
           R"({"weight_map": {"a": "../model.safetensors"}})",
           R"({"weight_map": {"a": "/etc/model.safetensors"}})",
           R"({"weight_map": {"a": "config.json"}})",
           R"({"weight_map": {"a": 1}})",
           R"({"weight_map": {"a": "model.safetensors"}})",
           R"({"weight_map": {"a": "absent.safetensors"}})",
           R"({"weight_map": []})",
           "{",
       }) {
    const TemporaryFolder folder;
    test::write_hugging_face_folder(folder.path(), "gpt2");
    test::write_text(folder.path() / "model.safetensors.index.json", index);
    EXPECT_THROW(HuggingFaceFolder{folder.path()}, Error) << index;
  }
  const TemporaryFolder empty;
  EXPECT_THROW(HuggingFaceFolder{empty.path()}, Error);
}

TEST(HuggingFaceFolder, SurvivesDamage) {
  const TemporaryFolder folder;
  test::ReferenceModel model = test::reference_model("llama");
  write_hugging_face_weights(folder.path(), model.weights, 20000, ignore_progress);
  std::mt19937 random(5);
  int refused = 0, read = 0;
  for (const char* name : {"model.safetensors.index.json", "model-00001-of-00003.safetensors"}) {
    const std::string good = read_file(folder.path() / name);
    for (int i = 0; i < 500; ++i) {
      // Only the header of a weight file: any values are legal weights.
      const std::size_t part = std::min<std::size_t>(good.size(), 900);
      test::write_text(folder.path() / name,
                       test::mutated(good.substr(0, part), random) + good.substr(part));
      ++(test::accepts([&] {
        HuggingFaceFolder source(folder.path());
        for (const TensorInfo& info : source.tensors()) {
          source.read(info.name);
        }
      })
             ? read
             : refused);
    }
    test::write_text(folder.path() / name, good);
  }
  EXPECT_GT(refused, 500);
  EXPECT_NO_THROW(HuggingFaceFolder{folder.path()});
}

}  // namespace hugging_face_folder_test

}  // namespace mpitron::convert

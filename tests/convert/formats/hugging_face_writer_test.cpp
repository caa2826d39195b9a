#include <gtest/gtest.h>

#include "convert/formats/hugging_face_folder.h"
#include "convert/tiny_models.h"
#include "support/temporary_folder.h"

namespace mpitron::convert {
namespace hugging_face_writer_test {

using test::TemporaryFolder;

void ignore_progress(Index, Index, const std::string&) {}

TEST(HuggingFaceWriter, WritesAndReadsShards) {
  const TemporaryFolder folder;
  test::ReferenceModel model = test::reference_model("llama");
  Index last = 0;
  write_hugging_face_weights(folder.path(), model.weights, 8000,
                             [&](Index done, Index, const std::string&) { last = done; });
  EXPECT_EQ(last, model.weights.bytes());
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "model.safetensors.index.json"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "model.safetensors"));
  HuggingFaceFolder source(folder.path());
  EXPECT_EQ(source.tensors().size(), model.weights.tensors().size());
  for (const TensorInfo& info : model.weights.tensors()) {
    EXPECT_EQ(test::floats_of(source.read(info.name)),
              test::floats_of(model.weights.read(info.name)));
  }
  EXPECT_THROW(write_hugging_face_weights(folder.path(), model.weights, 8000, ignore_progress),
               Error)
      << "old weights";
}

}  // namespace hugging_face_writer_test

}  // namespace mpitron::convert

#include "convert/model_reader.h"

#include <gtest/gtest.h>

#include "convert/tiny_models.h"
#include "support/temporary_folder.h"

namespace mpitron::convert {
namespace model_reader_test {

TEST(ModelReader, HasOurNamesForEveryFormat) {
  const test::TemporaryFolder folder;
  test::write_hugging_face_folder(folder.path(), "mistral");
  ModelReader reader(folder.path(),
                     {.format = Format::hugging_face, .make_vocab_size_divisible_by = 32});
  EXPECT_EQ(reader.ours().find("output_layer.weight")->shape, (Shape{64, 24}));
  EXPECT_EQ(reader.description().files.count("tokenizer.json"), 1u);
  ModelReader dist(test::convert_data("megatron/dist"),
                   {.format = Format::megatron_torch_dist, .dtype = DType::bf16});
  EXPECT_EQ(dist.ours().find("output_layer.weight")->dtype, DType::bf16);
  EXPECT_EQ(dist.description().model.params_dtype, DType::bf16);
}

TEST(ModelReader, RefusesAnotherFamily) {
  const test::TemporaryFolder folder;
  test::write_hugging_face_folder(folder.path(), "mistral");
  EXPECT_THROW(ModelReader(folder.path(), {.format = Format::hugging_face, .model_type = "llama"}),
               Error);
}

TEST(ModelReader, IsStrictUnlessToldOtherwise) {
  const test::TemporaryFolder folder;
  test::write_hugging_face_folder(folder.path(), "llama");
  auto config = nlohmann::ordered_json::parse(read_file(folder.path() / "config.json"));
  config["num_hidden_layers"] = 1;
  test::write_text(folder.path() / "config.json", config.dump());
  EXPECT_THROW(ModelReader(folder.path(), {.format = Format::hugging_face}), Error);
  const ModelReader lenient(folder.path(), {.format = Format::hugging_face, .strict = false});
  EXPECT_EQ(lenient.unmapped().size(), 9u);
}

TEST(ModelReader, BelievesNoNumberThatTheTensorsLack) {
  const test::TemporaryFolder folder;
  test::write_hugging_face_folder(folder.path(), "mixtral");
  const std::string original = read_file(folder.path() / "config.json");
  for (const char* number : {"num_hidden_layers", "num_local_experts", "num_attention_heads"}) {
    auto config = nlohmann::ordered_json::parse(original);
    config[number] = 1'000'000'000;
    config["head_dim"] = 6;  // heads of a width that does not become 0
    test::write_text(folder.path() / "config.json", config.dump());
    try {
      ModelReader(folder.path(), {.format = Format::hugging_face});
      ADD_FAILURE() << number;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("there are only"), std::string::npos)
          << error.what();
    }
  }
}

}  // namespace model_reader_test
}  // namespace mpitron::convert

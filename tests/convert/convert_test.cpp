#include "convert/convert.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "convert/formats/mpitron_checkpoint.h"
#include "convert/tiny_models.h"
#include "support/host_runtime.h"
#include "support/temporary_folder.h"

namespace mpitron::convert {
namespace convert_test {

namespace fs = std::filesystem;

ConvertReport run(ConvertSettings settings) {
  return convert(settings, [](const char*, Index, Index, const std::string&) {});
}
/// To a checkpoint of ours, proven by tensors and logits.
ConvertReport run_proven(const fs::path& from, const fs::path& to) {
  return run({.from = from,
              .to = to,
              .from_format = {},
              .make_vocab_size_divisible_by = 8,
              .dtype = {},
              .verify = true,
              .verify_logits = true});
}

std::map<std::string, std::vector<float>> tensors_of(const fs::path& file) {
  std::map<std::string, std::vector<float>> result;
  const io::SafetensorsFile tensors(file);
  for (const auto& [name, tensor] : tensors.tensors()) {
    const auto values = tensor.as<float>();
    for (Index i = 0; i < static_cast<Index>(tensor.data.size() / sizeof(float)); ++i) {
      result[name].push_back(values[i]);
    }
  }
  return result;
}

/// The layers and the norm of an image encoder behind what LLaVA looks at are not kept.
bool is_seen(const std::string& name) {
  return !name.starts_with("vision_tower.") || (name.find("layers.2.") == std::string::npos &&
                                                name.find("post_layernorm.") == std::string::npos);
}

std::map<std::string, std::vector<float>> seen_tensors_of(const fs::path& file) {
  std::map<std::string, std::vector<float>> tensors = tensors_of(file);
  std::erase_if(tensors, [](const auto& tensor) { return !is_seen(tensor.first); });
  return tensors;
}

TEST(Convert, GoesToMpitronAndBackUnchanged) {
  for (const std::string& family : test::all_families()) {
    const test::TemporaryFolder folder;
    const fs::path in = folder.path() / "in", middle = folder.path() / "middle",
                   out = folder.path() / "out";
    test::write_hugging_face_folder(in, family);
    const ConvertReport first = run_proven(in, middle);
    EXPECT_TRUE(first.proven());
    EXPECT_EQ(first.round_trip->different().size(), 0u);
    EXPECT_EQ(first.logits_difference, 0);
    EXPECT_EQ(first.model_type, family);
    EXPECT_TRUE(fs::exists(middle / "conversion_record.json"));
    const ConvertReport second = run({.from = middle,
                                      .to = out,
                                      .from_format = {},
                                      .to_format = Format::hugging_face,
                                      .dtype = {},
                                      .verify = true});
    EXPECT_TRUE(second.proven());
    EXPECT_EQ(second.model_type, family);
    EXPECT_EQ(seen_tensors_of(out / "model.safetensors"), seen_tensors_of(in / "model.safetensors"))
        << family;
    EXPECT_EQ(read_file(out / "tokenizer.json"), read_file(in / "tokenizer.json"));
    const auto before = nlohmann::ordered_json::parse(read_file(in / "config.json"));
    const auto after = nlohmann::ordered_json::parse(read_file(out / "config.json"));
    for (const auto& [key, value] : before.items()) {
      if (!key.starts_with("vision_")) {  // see below
        EXPECT_EQ(after.at(key), value) << family << " " << key;
      }
    }
  }
}

/// Of three layers of the encoder the first two are looked behind: two are written, all of which
/// are seen, and the norm that a CLIP needs to be read.
TEST(Convert, OfAnImageEncoderComesBackWhatIsSeen) {
  const test::TemporaryFolder folder;
  const fs::path in = folder.path() / "in", middle = folder.path() / "m", out = folder.path() / "o";
  test::write_hugging_face_folder(in, "llava");
  run({.from = in,
       .to = middle,
       .from_format = {},
       .make_vocab_size_divisible_by = 8,
       .dtype = {}});
  run({.from = middle,
       .to = out,
       .from_format = {},
       .to_format = Format::hugging_face,
       .dtype = {}});
  const auto config = nlohmann::ordered_json::parse(read_file(out / "config.json"));
  EXPECT_EQ(config.at("vision_feature_layer"), -1);
  EXPECT_EQ(config.at("vision_config").at("num_hidden_layers"), 2);
  const auto tensors = tensors_of(out / "model.safetensors");
  EXPECT_EQ(tensors.at("vision_tower.vision_model.post_layernorm.weight"),
            std::vector<float>(16, 1.f));
  EXPECT_FALSE(tensors.contains("vision_tower.vision_model.encoder.layers.2.mlp.fc1.bias"));
}

/// What comes back has the names that all releases read.
TEST(Convert, NamesOfNewerReleasesAreProvenToo) {
  const test::TemporaryFolder folder;
  const fs::path in = folder.path() / "in", middle = folder.path() / "m", out = folder.path() / "o";
  test::write_hugging_face_folder(in, "llava");
  test::ReferenceModel model = test::reference_model("llava");
  test::MemorySource newer = test::renamed(model.weights, test::newer_llava_names());
  fs::remove(in / "model.safetensors");
  test::write_tensors(in, newer);
  const ConvertReport first = run_proven(in, middle);
  EXPECT_TRUE(first.proven());
  EXPECT_EQ(first.logits_difference, 0);
  run({.from = middle,
       .to = out,
       .from_format = {},
       .to_format = Format::hugging_face,
       .dtype = {}});
  const auto tensors = tensors_of(out / "model.safetensors");
  EXPECT_EQ(tensors.at("vision_tower.vision_model.encoder.layers.1.mlp.fc1.bias"),
            test::elements("vision_tower.vision_model.encoder.layers.1.mlp.fc1.bias", 32));
  EXPECT_TRUE(tensors.contains("language_model.lm_head.weight"));
}

TEST(Convert, MegatronGoesWhereItIsWanted) {
  for (const char* name : {"megatron/torch", "megatron/dist"}) {
    const test::TemporaryFolder folder;
    const fs::path ours = folder.path() / "ours", theirs = folder.path() / "theirs";
    const ConvertReport first = run({.from = test::convert_data(name),
                                     .to = ours,
                                     .from_format = {},
                                     .dtype = {},
                                     .verify = true});
    EXPECT_TRUE(first.proven());
    EXPECT_EQ(first.tensors, 31);
    EXPECT_EQ(first.model_type, "qwen2");
    const ConvertReport second = run({.from = ours,
                                      .to = theirs,
                                      .from_format = {},
                                      .to_format = Format::hugging_face,
                                      .dtype = {},
                                      .verify = true});
    EXPECT_TRUE(second.proven());
    const auto tensors = tensors_of(theirs / "model.safetensors");
    EXPECT_EQ(tensors.at("lm_head.weight").size(), 21u * 8) << "without the padding";
    EXPECT_EQ(tensors.at("model.layers.3.mlp.down_proj.weight"),
              test::elements("decoder.layers.3.mlp.linear_fc2.weight", 8 * 12));
  }
}

TEST(Convert, HybridsOfMegatronAreNemotrons) {
  for (const char* name : {"megatron/torch_hybrid", "megatron/dist_hybrid"}) {
    const test::TemporaryFolder folder;
    const ConvertReport report = run({.from = test::convert_data(name),
                                      .to = folder.path() / "theirs",
                                      .from_format = {},
                                      .to_format = Format::hugging_face,
                                      .dtype = {},
                                      .verify = true,
                                      .verify_logits = true});
    EXPECT_TRUE(report.proven());
    EXPECT_EQ(report.logits_difference, 0);
    EXPECT_EQ(report.model_type, "nemotron_h");
  }
}

TEST(Convert, RoundsToAnotherTypeOnce) {
  const test::TemporaryFolder folder;
  test::write_hugging_face_folder(folder.path() / "in", "gpt2");
  const ConvertReport report = run({.from = folder.path() / "in",
                                    .to = folder.path() / "out",
                                    .from_format = {},
                                    .dtype = DType::bf16,
                                    .verify = true});
  EXPECT_TRUE(report.proven());
  const MpitronCheckpoint checkpoint(folder.path() / "out");
  EXPECT_EQ(checkpoint.description().model.params_dtype, DType::bf16);
  EXPECT_EQ(checkpoint.tensors()[0].dtype, DType::bf16);
}

TEST(Convert, ChecksTheLayoutThatIsAskedFor) {
  const test::TemporaryFolder folder;
  test::write_hugging_face_folder(folder.path() / "in", "llama");
  ConvertSettings settings{.from = folder.path() / "in",
                           .to = folder.path() / "out",
                           .from_format = {},
                           .dtype = {},
                           .target_tensor_ranks = 3};
  EXPECT_THROW(run(settings), Error);
  settings.target_tensor_ranks = 2;
  settings.target_pipeline_ranks = 3;
  EXPECT_THROW(run(settings), Error);
  EXPECT_FALSE(fs::exists(settings.to)) << "nothing is written before all is checked";
  settings.target_pipeline_ranks = 2;
  EXPECT_EQ(run(settings).notes.size(), 1u);
}

TEST(Convert, SaysWhichFamilyAModelWouldNeed) {
  const test::TemporaryFolder folder;
  test::write_hugging_face_folder(folder.path() / "in", "gpt2");
  EXPECT_THROW(run({.from = test::convert_data("megatron/dist"),
                    .to = folder.path() / "out",
                    .from_format = {},
                    .to_format = Format::hugging_face,
                    .model_type = "llama",
                    .dtype = {}}),
               Error);
  EXPECT_THROW(run({.from = folder.path() / "in",
                    .to = folder.path() / "out",
                    .from_format = {},
                    .to_format = Format::megatron_torch,
                    .dtype = {}}),
               Error);
}

}  // namespace convert_test

namespace conversion_record_test {

TEST(ConversionRecord, SaysWhatWasProven) {
  const ConvertSettings settings{.from = "a", .to = "b", .from_format = {}, .dtype = DType::bf16};
  ConvertReport report{.from_format = Format::hugging_face,
                       .model_type = "llama",
                       .output = "b/release/checkpoint.h5",
                       .ignored = {"x"},
                       .unmapped = {},
                       .notes = {},
                       .round_trip = {},
                       .logits_difference = {}};
  EXPECT_FALSE(nlohmann::json::parse(record_json(settings, report)).contains("verified"));
  report.round_trip = RoundTrip{.tensors = {{"w", {1, 2}, {1, 2}}, {"v", {1, 2}, {1, 3}}}};
  const auto json = nlohmann::json::parse(record_json(settings, report));
  EXPECT_EQ(json["dtype"], "bf16");
  EXPECT_EQ(json["verified"]["equal"], false);
  EXPECT_EQ(json["verified"]["different"], nlohmann::json({"v"}));
  EXPECT_EQ(json["verified"]["xxh3_128"][1]["converted_back"], Hash128({1, 3}).hex());
}

}  // namespace conversion_record_test
}  // namespace mpitron::convert

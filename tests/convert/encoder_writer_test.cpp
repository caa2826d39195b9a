#include "convert/encoder_writer.h"

#include <gtest/gtest.h>

#include "convert/convert.h"
#include "convert/encoder_folders.h"
#include "convert/encoder_reader.h"
#include "convert/formats/hugging_face_folder.h"
#include "support/temporary_folder.h"

namespace mpitron::convert {
namespace encoder_writer_test {

namespace fs = std::filesystem;

void ignore(Index /*done*/, Index /*total*/, const std::string& /*name*/) {}

/// Bit for bit, but for CLIP's norm behind all layers, which nothing here is computed with.
void expect_same_tensors(const fs::path& before, const fs::path& after) {
  HuggingFaceFolder a(before), b(after);
  EXPECT_EQ(a.tensors().size(), b.tensors().size());
  for (const TensorInfo& info : a.tensors()) {
    ASSERT_NE(b.find(info.name), nullptr) << info.name;
    const bool end = info.name.find("post_layernorm") != info.name.npos &&
                     a.find("vision_model.embeddings.class_embedding") != nullptr;
    const std::vector<float> values = test::floats_of(b.read(info.name));
    EXPECT_EQ(values, end ? std::vector<float>(16, info.name.ends_with("weight") ? 1.f : 0.f)
                          : test::floats_of(a.read(info.name)))
        << info.name;
  }
}

TEST(EncoderWriter, ComesBackUnchanged) {
  const test::TemporaryFolder folder;
  for (const bool siglip : {false, true}) {
    const fs::path in = folder.path() / (siglip ? "siglip" : "clip"), out = in.string() + "_again";
    siglip ? test::write_siglip(in) : test::write_encoder(in, false);
    EncoderReader reader(in);
    ModelDescription description = reader.description();
    description.model_type = siglip ? "siglip_vision_model" : "clip_vision_model";
    EncoderWriter writer(description, reader.ours());
    fs::create_directories(out);
    writer.write(out, 1 << 20, ignore);
    expect_same_tensors(in, out);
    EXPECT_EQ(writer.compare(out, ignore).different().size(), 0U);
    EXPECT_EQ(EncoderReader(out).options(), reader.options());
    const test::Json config = test::Json::parse(read_file(out / "config.json"));
    EXPECT_EQ(config.at("architectures").at(0), siglip ? "SiglipVisionModel" : "CLIPVisionModel");
    EXPECT_EQ(config.contains("vision_use_head"), siglip);
  }
}

TEST(EncoderWriter, TellsABitThatCameBackDifferent) {
  const test::TemporaryFolder folder;
  test::write_encoder(folder.path() / "in", false);
  EncoderReader reader(folder.path() / "in");
  ModelDescription description = reader.description();
  description.model_type = "clip_vision_model";
  test::MemorySource ours;
  for (const TensorInfo& info : reader.ours().tensors()) {
    ours.add(info.name, info.shape, test::floats_of(reader.ours().read(info.name)));
  }
  EncoderWriter writer(description, ours);
  fs::create_directories(folder.path() / "out");
  writer.write(folder.path() / "out", 1 << 20, ignore);
  ours.remove("vision_model.class_token");
  ours.add("vision_model.class_token", {1, 16}, std::vector<float>(16, 3.f));
  EXPECT_EQ(writer.compare(folder.path() / "out", ignore).different(),
            std::vector<std::string>{"vision_model.class_token"});
}

/// A whole model through its checkpoint: the encoder has the layers that the language model sees.
TEST(EncoderWriter, IsWrittenOfACheckpoint) {
  const test::TemporaryFolder folder;
  const fs::path in = folder.path() / "llava", ours = folder.path() / "ours";
  test::write_hugging_face_folder(in, "llava");
  const auto run = [&](ConvertSettings settings) {
    settings.make_vocab_size_divisible_by = 8;
    settings.verify = true;
    return convert(settings, [](const char*, Index, Index, const std::string&) {});
  };
  run({.from = in, .to = ours, .from_format = {}, .dtype = {}});
  const fs::path out = folder.path() / "encoder";
  const ConvertReport report = run({.from = ours,
                                    .to = out,
                                    .from_format = {},
                                    .to_format = Format::hugging_face,
                                    .model_type = "clip_vision_model",
                                    .dtype = {}});
  EXPECT_TRUE(report.proven() && report.round_trip && !report.round_trip->tensors.empty());
  EXPECT_TRUE(fs::exists(out / "conversion_record.json"));
  HuggingFaceFolder before(in), after(out);
  for (const TensorInfo& info : after.tensors()) {
    if (info.name.find("post_layernorm") == info.name.npos) {
      EXPECT_EQ(test::floats_of(after.read(info.name)),
                test::floats_of(before.read("vision_tower." + info.name)));
    }
  }
  EXPECT_EQ(test::Json::parse(read_file(out / "config.json")).at("num_hidden_layers"), 2);
}

TEST(EncoderWriter, SaysWhatItCannotWrite) {
  const test::TemporaryFolder folder;
  test::write_encoder(folder.path(), false);
  EncoderReader reader(folder.path());
  const auto refusal = [&](const std::function<void(ModelDescription&)>& change) {
    ModelDescription description = reader.description();
    description.model_type = "clip_vision_model";
    change(description);
    try {
      const EncoderWriter writer(description, reader.ours());
      return std::string();
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(refusal([](ModelDescription&) {}), "");
  EXPECT_NE(
      refusal([](auto& d) { d.model_type = "siglip_vision_model"; }).find("clip_vision_model"),
      std::string::npos);
  EXPECT_NE(refusal([](auto& d) { d.model.vlm.reset(); }).find("sees images"), std::string::npos);
  EXPECT_NE(refusal([](auto& d) { d.model.vlm->tower_sizes.reset(); }).find("as wide"),
            std::string::npos);
  EXPECT_NE(refusal([](auto& d) { d.model.vlm->tower_layers = 4; }).find("layers.3"),
            std::string::npos);
}

}  // namespace encoder_writer_test
}  // namespace mpitron::convert

#include "data/loading/gpt_data.h"

#include <gtest/gtest.h>

#include "data/golden_gpt.h"
#include "data/loading/blended_dataset.h"
#include "utils/error.h"
#include "utils/text/hash.h"

namespace mpitron::data {
namespace gpt_data_test {

using test::message_of;
using test::TemporaryFolder;

/// The reference's descriptions hold prefixes relative to the folder of the corpora.
class GptData : public ::testing::Test {
 protected:
  void SetUp() override {
    golden_ = std::filesystem::absolute(test::golden_folder()) / "dataset";
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(golden_);
  }
  void TearDown() override { std::filesystem::current_path(before_); }

  GptDataRequest request_of(const nlohmann::json& expected) const {
    GptDataRequest request;
    if (expected.contains("blend")) {
      request.blend = parse_blend(expected["blend"].get<std::vector<std::string>>());
    }
    request.split = expected["split"];
    for (const Split split : kSplits) {
      request.num_samples[split] =
          optional_index(expected["num_samples"][static_cast<std::size_t>(split)]);
    }
    request.seed = expected["seed"];
    request.sample.seq_length = expected["sequence_length"];
    request.sample.eod = test::golden_eod();
    request.tokenizer.options = {{"vocab_size", std::to_string(test::golden_eod())}};
    request.cache_path = cache_ / "cache";
    return request;
  }

  static std::shared_ptr<const Dataset> of(const data::GptData& data, Split split) {
    return split == Split::train  ? data.train
           : split == Split::test ? data.test
           : data.valid.empty()   ? nullptr
                                  : data.valid.front();
  }

  TemporaryFolder cache_;
  std::filesystem::path golden_;
  std::filesystem::path before_;
};

void expect_blend(const nlohmann::json& expected, const io::SafetensorsFile& arrays,
                  const Dataset& dataset) {
  const std::string name = expected["arrays"];
  const auto& blend = dynamic_cast<const BlendedDataset&>(dataset);
  ASSERT_EQ(blend.size(), expected["length"].get<Index>()) << name;
  EXPECT_EQ(md5_hex(blend.description()), expected["description_hash"]) << blend.description();
  const std::vector<Index> members = integers(arrays.at(name + "/dataset_index"));
  const std::vector<Index> samples = integers(arrays.at(name + "/dataset_sample_index"));
  for (Index i = 0; i < blend.size(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    EXPECT_EQ(blend.locate(i), std::pair(members[k], samples[k])) << name << ' ' << i;
  }
}

TEST_F(GptData, ReproducesEveryReferenceBlend) {
  const io::SafetensorsFile arrays(golden_ / "indices.safetensors");
  const io::SafetensorsFile texts(golden_ / "gpt_samples.safetensors");
  const auto json = test::golden_json("dataset/indices.json");
  ASSERT_FALSE(json["blended"].empty());
  int samples = 0;
  for (const auto& expected : json["blended"]) {
    for (const Index threads : {1, 4}) {  // the second round reads the cache of the first
      GptDataRequest request = request_of(expected);
      request.builder_threads = threads;
      const data::GptData data = make_gpt_data(request);
      for (const Split split : kSplits) {
        const auto& reference = expected["splits"][to_string(split)];
        ASSERT_EQ(of(data, split) == nullptr, reference.is_null()) << expected["name"];
        if (!reference.is_null()) {
          expect_blend(reference, arrays, *of(data, split));
        }
      }
      std::vector<std::int64_t> text(static_cast<std::size_t>(request.sample.text_length()));
      for (Index i = 0; i < data.train->size(); ++i) {
        const auto* tokens =
            texts.find(fmt::format("{}/train/{}/tokens", expected["name"].get<std::string>(), i));
        if (tokens != nullptr) {
          data.train->read(i, text);
          const std::vector<Index> wanted = integers(*tokens);
          EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), text.begin())) << i;
          ++samples;
        }
      }
    }
  }
  EXPECT_GT(samples, 0);
}

TEST_F(GptData, ReproducesTheReferenceMockData) {
  const auto expected = test::golden_json("dataset/indices.json")["mock"];
  GptDataRequest request = request_of(expected);
  request.mock = true;
  request.cache_path = std::nullopt;
  const data::GptData data = make_gpt_data(request);
  EXPECT_EQ(data.train->size(), expected["length"]);
  EXPECT_GE(data.valid.front()->size(), 5);
  EXPECT_GE(data.test->size(), 5);
  std::vector<std::int64_t> text(65);
  Index i = 0;
  for (const auto& tokens : expected["sample_tokens"]) {
    data.train->read(i++, text);
    EXPECT_EQ(std::vector<std::int64_t>(text.begin(), text.end() - 1), tokens);
  }
  request.vocab_size = 100;
  request.sample.eod = 99;
  const data::GptData small = make_gpt_data(request);
  small.train->read(0, text);  // no token outside the vocabulary
}

TEST_F(GptData, PerSplitPathsUseWholeCorpora) {
  auto expected = test::golden_json("dataset/indices.json")["blended"][0];
  expected.erase("blend");
  GptDataRequest request = request_of(expected);
  request.per_split[Split::train] = {{"a"}, {}};
  request.per_split[Split::valid] = {{"b", "c"}, {}};
  request.num_samples[Split::valid] = std::nullopt;
  data::GptData data = make_gpt_data(request);
  EXPECT_NE(data.train->description().find("\"split\": null"), std::string::npos);
  EXPECT_EQ(data.test, nullptr);
  ASSERT_EQ(data.valid.size(), 1u);
  EXPECT_EQ(data.valid[0]->size(), (3372 - 1) / 16 + (129 - 1) / 16);
  request.multiple_validation_sets = true;
  data = make_gpt_data(request);
  ASSERT_EQ(data.valid.size(), 2u);
  EXPECT_EQ(data.valid[0]->size(), (3372 - 1) / 16);
  request.per_split[Split::valid].weights = {1, 2};
  EXPECT_NE(message_of([&] { make_gpt_data(request); }).find("--multiple-validation-sets"),
            std::string::npos);
}

TEST_F(GptData, ReadsWithoutMappingToo) {
  const auto expected = test::golden_json("dataset/indices.json")["blended"][0];
  GptDataRequest request = request_of(expected);
  const auto mapped = make_gpt_data(request).train;
  request.mmap_bin_files = false;
  const auto read = make_gpt_data(request).train;
  std::vector<std::int64_t> a(17);
  std::vector<std::int64_t> b(17);
  for (Index i = 0; i < mapped->size(); ++i) {
    mapped->read(i, a);
    read->read(i, b);
    EXPECT_EQ(a, b);
  }
}

TEST_F(GptData, MakesSamplesOfConversations) {
  std::string lines;
  for (int i = 0; i < 10; ++i) {
    lines +=
        R"({"messages": [{"role": "assistant", "content": ")" + std::string(1, 'a' + i) + "\"}]}\n";
  }
  test::write_bytes(cache_ / "x.jsonl", lines);
  GptDataRequest request;
  const std::string file = cache_ / "x.jsonl";
  request.blend = parse_blend(std::vector<std::string>{"0.5", file, "0.5", file});
  request.split = "8,2,0";
  request.num_samples[Split::train] = 20;
  request.num_samples[Split::valid] = 3;
  request.sample = {.seq_length = 4, .eod = 1, .pad = 0};
  request.encode = [](const Conversation& conversation) {
    const std::int64_t token = conversation.front().content[0];
    return EncodedConversation{{token}, {token}};
  };
  const data::GptData data = make_gpt_data(request);
  ASSERT_EQ(data.train->size(), 20);
  ASSERT_EQ(data.valid.size(), 1U);
  EXPECT_EQ(data.test, nullptr);
  std::vector<std::int64_t> tokens(5);
  data.train->read(19, tokens);  // the tenth of a member, which has eight
  EXPECT_EQ(tokens, (std::vector<std::int64_t>{'b', 1, 0, 0, 0}));
  data.valid.front()->read(0, tokens);
  EXPECT_EQ(tokens[0], 'i');
  request.blend = parse_blend(std::vector<std::string>{cache_ / "absent.jsonl"});
  EXPECT_NE(message_of([&] { make_gpt_data(request); }).find("absent.jsonl"), std::string::npos);
}

TEST_F(GptData, SaysWhatIsWrong) {
  const auto expected = test::golden_json("dataset/indices.json")["blended"][0];
  GptDataRequest request = request_of(expected);
  request.blend = {{"missing"}, {}};
  EXPECT_NE(message_of([&] { make_gpt_data(request); }).find("missing.idx"), std::string::npos);
  request.blend = {{"a", "missing"}, {1, 1}};
  request.builder_threads = 3;
  EXPECT_NE(message_of([&] { make_gpt_data(request); }).find("missing.idx"), std::string::npos);
  request.blend = {{"a"}, {}};
  request.split = "999,1,0";
  EXPECT_NE(message_of([&] { make_gpt_data(request); }).find("--split 999,1,0: the valid split"),
            std::string::npos);
  request.num_samples[Split::valid] = 0;
  EXPECT_TRUE(make_gpt_data(request).valid.empty());
  request.split = "90,5,5";
  request.blend = {{"a", "b"}, {1, 1}};
  request.num_samples[Split::valid] = std::nullopt;
  EXPECT_NE(message_of([&] { make_gpt_data(request); }).find("--full-validation"),
            std::string::npos);
}

}  // namespace gpt_data_test
}  // namespace mpitron::data

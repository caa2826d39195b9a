#include "convert/formats/megatron_torch.h"

#include <random>

#include "convert/megatron_check.h"
#include "support/temporary_folder.h"

namespace mpitron::convert {
namespace megatron_torch_test {

namespace fs = std::filesystem;

TEST(MegatronTorch, PutsShardsOfAllRanksTogether) {
  const fs::path path = test::convert_data("megatron/torch");
  EXPECT_TRUE(is_megatron_torch(path));
  EXPECT_TRUE(is_megatron_torch(path / "iter_0000005"));
  EXPECT_FALSE(is_megatron_torch(test::convert_data("megatron/dist")));
  MegatronTorch source(path);
  test::expect_recorded_weights(source);
  const ModelDescription& description = source.description();
  EXPECT_EQ(description.iteration, 5);
  EXPECT_EQ(description.vocab_size, 21);  // the null tokenizer's end of document
  EXPECT_EQ(description.model.num_query_groups, 2);
  EXPECT_EQ(description.consumed_train_samples, 640);
  EXPECT_TRUE(description.model.gated_linear_unit);
  test::expect_nothing_was_run();
}

/// Each part of a mixer's projection and convolution is cut by itself.
TEST(MegatronTorch, PutsPartsOfMixersTogether) {
  MegatronTorch source(test::convert_data("megatron/torch_hybrid"));
  test::expect_recorded_hybrid(source, source.description());
}

TEST(MegatronTorch, NamesTheRankThatIsMissing) {
  const test::TemporaryFolder folder;
  test::copy_recorded("torch", folder.path());
  fs::remove_all(folder.path() / "iter_0000005/mp_rank_01_001");
  EXPECT_THROW(MegatronTorch{folder.path()}, Error);
  fs::create_directory(folder.path() / "iter_0000005/mp_rank_01_001");
  EXPECT_THROW(MegatronTorch{folder.path()}, Error);
  fs::create_directory(folder.path() / "iter_0000005/mp_rank_01_001_002");
  EXPECT_THROW(MegatronTorch{folder.path()}, Error);
}

/// Norms are on every tensor rank; a file of another run does not get in unnoticed.
TEST(MegatronTorch, CopiesMustBeEqual) {
  const test::TemporaryFolder folder;
  test::copy_recorded("torch", folder.path());
  const fs::path file = folder.path() / "iter_0000005/mp_rank_01_001/model_optim_rng.pt";
  std::string text = read_file(file);
  const std::vector<float> norm = test::elements("decoder.final_layernorm.weight", 8);
  const std::size_t at =
      text.find(std::string(reinterpret_cast<const char*>(norm.data()), 8 * sizeof(float)));
  ASSERT_NE(at, std::string::npos);
  text[at] = static_cast<char>(text[at] ^ 1);
  test::write_text(file, text);
  MegatronTorch source(folder.path());
  EXPECT_THROW(source.read("decoder.final_layernorm.weight"), Error);
}

TEST(MegatronTorch, SurvivesDamage) {
  const test::TemporaryFolder folder;
  test::copy_recorded("torch", folder.path());
  const fs::path file = folder.path() / "iter_0000005/mp_rank_00_000/model_optim_rng.pt";
  const std::string good = read_file(file);
  std::mt19937 random(13);
  int refused = 0, read = 0;
  for (int i = 0; i < 600; ++i) {
    test::write_text(file, test::mutated(good, random));
    ++(test::accepts([&] {
      MegatronTorch source(folder.path());
      for (const TensorInfo& info : source.tensors()) {
        ASSERT_LE(source.read(info.name).bytes().size(), 100'000u);
      }
    })
           ? read
           : refused);
  }
  EXPECT_GT(refused, 300);
  EXPECT_GT(read, 5);
  test::expect_nothing_was_run();
}

}  // namespace megatron_torch_test
}  // namespace mpitron::convert

#include "convert/formats/megatron_dist.h"

#include <random>

#include "convert/megatron_check.h"
#include "support/temporary_folder.h"

namespace mpitron::convert {
namespace megatron_dist_test {

namespace fs = std::filesystem;

TEST(MegatronDist, TakesStackedLayersApart) {
  const fs::path path = test::convert_data("megatron/dist");
  EXPECT_TRUE(is_megatron_dist(path));
  EXPECT_FALSE(is_megatron_dist(test::convert_data("megatron/torch")));
  MegatronDist source(path);
  test::expect_recorded_weights(source);
  EXPECT_EQ(source.description().iteration, 7);
  EXPECT_EQ(source.description().model.num_layers, 4);
  test::expect_nothing_was_run();
}

/// Parts have keys of their own; without one of them its parameter cannot be read.
TEST(MegatronDist, PutsPartsOfMixersTogether) {
  MegatronDist source(test::convert_data("megatron/dist_hybrid"));
  test::expect_recorded_hybrid(source, source.description());
}

TEST(MegatronDist, NamesTheFileThatIsMissingOrShort) {
  const test::TemporaryFolder folder;
  test::copy_recorded("dist", folder.path());
  const fs::path file = folder.path() / "iter_0000007/__1_0.distcp";
  fs::resize_file(file, fs::file_size(file) - 1);
  const auto read_all = [&] {
    MegatronDist source(folder.path());
    for (const TensorInfo& info : source.tensors()) {
      source.read(info.name);
    }
  };
  try {
    read_all();
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("__1_0.distcp"), std::string::npos) << error.what();
  }
  fs::remove(file);
  EXPECT_THROW(read_all(), Error);
}

TEST(MegatronDist, SurvivesDamage) {
  const test::TemporaryFolder folder;
  test::copy_recorded("dist", folder.path());
  std::mt19937 random(17);
  int refused = 0, read = 0;
  for (const char* name : {".metadata", "common.pt", "__0_0.distcp"}) {
    const fs::path file = folder.path() / "iter_0000007" / name;
    const std::string good = read_file(file);
    for (int i = 0; i < 500; ++i) {
      test::write_text(file, test::mutated(good, random));
      ++(test::accepts([&] {
        MegatronDist source(folder.path());
        for (const TensorInfo& info : source.tensors()) {
          ASSERT_LE(source.read(info.name).bytes().size(), 100'000u);
        }
      })
             ? read
             : refused);
    }
    test::write_text(file, good);
  }
  EXPECT_GT(refused, 500);
  EXPECT_GT(read, 5);
  test::expect_nothing_was_run();
}

}  // namespace megatron_dist_test
}  // namespace mpitron::convert

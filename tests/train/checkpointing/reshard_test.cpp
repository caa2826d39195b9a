#include "checkpoint/folders/folder.h"
#include "checkpoint/tools/inspection.h"
#include "train/checkpoint_run.h"
#include "train/layout_space.h"

// A checkpoint of any layout loads in any other: what that saves is the same, bit for bit, and the
// loss goes on, with experts or without. Random pairs of all legal layouts; MPITRON_RESHARD_PAIRS
// says how many (default 8), MPITRON_LAYOUT_SEED which.

namespace mpitron::train {
namespace reshard_test {

std::size_t wanted_pairs() {
  const char* given = std::getenv("MPITRON_RESHARD_PAIRS");
  return given != nullptr ? static_cast<std::size_t>(std::atol(given)) : 8;
}

unsigned seed() {
  const char* given = std::getenv("MPITRON_LAYOUT_SEED");
  return given != nullptr ? static_cast<unsigned>(std::atol(given)) : 1;
}

TEST(Reshard, AnyLayoutGoesOnFromAnyOther) {
  const Flags model = {"--num-layers",     "4",   "--micro-batch-size",  "1",
                       "--hidden-dropout", "0.1", "--attention-dropout", "0.1"};
  const Flags experts = {"--disable-bias-linear", "--num-experts", "4"};
  LayoutDraw kinds[] = {{model, 8, seed()}, {model + experts, 8, seed()}};
  for (std::size_t pair = 0; pair < wanted_pairs(); ++pair) {
    LayoutDraw& layouts = kinds[pair / 2 % 2];
    const GeneratedLayout a = layouts.next().value(), b = layouts.next().value();
    SCOPED_TRACE(::testing::PrintToString(a) + " -> " + ::testing::PrintToString(b));
    const test::TemporaryFolder folder;
    const std::string in_a = (folder.path() / "a").string(), in_b = (folder.path() / "b").string();
    const Flags half = pair % 2 == 0 ? Flags{} : Flags{"--bf16"};
    const RunRecord first =
        run_with_checkpoints(a.model + a.layout + half + Flags{"--save", in_a}, a.ranks, 3, {2});
    const RunRecord second = run_with_checkpoints(
        b.model + b.layout + half + Flags{"--load", in_a, "--save", in_b}, b.ranks, 3, {2});
    ASSERT_EQ(second.start, 2);
    EXPECT_NEAR(second.losses.back(), first.losses.back(),
                (half.empty() ? 1e-6 : 2e-3) * first.losses.back());
    const checkpoint::File file_a(checkpoint::Folder(in_a).file(2));
    const checkpoint::File file_b(checkpoint::Folder(in_b).file(2));
    for (const checkpoint::Difference& difference : checkpoint::differences(file_a, file_b)) {
      ADD_FAILURE() << difference.name << " " << difference.what;
    }
    EXPECT_EQ(checkpoint::differences(file_a.header(), file_b.header()),
              std::vector<std::string>());
  }
}

}  // namespace reshard_test
}  // namespace mpitron::train

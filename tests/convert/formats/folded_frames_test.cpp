#include "convert/formats/folded_frames.h"

#include <gtest/gtest.h>

#include "convert/tiny_models.h"
#include "utils/error.h"

namespace mpitron::convert {
namespace folded_frames_test {

constexpr const char* kName = "model.visual.patch_embed.proj.weight";

/// One row of two colours and patches of one pixel by two: frames of 1 2, 10 20 and 3 4, 30 40.
std::unique_ptr<test::MemorySource> frames(const Shape& shape) {
  auto files = std::make_unique<test::MemorySource>();
  files->add(kName, shape, {1, 2, 10, 20, 3, 4, 30, 40});
  files->add("lm_head.weight", {1, 2}, {5, 6});
  return files;
}

TEST(FoldedFrames, AreAdded) {
  const auto folded = fold_frames(frames({1, 2, 2, 1, 2}));
  EXPECT_EQ(folded->find(kName)->shape, (Shape{1, 2, 1, 2}));
  EXPECT_EQ(test::floats_of(folded->read(kName)), (std::vector<float>{11, 22, 33, 44}));
  EXPECT_EQ(test::floats_of(folded->read("lm_head.weight")), (std::vector<float>{5, 6}));
}

TEST(FoldedFrames, ComeBackWithTheSameSum) {
  const auto folded = fold_frames(frames({1, 2, 2, 1, 2}));
  const auto apart = unfold_frames(*folded);
  EXPECT_EQ(apart->find(kName)->shape, (Shape{1, 2, 2, 1, 2}));
  EXPECT_EQ(test::floats_of(apart->read(kName)), (std::vector<float>{11, 22, 0, 0, 33, 44, 0, 0}));
  EXPECT_EQ(test::floats_of(apart->read("lm_head.weight")), (std::vector<float>{5, 6}));
}

TEST(FoldedFrames, OfAnotherShapeAreRefused) {
  EXPECT_THROW(fold_frames(frames({1, 2, 1, 2, 2})), Error);
  EXPECT_THROW(fold_frames(frames({1, 2, 2, 2})), Error);
}

}  // namespace folded_frames_test
}  // namespace mpitron::convert

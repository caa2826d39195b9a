#include "data/loading/image_loader.h"

#include <gtest/gtest.h>

#include "support/drawn_images.h"
#include "support/temporary_folder.h"

namespace mpitron::data {
namespace image_loader_test {

class ImageLoaderTest : public ::testing::Test {
 protected:
  ImageLoaderTest() {
    for (long i = 0; i < 5; ++i) {
      test::write_file(root_ / ("a/" + std::to_string(i) + ".ppm"), test::drawn_image(0, i));
      test::write_file(root_ / ("b/" + std::to_string(i) + ".ppm"), test::drawn_image(1, i));
    }
  }
  ImageLoader loader(const BatchSamplerRequest& sampler, Index threads) const {
    const config::VisionConfig vision{
        .image_height = 8, .image_width = 8, .patch = 4, .classes = 2};
    return ImageLoader(std::make_shared<ImageDataset>(open_images(root_.path()),
                                                      ImageDataset::Options{.vision = vision}),
                       {.sampler = sampler, .threads = threads});
  }
  test::TemporaryFolder root_;
};

TEST_F(ImageLoaderTest, ThreadsAndRestartsChangeNoPixel) {
  const BatchSamplerRequest sampler{.kind = SamplerKind::cyclic, .micro_batch_size = 3};
  ImageLoader alone = loader(sampler, 0), many = loader(sampler, 8);
  for (Index batch = 0; batch < 7; ++batch) {
    const ImageBatch* expected = alone.next();
    const ImageBatch* found = many.next();
    EXPECT_EQ(found->pixels, expected->pixels);
    EXPECT_EQ(found->labels, expected->labels);
    BatchSamplerRequest later = sampler;
    later.consumed_samples = 3 * batch;
    EXPECT_EQ(loader(later, 0).next()->pixels, expected->pixels) << batch;
  }
}

TEST_F(ImageLoaderTest, RanksShareTheSamplesOfABatch) {
  BatchSamplerRequest sampler{
      .kind = SamplerKind::cyclic, .data_parallel_size = 2, .data_sharding = false};
  ImageLoader first = loader(sampler, 1);
  sampler.data_parallel_rank = 1;
  ImageLoader second = loader(sampler, 1);
  sampler = {.kind = SamplerKind::cyclic, .micro_batch_size = 2, .data_sharding = false};
  ImageLoader together = loader(sampler, 2);
  for (Index batch = 0; batch < 4; ++batch) {
    std::vector<float> pixels = first.next()->pixels;
    const ImageBatch* other = second.next();
    pixels.insert(pixels.end(), other->pixels.begin(), other->pixels.end());
    EXPECT_EQ(pixels, together.next()->pixels);
  }
}

TEST_F(ImageLoaderTest, RowsBehindTheEndHaveNoWeight) {
  ImageLoader all = loader({.micro_batch_size = 4, .drop_last = false, .padded_samples = 12}, 2);
  all.next();
  all.next();
  EXPECT_EQ(all.next()->weights, (std::vector<float>{1, 1, 0, 0}));
  EXPECT_EQ(all.next(), nullptr);
}

}  // namespace image_loader_test
}  // namespace mpitron::data

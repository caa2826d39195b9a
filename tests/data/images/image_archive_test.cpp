#include "data/images/image_archive.h"

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "support/drawn_images.h"

namespace mpitron::data {
namespace image_archive_test {

class ImageArchiveTest : public ::testing::Test {
 protected:
  ImageArchiveTest() {
    for (long i = 0; i < 4; ++i) {
      test::write_file(root_ / ("in/a/" + std::to_string(i) + ".ppm"), test::drawn_image(0, i));
      test::write_file(root_ / ("in/b/" + std::to_string(i) + ".ppm"), test::drawn_image(1, i));
    }
    write_image_archive(*open_images(root_ / "in"), root_ / "x.h5");
  }
  std::string open(const std::string& bytes) const {
    test::write_bytes(root_ / "y.h5", bytes);
    return test::message_of([&] {
      const ImageArchive archive(root_ / "y.h5");
      for (Index i = 0; i < archive.size(); ++i) {
        if (!archive.is_whole(i)) {
          throw_data("{}", archive.name(i));
        }
      }
    });
  }

  test::TemporaryFolder root_;
};

TEST_F(ImageArchiveTest, HoldsTheImagesOfTheFolder) {
  for (const ImageShare& share : {ImageShare{}, ImageShare{.images = 0.5}, ImageShare{0.5, 1}}) {
    const auto folder = open_images(root_ / "in", share),
               archive = open_images(root_ / "x.h5", share);
    EXPECT_EQ(archive->classes(), folder->classes());
    ASSERT_EQ(archive->size(), folder->size());
    for (Index i = 0; i < folder->size(); ++i) {
      EXPECT_EQ(archive->label(i), folder->label(i));
      EXPECT_EQ(archive->name(i), root_ / "x.h5" + ", " + folder->name(i));
      EXPECT_EQ(decoded(*archive, i).pixels, decoded(*folder, i).pixels);
    }
  }
}

TEST_F(ImageArchiveTest, AnArchiveOfAnArchiveHoldsTheSameBytes) {
  write_image_archive(ImageArchive(root_ / "x.h5"), root_ / "z.h5");
  const ImageArchive first(root_ / "x.h5"), second(root_ / "z.h5");
  for (Index i = 0; i < first.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(first.read(i).bytes, second.read(i).bytes));
  }
}

TEST_F(ImageArchiveTest, DamageIsFoundByTheHashOfItsImage) {
  std::string bytes = read_file(root_ / "x.h5");
  EXPECT_EQ(open(bytes), "");
  const std::string third = test::drawn_image(1, 2);
  bytes[bytes.find(third) + third.size() / 2] ^= 1;
  EXPECT_NE(open(bytes).find("in/b/2.ppm"), std::string::npos);
}

TEST_F(ImageArchiveTest, FuzzedArchivesNeverCrash) {
  const std::string bytes = read_file(root_ / "x.h5");
  int refused = 0;
  test::for_each_mutation(
      bytes, 200, [&](const std::string& damaged) { refused += open(damaged).empty() ? 0 : 1; });
  EXPECT_GT(refused, 100);
}

}  // namespace image_archive_test
}  // namespace mpitron::data

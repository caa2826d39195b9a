#include "checkpoint/format/seal.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "checkpoint/folders/verify.h"
#include "support/sample_checkpoint.h"
#include "support/temporary_folder.h"
#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron::checkpoint {
namespace seal_test {

using Words = std::array<std::uint64_t, 8>;

/// A sealed file whose bytes tests change.
class SealTest : public ::testing::Test {
 protected:
  SealTest() {
    test::write_checkpoint(
        path_, {.texts = {{"text", "value"}}, .files = {{"a.txt", "file"}}},
        {{.name = "model/a", .shape = {5}}, {.name = "model/b", .shape = {2, 2}}});
    intact_ = read_file(path_);
    std::memcpy(words_.data(), intact_.data() + intact_.size() - 64, 64);
  }
  // In place: a file that is truncated and written again is flushed by some file systems.
  void write(const std::string& bytes) {
    std::filesystem::resize_file(path_, bytes.size());
    PosixFile(path_, PosixFile::Mode::modify)
        .write(0, bytes.data(), static_cast<Index>(bytes.size()));
  }
  // The file with other words in its seal, which vouches for itself.
  std::string resealed(Words words) const {
    const std::string_view text(reinterpret_cast<const char*>(words.data()), 56);
    words[7] = hash64(text);
    return intact_.substr(0, intact_.size() - 64) +
           std::string(reinterpret_cast<const char*>(words.data()), 64);
  }
  // True where the damage is found, by whom ever; anything but an Error fails the test.
  bool found() const {
    try {
      return !verify(File(path_)).damaged.empty();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data);
      EXPECT_NE(std::string(error.what()).find(path_.string()), std::string::npos) << error.what();
      return true;
    }
  }

  test::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "checkpoint.h5";
  std::string intact_;
  Words words_{};
};

TEST_F(SealTest, LiesBehindTheEndThatHdf5Knows) {
  EXPECT_EQ(intact_.substr(intact_.size() - 64, 8), "MPITRON\x1a");
  EXPECT_EQ(words_[1], 1U);
  EXPECT_EQ(words_[2], intact_.size() - 64);
  EXPECT_EQ(words_[4], 4U);
  EXPECT_FALSE(found());
}

TEST_F(SealTest, AnyWordThatLiesIsFound) {
  for (std::size_t i = 1; i < 7; ++i) {
    for (const std::uint64_t value :
         {std::uint64_t{0}, words_[i] + 1, words_[i] - 1, words_[i] + 32, std::uint64_t{1} << 32,
          std::uint64_t{1} << 63, ~std::uint64_t{0}, ~std::uint64_t{0} / 32}) {
      Words words = words_;
      words[i] = value;
      write(resealed(words));
      EXPECT_EQ(found(), value != words_[i]) << i << ' ' << value;
    }
  }
}

// The table's hash is made to fit, so that only the checks of its values stand before the reads.
TEST_F(SealTest, AnyExtentThatLiesIsFound) {
  const std::size_t table = words_[3];
  std::mt19937_64 random(4);
  for (int round = 0; round < 1000; ++round) {
    std::string bytes = intact_;
    const std::size_t word = random() % 16;
    const std::uint64_t values[] = {0, ~std::uint64_t{0}, std::uint64_t{1} << 63, random(),
                                    random() % bytes.size()};
    const std::uint64_t value = values[random() % std::size(values)];
    if (std::memcmp(bytes.data() + table + word * 8, &value, 8) == 0) {
      continue;
    }
    std::memcpy(bytes.data() + table + word * 8, &value, 8);
    write(bytes);
    std::vector<Extent> extents(4);
    std::memcpy(extents.data(), bytes.data() + table, 128);
    Words words = words_;
    Index position = 0;
    const bool ordered = std::all_of(extents.begin(), extents.end(), [&](const Extent& e) {
      const auto end = static_cast<Index>(words_[2]);
      const bool inside = e.offset >= position && e.offset <= end && e.bytes >= 0 && e.bytes <= end;
      position = inside ? e.offset + e.bytes : 0;
      return inside && position <= end;
    });
    if (ordered) {
      const Hash128 hash = hash_metadata(PosixFile(path_, PosixFile::Mode::read), extents,
                                         static_cast<Index>(words_[2]));
      words[5] = hash.high;
      words[6] = hash.low;
    }
    bytes.replace(bytes.size() - 64, 64, resealed(words).substr(bytes.size() - 64));
    write(bytes);
    EXPECT_TRUE(found()) << round;
  }
}

// Not damage but malice: HDF5 gets broken structures under a hash that fits. It may accept them (a
// changed attribute is as good as another); it may not crash, hang or take memory without bound.
TEST_F(SealTest, BrokenStructuresUnderAValidSealDoNoHarm) {
  const SealedExtents sealed = check_seal(PosixFile(path_, PosixFile::Mode::read));
  const auto table = static_cast<std::size_t>(sealed.seal.extents_offset);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < intact_.size() - 64; ++i) {
    if (intact_[i] != 0 && (i < table || i >= table + 128)) {
      places.push_back(i);
    }
  }
  std::mt19937_64 random(7);
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::string bytes = intact_;
    for (std::uint64_t i = 0; i <= random() % 3; ++i) {
      bytes[places[random() % places.size()]] = static_cast<char>(random());
    }
    write(bytes);
    const Hash128 hash = hash_metadata(PosixFile(path_, PosixFile::Mode::read), sealed.extents,
                                       sealed.seal.hdf5_bytes);
    Words words = words_;
    words[5] = hash.high;
    words[6] = hash.low;
    write(bytes.replace(bytes.size() - 64, 64, resealed(words).substr(bytes.size() - 64)));
    refused += found();
  }
  EXPECT_GT(refused, 240);
}

TEST_F(SealTest, RandomDamageIsFound) {
  std::mt19937_64 random(20261121);
  for (int round = 0; round < 1000; ++round) {
    std::string bytes = intact_;
    const std::size_t at = random() % bytes.size();
    switch (random() % 5) {
      case 0:  // a piece of garbage
        for (std::size_t i = at; i < std::min(at + random() % 600, bytes.size()); ++i) {
          bytes[i] = static_cast<char>(random());
        }
        break;
      case 1:  // bytes lost in the middle
        bytes.erase(at, 1 + random() % 100);
        break;
      case 2:  // bytes doubled
        bytes.insert(at, bytes.substr(at, 1 + random() % 100));
        break;
      case 3:  // a page of zeros, as a lost write leaves it
        bytes.replace(at / 4096 * 4096,
                      std::min<std::size_t>(4096, bytes.size() - at / 4096 * 4096),
                      std::min<std::size_t>(4096, bytes.size() - at / 4096 * 4096), '\0');
        break;
      default:  // two bits
        bytes[at] = static_cast<char>(bytes[at] ^ 1);
        bytes[random() % bytes.size()] ^= static_cast<char>(0x80);
    }
    write(bytes);
    EXPECT_EQ(found(), bytes != intact_) << round;
  }
}

}  // namespace seal_test
}  // namespace mpitron::checkpoint

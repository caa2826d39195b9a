// Damaged .idx files: TokenFile reads what they say, or says what is wrong. Suites named Fuzz run
// longer in continuous integration (support/fuzz.h).
#include <gtest/gtest.h>

#include "io/tokens/token_file_writer.h"
#include "support/corpus.h"
#include "support/fuzz.h"
#include "utils/system/files.h"

namespace mpitron::io {
namespace token_file_fuzz_test {

std::string index_of(const std::string& prefix, Modes modes) {
  TokenFileWriter writer(prefix, TokenType::u16, modes);
  for (std::int32_t d = 0; d < 6; ++d) {
    writer.add_sequence(std::vector<std::int32_t>{d, 2, 3}, d);
    writer.add_sequence(std::vector<std::int32_t>(static_cast<std::size_t>(d), 7));
    writer.end_document();
  }
  writer.commit();
  return read_file(prefix + ".idx");
}

TEST(Fuzz, TokenIndex) {
  const test::TemporaryFolder folder;
  const std::vector<std::string> indices = {index_of(folder / "x", Modes::present),
                                            index_of(folder / "x", Modes::absent)};
  test::fuzz(indices, test::FuzzLength::of_ci(4000), [&](const std::string& index) {
    test::write_bytes(folder / "x.idx", index);
    const TokenFile file(folder / "x");
    file.verify();
    for (Index i = 0; i < file.sequence_count(); ++i) {
      if (file.type() != TokenType::f32 && file.type() != TokenType::f64) {
        std::vector<std::int64_t> tokens(static_cast<std::size_t>(file.length(i)));
        file.read(i, 0, tokens);
      }
    }
  });
}

}  // namespace token_file_fuzz_test
}  // namespace mpitron::io

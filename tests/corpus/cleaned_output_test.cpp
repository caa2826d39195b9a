#include "corpus/cleaned_output.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace mpitron::corpus {
namespace cleaned_output_test {

CleanBatch batch_of(const std::vector<std::string>& tails) {
  CleanBatch batch;
  for (const std::string& tail : tails) {
    batch.out += tail;
    batch.ends.push_back(batch.out.size());
  }
  batch.fates[static_cast<std::size_t>(Fate::kept)] = std::ssize(tails);
  return batch;
}

TEST(CleanedOutput, IdsCountWhatIsWritten) {
  const test::TemporaryFolder folder;
  CleanOptions options;
  options.output = folder / "out.jsonl";
  options.id_prefix = "web";
  CleanReport report;
  CleanedOutput output(options, report);
  output.write(batch_of({"\"a\": 1}"}));
  output.write(batch_of({"}"}));
  EXPECT_FALSE(std::filesystem::exists(folder / "out.jsonl"));
  output.commit();
  const std::string text = read_file(folder / "out.jsonl");
  EXPECT_EQ(text, "{\"id\": \"web-0000000001\", \"a\": 1}\n{\"id\": \"web-0000000002\"}\n");
  EXPECT_EQ(report.written, 2);
  EXPECT_EQ(report.bytes_written, std::ssize(text));
  EXPECT_EQ(report.fates[static_cast<std::size_t>(Fate::kept)], 2);
}

}  // namespace cleaned_output_test
}  // namespace mpitron::corpus

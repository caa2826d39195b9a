#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/program.h"

namespace mpitron::cli {
namespace io_bench_test {

using namespace mpitron::test;
using nlohmann::json;

TEST(IoBench, MeasuresBothWaysAndCleansUp) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "disk");
  const Finished finished = run_program(
      folder.path(), {"io-bench", "disk", "--megabytes", "1", "--repetitions", "2", "--json"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  const json result = json::parse(finished.out);
  EXPECT_EQ(result.at("writers"), 2);
  EXPECT_EQ(result.at("bytes"), 2 << 20);
  EXPECT_GT(result.at("shared_bytes_per_s"), 0);
  EXPECT_GT(result.at("separate_bytes_per_s"), 0);
  EXPECT_EQ(result.at("flags"),
            result.at("recommended") == "shared" ? "" : "--save-file-per-writer");
  EXPECT_TRUE(std::filesystem::is_empty(folder / "disk"));
}

TEST(IoBench, NamesWhatIsWrong) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_program(folder.path(), {"io-bench"}).code, 2);
  EXPECT_EQ(run_program(folder.path(), {"io-bench", ".", "--threads", "0"}).code, 2);
  const Finished nowhere = run_program(folder.path(), {"io-bench", "nowhere"});
  EXPECT_EQ(nowhere.code, 4);
  EXPECT_TRUE(contains(nowhere.err, "nowhere/io-bench.shared: cannot create")) << nowhere.err;
}

}  // namespace io_bench_test
}  // namespace mpitron::cli

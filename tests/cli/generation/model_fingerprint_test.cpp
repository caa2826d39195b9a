#include "cli/generation/model_fingerprint.h"

#include "cli/command_test.h"

namespace mpitron::cli {
namespace model_fingerprint_test {

using namespace mpitron::test;

class ModelFingerprintTest : public CommandTest {};

TEST_F(ModelFingerprintTest, TellsFilesApartAndNotFolders) {
  std::string weights(3'000'000, 'w');
  const auto fingerprint = [&](const char* name) {
    const std::filesystem::path folder = folder_.path() / name;
    std::filesystem::create_directory(folder);
    write_bytes(folder / "config.json", "{}");
    write_bytes(folder / "model.safetensors", weights);
    return model_fingerprint(folder);
  };
  const std::string first = fingerprint("a");
  EXPECT_EQ(fingerprint("b"), first);
  weights += 'w';
  const std::string longer = fingerprint("a");
  EXPECT_NE(longer, first);
  weights[weights.size() - 2] = 'v';
  EXPECT_NE(fingerprint("a"), longer);
}

}  // namespace model_fingerprint_test
}  // namespace mpitron::cli

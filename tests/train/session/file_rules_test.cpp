#include "train/session/file_rules.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "support/tiny_flags.h"

namespace mpitron::train {
namespace file_rules_test {

using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> ids(const std::vector<config::Finding>& findings) {
  std::vector<std::string> names;
  for (const config::Finding& finding : findings) {
    names.push_back(finding.id);
  }
  return names;
}

/// The findings of a tiny GPT run of a tokenizer without files, with these flags behind.
std::vector<config::Finding> found(const std::vector<std::string>& more) {
  std::vector<std::string> flags =
      test::tiny_flags({"--tokenizer-type", "NullTokenizer", "--vocab-size", "99"});
  flags.insert(flags.end(), more.begin(), more.end());
  return check_files(config::parse_valid_run(flags).run);
}

TEST(FileRules, SayNothingOfARunThatNeedsNoFile) {
  EXPECT_THAT(ids(found({"--mock-data"})), ElementsAre());
}

TEST(FileRules, TellEveryMissingFileAtOnce) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "file").string();
  std::ofstream(file) << "text";
  const auto findings =
      found({"--data-path", (folder.path() / "absent").string(), "--pretrained-checkpoint",
             folder.path().string(), "--save", file + "/below"});
  ASSERT_THAT(ids(findings), ElementsAre("F003", "F005", "F006"));
  EXPECT_THAT(findings[0].message, HasSubstr("absent"));
  EXPECT_THAT(findings[2].message, HasSubstr("is no folder"));
}

TEST(FileRules, ATokenizerThatDoesNotOpenHidesNoOtherMistake) {
  const auto run = config::parse_valid_run(
      test::tiny_flags({"--tokenizer-type", "HuggingFaceTokenizer", "--tokenizer-model",
                        "/absent/tokenizer.json", "--data-path", "/absent/corpus"}));
  EXPECT_THAT(ids(check_files(run.run)), ElementsAre("F001", "F003"));
}

TEST(FileRules, ATrainingSetWithoutAShareIsRefused) {
  const TemporaryFolder folder;
  const auto findings = found({"--data-path", "/absent/corpus", "--split", "0,1,0"});
  EXPECT_THAT(ids(findings), ElementsAre("F003", "F004"));
}

TEST(FileRules, AFirstStartMayLoadFromAFolderThatIsNotThereYet) {
  const auto from = [](const std::string& folder, const std::vector<std::string>& more) {
    std::vector<std::string> flags{"--mock-data", "--load", folder};
    flags.insert(flags.end(), more.begin(), more.end());
    return ids(found(flags));
  };
  const TemporaryFolder folder;
  const std::string absent = (folder.path() / "absent").string();
  EXPECT_THAT(from(absent, {"--save", absent}), ElementsAre());
  EXPECT_THAT(from(absent, {"--allow-random-init"}), ElementsAre());
  EXPECT_THAT(from(absent, {}), ElementsAre("F005"));
}

TEST(FileRules, NamesThatNoFileSystemTakesAreRefusedInShort) {
  EXPECT_THAT(ids(found({"--mock-data", "--save", ""})), ElementsAre("F006"));
  const auto findings = found({"--mock-data", "--save", std::string(100'000, 'a')});
  ASSERT_THAT(ids(findings), ElementsAre("F006"));
  EXPECT_LT(findings[0].message.size(), 200U);
  EXPECT_THAT(ids(found({"--mock-data", "--save", std::string(256, 'a') + "/b"})),
              ElementsAre("F006"));
}

}  // namespace file_rules_test
}  // namespace mpitron::train

#include "plan/machine/parameter_file.h"

#include <gtest/gtest.h>

#include "plan/machine/exit_codes.h"
#include "plan/machine/library.h"

namespace mpitron::plan {
namespace parameter_file_test {

std::string mistake(const std::string& text) {
  Library library;
  try {
    library.machines.add(parse_parameter_file(text, "mine.yaml"));
    library.machine("mine");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kBadParameterFile);
    return error.what();
  }
  return "none";
}

TEST(ParameterFile, ValuesOfWhatItExtendsHoldWhereItHasNone) {
  Library library;
  library.machines.add(
      parse_parameter_file("name: mine\nextends: h100-dgx\naliases: [ours]\ngpu: {memory: 96e9}\n"
                           "fitted:\n  products.bf16: 0.5\n",
                           "mine.yaml"));
  const Machine machine = *library.machine("ours");
  EXPECT_EQ(machine.memory, 96e9);
  EXPECT_EQ(machine.share_16, 0.5);
  EXPECT_EQ(machine.peak_16, library.machine("h100-dgx")->peak_16);
}

TEST(ParameterFile, MistakesAreTold) {
  EXPECT_EQ(mistake("name: mine\nextends: h100-dgx\ngpu: {memory: -3}\n"),
            "mine.yaml: gpu.memory -3: from 1e+08 to 1e+13 is plausible");
  EXPECT_EQ(mistake("name: mine\nextends: h100-dgx\ngpu: {memory: much}\n"),
            "mine.yaml: gpu.memory: a number is expected, not 'much'");
  EXPECT_EQ(mistake("name: mine\ngpu: {memory: 80e9}\n"), "mine.yaml: gpu.peak.bf16 is missing");
  EXPECT_EQ(mistake("name: mine\nextends: nobody\n"),
            "mine.yaml: extends nobody, which is not known");
  EXPECT_EQ(mistake("name: mine\nextends: h100-dgx\ngpu: {memroy: 80e9}\n"),
            "mine.yaml: no key gpu.memroy is known; did you mean gpu.memory?");
  EXPECT_EQ(mistake("name: mine\nextends: mine\n"), "mine.yaml: extends itself");
  EXPECT_EQ(mistake("gpu: {}\n"), "mine.yaml:1: a map with a `name` is expected");
  EXPECT_EQ(mistake("name: mine\nfitted:\n  link.share: a\n"),
            "mine.yaml:3: fitted link.share: a number is expected");
}

TEST(ParameterFile, AFitChangesItsOwnBlockAlone) {
  EXPECT_EQ(with_fitted("# why\nname: a\nfitted:\n  x: 1\n", {{"x", 2}, {"y", 0.12345}}),
            "# why\nname: a\nfitted:\n  x: 2\n  y: 0.1235\n");
}

TEST(Library, EveryShippedFileCanBeUsedAndFewValuesAreFitted) {
  const Library library;
  std::size_t fitted = 0;
  for (const ParameterFile& file : library.machines.all()) {
    EXPECT_TRUE(library.machine(file.name));
    fitted += file.fitted.size();
  }
  for (const ParameterFile& file : library.stacks.all()) {
    EXPECT_TRUE(library.stack(file.name));
    fitted += file.fitted.size();
  }
  EXPECT_LE(fitted, 100U);
  EXPECT_FALSE(library.machine("abacus"));
}

}  // namespace parameter_file_test
}  // namespace mpitron::plan

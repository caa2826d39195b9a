#include "config/values/option_table.h"

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "config/flags.h"

namespace mpitron::config {
namespace option_table_test {

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, '\t');) {
    out.push_back(cell);
  }
  out.resize(9);
  return out;
}

std::string kind_of(const Option& option) {
  return option.kind == Kind::flag ? "flag" : option.kind == Kind::flag_off ? "flag-off" : "value";
}

std::string type_of(const Option& option, const std::string& dest) {
  if (option.kind == Kind::flag || option.kind == Kind::flag_off) {
    return "";
  }
  if (option.type == Type::frequency) {
    return dest == "no_rope_freq" ? "no_rope_freq_type" : "moe_freq_type";
  }
  const std::map<Type, std::string> names = {
      {Type::boolean, "bool"}, {Type::integer, "int"}, {Type::real, "float"}, {Type::text, "str"}};
  return names.at(option.type);
}

/// The default as the reference's parser has it.
std::string default_of(const Option& option) {
  if (!option.default_value) {
    return "None";
  }
  const std::string text(*option.default_value);
  if (option.type == Type::boolean) {
    return text == "true" ? "True" : "False";
  }
  const bool list =
      (option.kind == Kind::words || option.kind == Kind::any_words) && option.choices.empty();
  const std::string quoted = option.type == Type::text ? "'" + text + "'" : text;
  return !list || option.type == Type::real ? quoted : text.empty() ? "[]" : "[" + quoted + "]";
}

std::string nargs_of(const Option& option) {
  return option.kind == Kind::words ? "+" : option.kind == Kind::any_words ? "*" : "";
}

TEST(OptionTable, EqualsTheParserOfTheReferenceRowByRow) {
  std::ifstream in(std::string(MPITRON_SOURCE_DIR) + "/tests/config/parser_rows.tsv");
  std::string line;
  ASSERT_TRUE(std::getline(in, line));
  const OptionIndex& index = option_index();
  std::size_t slot = 0;
  for (; std::getline(in, line); ++slot) {
    const std::vector<std::string> row = cells(line);
    const Option& option = index.option(slot);
    ASSERT_EQ("--" + std::string(option.name), row[0]);
    if (!row[1].empty()) {
      EXPECT_EQ(index.slot_of_name(row[1].substr(2)), slot) << line;
    }
    EXPECT_EQ(index.group(slot), row[2]) << line;
    EXPECT_EQ(index.dest(slot), row[3]) << line;
    EXPECT_EQ(kind_of(option), row[4]) << line;
    // Fractions of a minute are allowed here beyond the reference.
    const bool more_general = row[3] == "distributed_timeout_minutes";
    EXPECT_EQ(type_of(option, row[3]), more_general ? "float" : row[5]) << line;
    EXPECT_EQ(default_of(option), row[6]) << line;
    EXPECT_EQ(nargs_of(option), row[7]) << line;
    const bool one_more = row[3] == "distributed_backend";  // mpi: gloo's proper name here
    const std::string choices = row[8] + (one_more ? " mpi" : "");
    // Later releases have more of them, which stand behind.
    EXPECT_TRUE(option.choices == choices ||
                (!choices.empty() && option.choices.starts_with(choices + " ")))
        << line;
  }
  EXPECT_EQ(slot, 513U);
  EXPECT_EQ(index.group(slot), kOlderNamesGroup);
}

TEST(OptionTable, RowsAreComplete) {
  std::set<std::string> names;
  for (const OptionTable& table : option_tables()) {
    for (const Option& option : table.rows) {
      EXPECT_TRUE(names.insert(std::string(option.name)).second) << option.name;
      EXPECT_GT(option.help.size(), 6U) << option.name;
      EXPECT_LT(option.help.size(), 90U) << option.name;
      EXPECT_TRUE(option.status != Status::removed || !option.replacement.empty()) << option.name;
      for (const std::string& word : split_words(option.only)) {
        EXPECT_TRUE(option.choices.empty() || option.choices.find(word) != std::string_view::npos)
            << option.name;
      }
    }
  }
}

TEST(OptionTable, ReplacementsAreOptionsThemselves) {
  for (const OptionTable& table : option_tables()) {
    for (const Option& option : table.rows) {
      for (const std::string& word : split_words(option.replacement)) {
        EXPECT_TRUE(!word.starts_with("--") ||
                    option_index().slot_of_name(word.substr(2)) != OptionIndex::kNotFound)
            << option.name << " " << word;
      }
    }
  }
}

TEST(OptionIndex, FindsNamesAliasesAndStoredNames) {
  const OptionIndex& index = option_index();
  const std::size_t slot = index.slot_of_name("disable-bias-linear");
  ASSERT_NE(slot, OptionIndex::kNotFound);
  EXPECT_EQ(index.slot_of_name("disable_bias_linear"), slot);
  EXPECT_EQ(index.slot_of_dest("add_bias_linear"), slot);
  EXPECT_EQ(index.slot_of_name("persistent-save-interval"), index.slot_of_name("save-interval"));
  EXPECT_EQ(index.slot_of_name("s3-cache-path"), index.slot_of_name("object-storage-cache-path"));
  EXPECT_EQ(index.slot_of_name("no-bias-rope-fusion"), index.slot_of_name("no-rope-fusion"));
  EXPECT_EQ(index.slot_of_name("override-opt-param-scheduler"),
            index.slot_of_name("override-opt_param-scheduler"));
  EXPECT_EQ(index.slot_of_name("hidden"), OptionIndex::kNotFound);
}

TEST(OptionIndex, ProposesSimilarNames) {
  EXPECT_EQ(option_index().similar_names("num-layer").at(0), "--num-layers");
  EXPECT_EQ(option_index().similar_names("hiden-size").at(0), "--hidden-size");
}

}  // namespace option_table_test
}  // namespace mpitron::config

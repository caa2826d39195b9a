// merge_summaries OUT.json IN.json...: one list of the figures of all benchmark programs, and a
// table on the terminal.
#include <fstream>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace {

using Json = nlohmann::json;

/// The figures of one file; throws where a row lacks a name or a number.
Json read_figures(const std::string& path) {
  std::ifstream file(path);
  Json rows = Json::parse(file);
  for (const Json& row : rows) {
    if (!row.at("name").is_string() || !row.at("value").is_number()) {
      throw std::runtime_error(fmt::format("{}: every row needs a name and a value", path));
    }
  }
  return rows;
}

std::string number(const Json& row, const char* key) {
  const auto at = row.find(key);
  if (at == row.end() || at->is_null()) {
    return "-";
  }
  return at->is_number() ? fmt::format("{:.4g}", at->get<double>()) : at->get<std::string>();
}

/// "yes" or "NO" where the row has a numeric goal; a figure without a goal is only a figure.
std::string reached(const Json& row) {
  const auto goal = row.find("goal");
  if (goal == row.end() || !goal->is_number()) {
    return "";
  }
  const double value = row.at("value").get<double>();
  const bool higher = row.value("higher_is_better", true);
  return (higher ? value >= goal->get<double>() : value <= goal->get<double>()) ? "yes" : "NO";
}

void print_table(const Json& rows) {
  std::size_t width = 4;
  for (const Json& row : rows) {
    width = std::max(width, row.at("name").get<std::string>().size());
  }
  const auto line = [&](const auto&... cells) {
    std::cout << fmt::format("{:<{}}  {:>10}  {:<14}  {:>9}  {:>9}  {:>9}  {}\n", cells...);
  };
  line("name", width, "value", "unit", "goal", "limit", "peer", "reached");
  for (const Json& row : rows) {
    line(row.at("name").get<std::string>(), width, number(row, "value"), row.value("unit", ""),
         number(row, "goal"), number(row, "limit"), number(row, "peer"), reached(row));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: merge_summaries OUT.json IN.json...\n";
    return 2;
  }
  try {
    Json all = Json::array();
    for (int i = 2; i < argc; ++i) {
      for (Json& row : read_figures(argv[i])) {
        all.push_back(std::move(row));
      }
    }
    std::ofstream(argv[1]) << all.dump(1) << '\n';
    print_table(all);
    std::cout << fmt::format("{} figures in {}\n", all.size(), argv[1]);
  } catch (const std::exception& error) {
    std::cerr << "merge_summaries: " << error.what() << '\n';
    return 1;
  }
  return 0;
}

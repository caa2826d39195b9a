#include "benchmarks/summary.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>

#include <nlohmann/json.hpp>

namespace mpitron::benchmarks {

Summary::Summary(int& argc, char** argv) {
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--summary") == 0 && i + 1 < argc) {
      path_ = argv[++i];
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
}

void Summary::add(const Figure& figure) {
  std::printf("%-44s %12.4g %-10s", figure.name.c_str(), figure.value, figure.unit.c_str());
  if (!std::isnan(figure.goal)) {
    const bool met =
        figure.higher_is_better ? figure.value >= figure.goal : figure.value <= figure.goal;
    std::printf(" goal %.4g %s", figure.goal, met ? "met" : "MISSED");
  }
  std::printf("\n");
  std::fflush(stdout);
  figures_.push_back(figure);
}

bool Summary::write() const {
  if (path_.empty()) {
    return true;
  }
  auto list = nlohmann::ordered_json::array();
  for (const Figure& figure : figures_) {
    nlohmann::ordered_json item{
        {"name", figure.name}, {"value", figure.value}, {"unit", figure.unit}};
    if (!std::isnan(figure.goal)) {
      item["goal"] = figure.goal;
    }
    item["higher_is_better"] = figure.higher_is_better;
    if (!std::isnan(figure.limit)) {
      item["limit"] = figure.limit;
    }
    if (!figure.peer.empty()) {
      item["peer"] = figure.peer;
    }
    list.push_back(item);
  }
  std::ofstream file(path_);
  file << list.dump(1) << '\n';
  return static_cast<bool>(file.flush());
}

}  // namespace mpitron::benchmarks

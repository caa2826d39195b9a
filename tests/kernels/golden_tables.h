#pragma once
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/golden_folder.h"
#include "tests/kernels/test_tensor.h"

namespace mpitron::kernels {

/// One section of tables.json in the golden folder; null where the folder is absent. It stays, so
/// that a loop over a part of it does not run over what is gone.
inline const nlohmann::json& golden_table(const std::string& section) {
  static std::map<std::string, nlohmann::json> sections;
  const auto [at, added] = sections.try_emplace(section);
  if (std::ifstream file(test::golden_folder() + "/tables.json"); added && file) {
    at->second = nlohmann::json::parse(file).at(section);
  }
  return at->second;
}

/// A nested list of numbers, flattened.
inline std::vector<double> flatten(const nlohmann::json& list) {
  std::vector<double> values;
  for (const auto& item : list) {
    if (item.is_array()) {
      const std::vector<double> inner = flatten(item);
      values.insert(values.end(), inner.begin(), inner.end());
    } else {
      values.push_back(item.get<double>());
    }
  }
  return values;
}

/// The reference's figures are fp32: `relative` of the value and of `scale`.
inline void expect_close(const std::vector<double>& got, const std::vector<double>& expected,
                         double relative, double scale = 1e-3) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], relative * (std::fabs(expected[i]) + scale))
        << "element " << i;
  }
}

}  // namespace mpitron::kernels

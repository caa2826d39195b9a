#include <array>
#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/sample_checkpoint.h"
#include "support/temporary_folder.h"

namespace mpitron::checkpoint {
namespace other_tools_test {

using nlohmann::json;

struct Output {
  int status = -1;
  std::string text;
};

Output shell(const std::string& command) {
  Output output;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> piece{};
  while (pipe != nullptr && std::fgets(piece.data(), piece.size(), pipe) != nullptr) {
    output.text += piece.data();
  }
  output.status = pipe != nullptr ? ::pclose(pipe) : -1;
  return output;
}

/// A Python that has h5py; empty where none has.
std::string python_with_h5py() {
  for (const std::string python : {"python3", "/usr/bin/python3"}) {
    if (shell(python + " -c 'import h5py'").status == 0) {
      return python;
    }
  }
  return "";
}

/// The sample as HDF5's own programs see it: one file, or a file for each of two writers and one
/// that shows them as one.
class OtherTools : public ::testing::TestWithParam<bool> {
 protected:
  OtherTools() { GetParam() ? test::write_sample_per_writer(path_) : test::write_sample(path_); }

  test::TemporaryFolder folder_;
  std::string path_ = folder_.path() / "checkpoint.h5";
};

INSTANTIATE_TEST_SUITE_P(FileSchemes, OtherTools, ::testing::Bool(), [](const auto& info) {
  return info.param ? "file_per_writer" : "shared_file";
});

TEST_P(OtherTools, H5lsShowsNamesAndShapes) {
  if (shell("h5ls --version").status != 0) {
    GTEST_SKIP() << "no h5ls here: install hdf5-tools";
  }
  const Output output = shell("h5ls -r " + path_);
  EXPECT_EQ(output.status, 0) << output.text;
  for (const char* line : {"/model/embedding.word_embeddings.weight Dataset {37, 4}",
                           "/model/decoder.layers.0.mlp.linear_fc1.weight Dataset {8, 4}",
                           "/optimizer/exp_avg/embedding.word_embeddings.weight Dataset {37, 4}",
                           GetParam() ? "/integrity/ranges" : "/integrity/extents"}) {
    EXPECT_NE(output.text.find(line), std::string::npos) << line << '\n' << output.text;
  }
}

TEST_P(OtherTools, H5dumpShowsNumbers) {
  if (shell("h5dump --version").status != 0) {
    GTEST_SKIP() << "no h5dump here: install hdf5-tools";
  }
  for (const char* name : {"model/decoder.layers.0.mlp.linear_fc1.weight", "model/half"}) {
    const Output output = shell("h5dump -d " + std::string(name) + " " + path_);
    EXPECT_EQ(output.status, 0) << output.text;
    EXPECT_NE(output.text.find("16-bit little-endian floating-point"), std::string::npos);
    EXPECT_NE(output.text.find("-0.5, -0.25, 0"), std::string::npos) << output.text;
  }
  const Output attribute = shell("h5dump -a /iteration " + path_);
  EXPECT_NE(attribute.text.find("(0): 7"), std::string::npos) << attribute.text;
  EXPECT_EQ(shell("h5dump " + path_ + " > /dev/null").status, 0);
}

TEST_P(OtherTools, H5pyReadsEveryValueByName) {
  const std::string python = python_with_h5py();
  if (python.empty()) {
    GTEST_SKIP() << "no Python with h5py here: install python3-h5py";
  }
  std::ofstream(folder_.path() / "read.py") << R"(
import h5py, json, sys
out = {}
with h5py.File(sys.argv[1], "r") as f:
    def visit(name, x):
        if isinstance(x, h5py.Dataset) and not name.startswith("integrity"):
            out[name] = {"shape": list(x.shape), "values": x[()].astype("f8").ravel().tolist()}
    f.visititems(visit)
    out["iteration"] = int(f.attrs["iteration"])
    out["configuration"] = f.attrs["configuration"].decode("utf-8")
    out["scale"] = float(f["state"].attrs["loss_scaler/scale"])
    out["complete"] = int(f.attrs["complete"])
print(json.dumps(out))
)";
  const Output output = shell(python + " " + (folder_.path() / "read.py").string() + " " + path_);
  ASSERT_EQ(output.status, 0) << output.text;
  const json seen = json::parse(output.text);
  EXPECT_EQ(seen.at("iteration"), 7);
  EXPECT_EQ(seen.at("complete"), 1);
  EXPECT_EQ(seen.at("scale"), 65536.0);
  EXPECT_EQ(seen.at("configuration"), test::sample_header().configuration);
  EXPECT_EQ(seen.at("files/merges.txt").at("values").size(), 8U);
  for (const DataSet& data_set : test::sample_data_sets()) {
    const json& found = seen.at(data_set.name);
    ASSERT_EQ(found.at("shape").size(), static_cast<std::size_t>(data_set.shape.rank()));
    const std::vector<double> values = found.at("values");
    ASSERT_EQ(static_cast<Index>(values.size()), data_set.shape.numel()) << data_set.name;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto n = static_cast<double>(i);
      const double expected = is_floating(data_set.dtype) ? (n - 2) / 4 : n;
      EXPECT_EQ(values[i], expected) << data_set.name << ' ' << i;
    }
  }
}

}  // namespace other_tools_test
}  // namespace mpitron::checkpoint

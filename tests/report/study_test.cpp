#include "report/study.h"

#include <cmath>

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::report {
namespace study_test {

using Words = std::vector<std::string>;

Study study_of(const std::string& text) {
  const test::TemporaryFolder folder;
  test::write_bytes(folder / "study.yaml", text);
  return read_study(folder / "study.yaml");
}

constexpr const char* kStudy = R"(name: two sizes
kind: strong
warm-up: 3
peak-tflops: 0.5
flags: {seq-length: 16, lr: 1e-3, bf16: true, split: [9, 1], fp16: false}
points:
  - name: small
    ranks: 1
  - {name: large, ranks: 4, published-tflops: 7, flags: {num_layers: 3, lr: 0.5, bf16: false}}
)";

TEST(Study, PointsHaveTheStudysFlagsAndTheirOwn) {
  const Study study = study_of(kStudy);
  EXPECT_EQ(study.name, "two sizes");
  EXPECT_EQ(study.kind, ScalingKind::strong);
  EXPECT_EQ(study.command, "pretrain-gpt");
  EXPECT_EQ(study.warm_up, 3);
  EXPECT_EQ(study.threads_per_rank, 1);
  EXPECT_EQ(study.peak_tflops, 0.5);
  ASSERT_EQ(study.points.size(), 2U);
  EXPECT_EQ(study.points[0].flags,
            (Words{"--bf16", "--lr", "1e-3", "--seq-length", "16", "--split", "9", "1"}));
  EXPECT_TRUE(std::isnan(study.points[0].published_tflops));
  EXPECT_EQ(study.points[1].ranks, 4);
  EXPECT_EQ(study.points[1].published_tflops, 7);
  EXPECT_EQ(study.points[1].flags,
            (Words{"--lr", "0.5", "--num-layers", "3", "--seq-length", "16", "--split", "9", "1"}));
}

TEST(Study, SaysWhereTheMistakeIs) {
  const auto message = [](const std::string& from, const std::string& to) {
    std::string text = kStudy;
    text.replace(text.find(from), from.size(), to);
    return test::message_of([&] { study_of(text); });
  };
  const auto expect = [&](const std::string& from, const std::string& to, const std::string& part) {
    const std::string said = message(from, to);
    EXPECT_NE(said.find(part), std::string::npos) << said;
    EXPECT_NE(said.find("study.yaml:"), std::string::npos) << said;
  };
  expect("kind: strong", "kind: fast", "2: kind: 'fast' is none of weak and strong");
  expect("kind: strong", "kin: strong", "2: unknown key 'kin'; the keys are name, kind");
  expect("kind: strong\n", "", "'kind' is missing");
  expect("ranks: 4", "ranks: 0", "9: 0: it must be 1 or more");
  expect("ranks: 4", "ranks: x", "9: ");
  expect("peak-tflops: 0.5", "peak-tflops: -1", "-1: it must be above 0");
  expect("name: large", "name: small", "two points have the name 'small'");
  expect("name: large", "name: a/b", "cannot be the name of a folder");
  expect("{seq-length", "[{seq-length", "");
  expect("flags: {num_layers: 3, lr: 0.5, bf16: false}", "flags: 3", "`option: value`");
  EXPECT_NE(test::message_of([] { read_study("/missing.yaml"); }).find("/missing.yaml"),
            std::string::npos);
  EXPECT_NE(test::message_of([] {
              study_of("name: x\nkind: weak\npoints: []\n");
            }).find("one or more runs"),
            std::string::npos);
}

}  // namespace study_test
}  // namespace mpitron::report

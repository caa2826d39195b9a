#include "train/tuning_file.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::train {
namespace {

using kernels::AttentionKernel;

const Tuning kTuning = {
    .gpu = "NVIDIA H200",
    .attention = {
        {.shape = {true, DType::bf16, 4096, 4096, 1, 32, 8, 128, 128, true, -1, false, false,
                   false},
         .microseconds = {{AttentionKernel::cudnn, 812.5}, {AttentionKernel::mma, 1000}},
         .choice = AttentionKernel::cudnn},
        {.shape = {false, DType::f16, 64, 128, 2, 4, 4, 192, 128, false, 16, true, true, true},
         .microseconds = {{AttentionKernel::mma, 3.25}},
         .choice = AttentionKernel::mma}}};

TEST(TuningFile, ReadsWhatItWrote) {
  EXPECT_EQ(tuning_of(to_json(kTuning), "file"), kTuning);
}

TEST(TuningFile, SaysWhatItMeans) {
  const std::string text = to_json(kTuning);
  for (const char* word : {"\"gpu\": \"NVIDIA H200\"", "\"pass\": \"backward\"",
                           "\"queries\": 4096", "\"cudnn\": 812.5", "\"choice\": \"cudnn\""}) {
    EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
  }
}

TEST(TuningFile, OtherTextIsRefusedByTheFilesName) {
  std::string unknown = to_json(kTuning);
  unknown.replace(unknown.find("\"choice\": \"cudnn\""), 17, "\"choice\": \"magic\"");
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("{\"gpu\": 7}"), unknown}) {
    const std::string message = test::message_of([&] { tuning_of(text, "cache/x.json"); });
    EXPECT_EQ(message.find("cache/x.json: not a tuning file"), 0u) << message;
  }
  EXPECT_NE(test::message_of([&] { tuning_of(unknown, "x"); }).find("\"magic\" is not known"),
            std::string::npos);
}

}  // namespace
}  // namespace mpitron::train

#include "train/tuning/tuning_file.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::train {
namespace tuning_file_test {

using kernels::AttentionKernel;
using kernels::AttentionMask;

const Tuning kTuning = {
    .gpu = "NVIDIA H200",
    .cublaslt = 130100,
    .attention = {{.shape = {true, DType::bf16, 4096, 4096, 1, 32, 8, 128, 128, true, -1,
                             AttentionMask::none, false, false},
                   .microseconds = {{AttentionKernel::cudnn, 812.5}, {AttentionKernel::mma, 1000}},
                   .choice = AttentionKernel::cudnn},
                  {.shape = {false, DType::f16, 64, 128, 2, 4, 4, 192, 128, false, 16,
                             AttentionMask::keys, true, true},
                   .microseconds = {{AttentionKernel::mma, 3.25}},
                   .choice = AttentionKernel::mma}},
    .products = {{.shape = {.m = 4096,
                            .n = 1024,
                            .k = 768,
                            .a_stride = 770,
                            .b_stride = 800,
                            .c_stride = 1024,
                            .type = DType::u8,
                            .c_type = DType::bf16,
                            .b_format = Fp8Format::e5m2,
                            .epilogue = kernels::Epilogue::bias,
                            .transpose_b = true,
                            .accumulate = true,
                            .a_alignment = 16,
                            .b_alignment = 32,
                            .c_alignment = 64},
                  .tried = {{.algorithm = {}, .microseconds = 12.5},
                            {.algorithm = kernels::GemmAlgorithm{.id = 66,
                                                                 .tile = 20,
                                                                 .stages = 36,
                                                                 .split_k = 2,
                                                                 .reduction = 2,
                                                                 .swizzle = 1,
                                                                 .custom = 3,
                                                                 .inner_shape = 5,
                                                                 .cluster = 7},
                             .microseconds = 11.25}},
                  .choice = 1},
                 {.shape = {.m = 1, .n = 2, .k = 3}, .tried = {{{}, 1.5}}, .choice = 0}}};

TEST(TuningFile, ReadsWhatItWrote) {
  EXPECT_EQ(tuning_of(to_json(kTuning), "file"), kTuning);
}

TEST(TuningFile, SaysWhatItMeans) {
  const std::string text = to_json(kTuning);
  for (const char* word : {"\"gpu\": \"NVIDIA H200\"", "\"pass\": \"backward\"",
                           "\"queries\": 4096", "\"cudnn\": 812.5", "\"choice\": \"cudnn\"",
                           "\"mask\": \"keys\"", "\"cublaslt\": 130100", "\"split_k\": 2"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
  }
}

TEST(TuningFile, WhatWasMetOnlyHasNoTimes) {
  const Tuning met = {.gpu = "NVIDIA H200",
                      .attention = {{.shape = kTuning.attention[0].shape}},
                      .products = {{.shape = kTuning.products[0].shape}}};
  EXPECT_EQ(tuning_of(to_json(met), "file"), met);
}

TEST(TuningFile, AProductsChoiceIsOneThatWasTried) {
  Tuning wrong = kTuning;
  wrong.products[0].choice = 2;
  const std::string message = test::message_of([&] { tuning_of(to_json(wrong), "x.json"); });
  EXPECT_NE(message.find("choice 2 of 2 algorithms that were tried"), std::string::npos) << message;
}

TEST(TuningFile, OtherTextIsRefusedByTheFilesName) {
  std::string unknown = to_json(kTuning);
  unknown.replace(unknown.find("\"choice\": \"cudnn\""), 17, "\"choice\": \"magic\"");
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("{\"gpu\": 7}"), unknown,
        "{\"gpu\": " + std::string(100'000, '[') + std::string(100'000, ']') +
            ", \"a\": 1, \"b\": 2}"}) {
    const std::string message = test::message_of([&] { tuning_of(text, "cache/x.json"); });
    EXPECT_EQ(message.find("cache/x.json: not a tuning file"), 0u) << message;
  }
  EXPECT_NE(test::message_of([&] { tuning_of(unknown, "x"); }).find("\"magic\" is not known"),
            std::string::npos);
}

}  // namespace tuning_file_test
}  // namespace mpitron::train

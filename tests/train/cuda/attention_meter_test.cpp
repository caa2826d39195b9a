#include <gtest/gtest.h>

#include "train/tuning/kernel_meters.h"

namespace mpitron::train {
namespace attention_meter_test {

using kernels::AttentionKernel;
using kernels::AttentionMask;
using kernels::AttentionShape;

AttentionShape small_shape(bool backward) {
  return {backward, DType::bf16,         24,    24,   2, 4, 2, 16, 8, true,
          -1,       AttentionMask::none, false, false};
}

TEST(AttentionMeter, MeasuresEveryKernelAndTakesTheFastest) {
  const auto gpu = device::make_cuda_device(0);
  const kernels::AttentionChoices before = kernels::attention_choices();
  for (const bool backward : {false, true}) {
    const MeasuredAttention measured = AttentionMeter(*gpu, small_shape(backward)).measure();
    EXPECT_EQ(measured.shape, small_shape(backward));
    EXPECT_TRUE(measured.microseconds.contains(AttentionKernel::mma));
    EXPECT_TRUE(measured.microseconds.contains(AttentionKernel::wgmma));
    EXPECT_TRUE(measured.microseconds.contains(AttentionKernel::cudnn));
    for (const auto& [kernel, time] : measured.microseconds) {
      EXPECT_LE(measured.microseconds.at(measured.choice), time) << name_of(kernel);
    }
  }
  EXPECT_EQ(kernels::attention_choices().order, before.order) << "as it was";
}

TEST(AttentionMeter, WhatItMeasuresIsTheShapeItWasAskedFor) {
  const auto gpu = device::make_cuda_device(0);
  AttentionShape odd = small_shape(false);
  odd.d = odd.dv = 12;
  EXPECT_EQ(AttentionMeter(*gpu, odd).measure().microseconds.size(), 1u) << "ours alone";
}

/// Padding of BERT, documents of GPT, and the cross attention of T5.
TEST(AttentionMeter, MasksAndOtherLengthsOfKeysAreMeasured) {
  const auto gpu = device::make_cuda_device(0);
  AttentionShape padded = small_shape(false), documents = padded, cross = padded;
  padded.causal = cross.causal = false;
  padded.mask = cross.mask = AttentionMask::keys;
  documents.mask = AttentionMask::pairs;
  cross.s_kv = 40;
  cross.backward = true;
  for (AttentionShape shape : {padded, documents, cross}) {
    shape.b = 1;
    shape.g = shape.n;
    EXPECT_EQ(AttentionMeter(*gpu, shape).measure().microseconds.size(), 3u)
        << name_of(shape.mask) << " " << shape.s_kv;
  }
}

}  // namespace attention_meter_test
}  // namespace mpitron::train

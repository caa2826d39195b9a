#pragma once
#include "tests/kernels/test_tensor.h"

namespace mpitron::kernels {

/// `starts` of two samples of this length: documents of `document` positions each, those of the
/// second sample one position later; 0: none, so that the kernels are told nothing.
inline TestTensor document_starts(Index length, Index document) {
  std::vector<double> values;
  for (Index i = 0; i < length; ++i) {
    for (const Index shift : {0, 1}) {
      const Index begin = document == 0 ? 0 : (i + document - shift) / document * document;
      values.push_back(static_cast<double>(std::max<Index>(0, begin - document + shift)));
    }
  }
  return {DType::i32, {length, 2}, values};
}

inline device::ConstTensorView starts_view(TestTensor& starts, Index document) {
  return document == 0 ? device::ConstTensorView() : starts.view();
}

}  // namespace mpitron::kernels

#pragma once

#include "io/arrays/torch_archive.h"
#include "support/foreign_files.h"

// Archives that PyTorch has written.

namespace mpitron::io {

inline std::string checkpoint_text() {
  return read_file(
      mpitron::test::convert_data("megatron/torch/iter_0000005/mp_rank_00_001/model_optim_rng.pt"));
}

inline TorchArchive open(const std::string& text) {
  return {std::as_bytes(std::span(text)), "x.pt"};
}

}  // namespace mpitron::io
